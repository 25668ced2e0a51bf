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
    failed: (error) => {
      throw error
    },
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

test('an error while the results are read is reported, and the next minute is tried again', () => {
  const clock = new SimulatedClock(START)
  const errors: unknown[] = []
  const written: NetResult[] = []
  let isBroken = true
  new ResultRecord({
    clock,
    read: (time) => {
      if (isBroken) throw new Error('no price')
      return [{ time, account: 'paper', bot: 'dips', netLamports: 1 }]
    },
    write: (result) => written.push(result),
    failed: (error) => errors.push(error),
  })
  expect(errors).toEqual([new Error('no price')])
  isBroken = false
  clock.advanceTo(START + 60_000)
  expect(written).toHaveLength(1)
})
