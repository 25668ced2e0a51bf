import { expect, test } from 'vitest'
import { seededRandom } from '../../src/base/random.ts'
import { Limiter, type RequestClass } from '../../src/orders/plan-limiter.ts'
import { SimulatedClock } from '../../src/simulation/simulated-clock.ts'

const MINUTE = 60_000
const RUN_MS = 20 * MINUTE
const SAMPLE_MS = 50

/**
 * Keeps the queue of one class of requests filled for twenty minutes. `used`: the share of its request slots that
 * the class uses. `most`: the largest number of requests in a minute at the server, which counts each request at some
 * moment between its start and its end.
 */
function load(requestsPerMinute: number, kind: RequestClass, latencyMs: number): { used: number; most: number } {
  const clock = new SimulatedClock(1_000)
  const { integer } = seededRandom(requestsPerMinute + latencyMs)
  const limits = { key: 'k', boot: 'b', requestsPerMinute, past: 'fresh' as const, write: () => {} }
  const limiter = new Limiter({ ...limits, clock, monotonicMs: () => clock.now() })
  const counted: number[] = []
  const ask = (): void => {
    limiter.request(kind, (slot) => {
      const endsAfter = 1 + integer(2 * latencyMs)
      counted.push(clock.now() + integer(endsAfter))
      clock.after(endsAfter, () => limiter.done(slot))
      clock.after(0, ask)
    })
  }
  for (let waiting = 0; waiting < 3; waiting++) ask()
  const open = kind === 'entry' ? requestsPerMinute - Math.floor(requestsPerMinute * 0.2) : requestsPerMinute
  let held = 0
  for (let at = 0; at < RUN_MS; at += SAMPLE_MS) {
    clock.advanceTo(clock.now() + SAMPLE_MS)
    held += limiter.status().held / open
  }
  counted.sort((a, b) => a - b)
  let first = 0
  let most = 0
  for (const [index, at] of counted.entries()) {
    while ((counted[first] as number) <= at - MINUTE) first++
    most = Math.max(most, index - first + 1)
  }
  return { used: held / (RUN_MS / SAMPLE_MS), most }
}

test.each([
  [5, 'exit', 300],
  [5, 'entry', 300],
  [100, 'exit', 50],
  [100, 'entry', 50],
  [100, 'exit', 3_000],
  [100, 'entry', 3_000],
  [100, 'reconcile', 10_000],
  [1_000, 'exit', 300],
  [1_000, 'entry', 300],
] as const)(
  'with %i requests a minute and full load of one class (%s, latency %i ms), at least 97 %% of its request slots are in use, and never too many',
  (plan, kind, latencyMs) => {
    const { used, most } = load(plan, kind, latencyMs)
    expect(used).toBeGreaterThanOrEqual(0.97)
    expect(used).toBeLessThanOrEqual(1)
    expect(most).toBeLessThanOrEqual(plan)
  },
)
