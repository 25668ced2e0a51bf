/** Places at which a test may end the process, or make it throw: between any two steps that must not be torn apart. */
export type Failpoint =
  | 'accepted'
  | 'armed'
  | 'before-execute'
  | 'after-execute'
  | 'built'
  | 'signed'
  | 'sent'
  | 'before-report'
  | 'after-report'
  | 'sweep-pass'

let on = false
let name: string | undefined
let count = 0
let act: () => void = () => {}

/** One boolean check when nothing is set. */
export function failpoint(here: Failpoint): void {
  if (on) reach(here)
}

/** From the `times`-th passage of `at` on, `run` is called. */
export function setFailpoint(at: Failpoint, times: number, run: () => void): void {
  on = true
  name = at
  count = times
  act = run
}

export function clearFailpoint(): void {
  on = false
}

function reach(here: string): void {
  if (here === name && --count <= 0) act()
}
