import { type Failpoint, setFailpoint } from '../base/failpoint.ts'

/** Ends the process as `kill -9` does. */
function kill(): void {
  process.kill(process.pid, 'SIGKILL')
  for (;;); // no further instruction runs, even if the signal is delayed
}

// For tests: `SLUICE_FAILPOINT=armed:3` kills the process when the third order is armed, which means durable in the
// journal and about to be sent.
const setting = process.env.SLUICE_FAILPOINT
if (setting) {
  const [at, times = '1'] = setting.split(':')
  setFailpoint(at as Failpoint, Number(times), kill)
}
