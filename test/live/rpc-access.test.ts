import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Http } from '../../src/base/machine.ts'
import { budgetedRpcs } from '../../src/live/rpc-access.ts'
import { SimulatedClock } from '../../src/simulation/simulated-clock.ts'
import { CLOCK_SYSVAR } from '../../src/solana/programs.ts'

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }))
afterEach(() => void vi.useRealTimers())

test('calls to read pools of quiet tokens come after calls for which an order waits', async () => {
  const asked: string[] = []
  const http: Http = async ({ body = '' }) => {
    const { id, params } = JSON.parse(body)
    asked.push(params[0][0])
    return { kind: 'answered', status: 200, headers: {}, body: JSON.stringify({ id, result: null }) }
  }
  const rates = { url: 'https://rpc.example', requestsPerSecond: 8, sendsPerSecond: 1 }
  const { any } = budgetedRpcs([rates], http, new SimulatedClock())
  const read = (address: string): void => void any('getMultipleAccounts', [[address], { commitment: 'confirmed' }])
  for (const address of ['first', 'second', CLOCK_SYSVAR, 'wallet']) read(address)
  await vi.advanceTimersByTimeAsync(2_000)
  expect(asked).toEqual(['first', 'second', 'wallet', CLOCK_SYSVAR])
})
