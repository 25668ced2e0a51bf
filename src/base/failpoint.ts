/** Points between steps that must be atomic, at which a test may end the process or throw. */
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

/** Costs one boolean check if no failpoint is set. */
export function failpoint(here: Failpoint): void {
  if (on) reach(here)
}

/** Calls `run` at the `times`-th passage of `at` and at each one after it. */
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
