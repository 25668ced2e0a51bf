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
let act: () => void = kill

/** One boolean check when nothing is set. */
export function failpoint(here: Failpoint): void {
  if (on) reach(here)
}

/** From the `times`-th passage of `at` on, `run` is called: by default the process dies as by `kill -9`. */
export function setFailpoint(at: Failpoint, times = 1, run: () => void = kill): void {
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

function kill(): void {
  process.kill(process.pid, 'SIGKILL')
  for (;;); // not one instruction more, should the signal take a moment
}

// SLUICE_FAILPOINT=armed:3 kills at the third order that is armed.
const setting = process.env.SLUICE_FAILPOINT
if (setting) {
  const [at, times = '1'] = setting.split(':')
  setFailpoint(at as Failpoint, Number(times))
}
