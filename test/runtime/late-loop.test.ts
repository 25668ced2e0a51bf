import { monotonicMs, SystemClock } from '../../src/runtime/system-clock.ts'
import { SimulatedClock } from '../../src/simulation/simulated-clock.ts'
import { clockContract } from '../contracts/clock.contract.ts'

const LONGEST_MS = 200

clockContract('the clock of the system', () => {
  const clock = new SystemClock()
  return {
    clock,
    now: monotonicMs,
    pass: (ms) => {
      const until = monotonicMs() + ms
      while (monotonicMs() < until);
    },
    settle: () => new Promise((resolve) => void clock.after(LONGEST_MS + 1, resolve)),
  }
})

clockContract('the simulated clock', () => {
  const clock = new SimulatedClock()
  const pass = (ms: number): void => clock.advanceTo(clock.now() + ms)
  return { clock, now: () => clock.now(), pass, settle: async () => pass(LONGEST_MS) }
})
