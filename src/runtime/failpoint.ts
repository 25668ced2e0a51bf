import { type Failpoint, setFailpoint } from '../base/failpoint.ts'

/** Dies as by `kill -9`. */
function kill(): void {
  process.kill(process.pid, 'SIGKILL')
  for (;;); // no further instruction runs, should the signal take a moment
}

// Tests set it: SLUICE_FAILPOINT=armed:3 kills the process when the third order is armed.
const setting = process.env.SLUICE_FAILPOINT
if (setting) {
  const [at, times = '1'] = setting.split(':')
  setFailpoint(at as Failpoint, Number(times), kill)
}
