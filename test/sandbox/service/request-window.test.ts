import { expect, test } from 'vitest'
import { requestWindow } from '../../../src/sandbox/service/customers.ts'
import { openRig, post } from '../client.ts'

/** Sends a request at each of `times` to a limit of two requests a minute. Returns the times of the accepted
 *  requests. */
function accepted(window: 'sliding' | 'fixed', refusedCount: 'no' | 'yes', times: number[]): number[] {
  const limiter = requestWindow(2, { window, refusedCount })
  return times.filter((time) => limiter.admit(time).accepted)
}

test.each<[window: 'sliding' | 'fixed', refusedCount: 'no' | 'yes', times: number[], accepted: number[]]>([
  ['sliding', 'no', [0, 1, 2, 59_999, 60_000, 60_001, 60_002], [0, 1, 60_000, 60_001]],
  ['sliding', 'yes', [0, 1, 2, 60_000, 60_001, 60_003, 120_010], [0, 1, 120_010]],
  ['fixed', 'no', [59_998, 59_999, 59_999, 60_000, 60_001, 60_002, 120_000], [59_998, 59_999, 60_000, 60_001, 120_000]],
  ['fixed', 'yes', [0, 1, 2, 59_999, 60_000], [0, 1, 60_000]],
])(
  'a %s window of a minute (counts refused requests: %s) accepts the expected requests',
  (window, refusedCount, times, expected) => {
    expect(accepted(window, refusedCount, times)).toEqual(expected)
  },
)

test('the answer to a request has the number of remaining requests and the time until the reset', () => {
  const limiter = requestWindow(2, { window: 'sliding', refusedCount: 'no' })
  expect(limiter.admit(1_000)).toEqual({ accepted: true, limit: 2, remaining: 1, resetMs: 60_000 })
  expect(limiter.admit(2_000)).toEqual({ accepted: true, limit: 2, remaining: 0, resetMs: 59_000 })
  expect(limiter.admit(31_000)).toEqual({ accepted: false, limit: 2, remaining: 0, resetMs: 30_000 })
})

test('the sandbox answers the 101st request of a minute with 429, and other customers are not affected', async () => {
  const rig = await openRig({ dialect: { limitHeaders: 'retryAfter' } })
  const send = (apiKey: string): Promise<number> => post(rig, '/trade/buy', {}, apiKey).then(({ status }) => status)
  const statuses = await Promise.all(Array.from({ length: 101 }, () => send(rig.apiKeys.standard)))
  expect(statuses.filter((status) => status === 400)).toHaveLength(100)
  expect(statuses.filter((status) => status === 429)).toHaveLength(1)
  const refused = await post(rig, '/trade/buy', {})
  expect(refused.body.error.code).toBe('RATE_LIMIT')
  expect(refused.headers.get('retry-after')).toBe('60')
  expect(await send(rig.apiKeys.premium)).toBe(400)
  rig.clock.advanceTo(rig.clock.now() + 60_000)
  expect(await send(rig.apiKeys.standard)).toBe(400)
  await rig.close()
})
