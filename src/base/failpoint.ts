/** Names of failpoints: points in the code between steps that must be atomic. A test may end the process or throw
 *  there. */
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
  | 'update-received'
  | 'update-given'
  | 'sweep-pass'

let on = false
let name: string | undefined
let count = 0
let act: () => void = () => {}

/** Runs the function that a test has set for this failpoint. If no failpoint is set, the call only checks one
 *  boolean. */
export function failpoint(here: Failpoint): void {
  if (on) reach(here)
}

/** Makes the failpoint `at` call `run` when execution reaches it for the `times`-th time, and each time after that. */
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
