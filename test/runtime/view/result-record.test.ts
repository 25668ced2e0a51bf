import { expect, test } from 'vitest'
import type { NetResult } from '../../../src/orders/ports.ts'
import { ResultRecord } from '../../../src/runtime/view/result-record.ts'
import { SimulatedClock } from '../../../src/simulation/simulated-clock.ts'

const START = 1_800_000_000_000

test('the result of a bot is recorded at the start, then once a minute if it has changed, and no more after the end', () => {
  const clock = new SimulatedClock(START)
  const written: (readonly [seconds: number, bot: string, netLamports: number])[] = []
  let nets: Readonly<Record<string, number>> = { dips: 0, other: 5 }
  const record = new ResultRecord({
    clock,
    read: (time): NetResult[] =>
      Object.entries(nets).map(([bot, netLamports]) => ({ time, account: 'paper', bot, netLamports })),
    write: ({ time, bot, netLamports }) => written.push([(time - START) / 1000, bot, netLamports]),
  })
  const later = (seconds: number, next: Readonly<Record<string, number>>): void => {
    nets = next
    clock.advanceTo(START + seconds * 1000)
  }
  later(60, { dips: 7, other: 5 })
  // The result of `dips` is unknown for a minute, because a position has no price.
  later(120, { other: 6 })
  later(180, { dips: 7, other: 6 })
  later(240, { dips: -3, other: 6 })
  record.close()
  later(600, { dips: 9, other: 9 })
  expect(written).toEqual([
    [0, 'dips', 0],
    [0, 'other', 5],
    [60, 'dips', 7],
    [120, 'other', 6],
    [240, 'dips', -3],
  ])
})
