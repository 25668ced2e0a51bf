import { expect, test } from 'vitest'
import { lamports } from '../../../src/base/units.ts'
import type { FeedStatus } from '../../../src/engine/messages.ts'
import { openReader } from '../../../src/journal/reader/reader.ts'
import { openJournal } from '../../../src/journal/writer/journal.ts'
import { Mints } from '../../../src/market/mints.ts'
import {
  contentOf,
  fill,
  JOURNAL_OPTIONS,
  journalPath,
  keyOf,
  order,
  position,
  start,
  timeOf,
  trades,
} from '../../support/journal-samples.ts'

test("a position row gives the exit's reason and its number of attempts", async () => {
  const path = journalPath()
  const journal = openJournal(path, JOURNAL_OPTIONS)
  for (const [seq, exitTries] of [
    [1, 1],
    [2, 3],
    [3, 4],
  ] as const) {
    const sold = { state: 'closing', exiting: 'stop-loss: -21 %', exitTries } as const
    journal.output(seq, timeOf(seq), 0, { kind: 'position', position: position(seq, sold) })
  }
  await journal.close()
  const reader = openReader(path)
  expect(reader.positions(() => lamports(20_000_000))).toMatchObject([
    { selling: 'stop-loss: -21 %', valueSol: 0.02 },
    { selling: 'stop-loss: -21 %; tried 3 times', valueSol: 0.02 },
    { selling: 'cannot be sold, tried 4 times: stop-loss: -21 %', valueSol: 0 },
  ])
  reader.close()
})

test('the rows that the reader gives to commands have amounts in SOL and whole tokens', async () => {
  const path = journalPath()
  const journal = openJournal(path, JOURNAL_OPTIONS)
  journal.output(1, timeOf(1), 0, { kind: 'order', order: order(1) })
  journal.output(2, timeOf(2), 0, { kind: 'order', order: order(2) })
  const code = 'SLIPPAGE_EXCEEDED'
  journal.output(3, timeOf(3), 0, { kind: 'orderState', orderId: 'o1', state: 'failed', code, reason: 'moved' })
  journal.output(4, timeOf(4), 0, { kind: 'position', position: position(2) })
  journal.output(5, timeOf(5), 0, { kind: 'position', position: position(3) })
  const gone = { state: 'closed', tokens: 0n, realizedLamports: lamports(30_000_000) } as const
  journal.output(6, timeOf(6), 0, { kind: 'position', position: position(3, gone) })
  journal.write({ kind: 'fill', fill: fill(2, { tokens: 1_500_000n, decimals: 6, final: true }) })
  journal.output(7, timeOf(7), 0, { kind: 'note', bot: 'dips', mint: keyOf(5), code: '', reason: 'thin' })
  journal.output(7, timeOf(7), 1, { kind: 'keys', want: ['trades'] })
  await journal.close()
  const reader = openReader(path)
  const about = (number: number) => ({ id: `o${number}`, bot: 'dips', mint: keyOf(number), side: 'buy' })
  expect(reader.orders()).toEqual([
    { ...about(1), state: 'failed', code, reason: 'fell 15 %', time: timeOf(1), price: 1e-7, tag: '' },
    { ...about(2), state: 'accepted', code: '', reason: 'fell 15 %', time: timeOf(2), price: 1e-7, tag: '' },
  ])
  const { id: orderId, ...rest } = about(2)
  expect(reader.fills()).toEqual([
    {
      ...{ orderId, ...rest, sol: 0.05, tokens: 1.5, feeSol: 0.000105, rentSol: 0.00203928, walletSol: -0.05214428 },
      costs: {
        ...{
          tradeSol: 0.049,
          venueFeeSol: 0.0006,
          serviceFeeSol: 0.0004,
          baseFeeSol: 0.000005,
          priorityFeeSol: 0.0001,
        },
        ...{ tipSol: 0, rentPaidSol: 0.00203928, rentReturnedSol: 0, wrappedSol: 0, remainderSol: 0 },
        ...{ withheldTokens: '7', unknown: [] },
      },
      ...{ signature: keyOf(2, 64), final: true, time: timeOf(2), price: 0.05 / 1.5, tag: '' },
    },
  ])
  expect(reader.positions()).toEqual([
    {
      ...{ bot: 'dips', mint: keyOf(2), state: 'open', tokens: 1.5, costSol: 0.05, valueSol: null, selling: '' },
      ...{ time: timeOf(2), price: 0.03 },
    },
  ])
  expect(reader.counters()).toEqual({
    ...{ events: 0, decisions: 3, orders: 2, fills: 1, positions: 1 },
    ...{ realizedSol: 0.03, feesSol: 0.00021, reconnects: 0 },
  })
  reader.close()
})

test('a feed that is live again within a segment counts as a reconnect', async () => {
  const path = journalPath()
  const journal = openJournal(path, JOURNAL_OPTIONS)
  let seq = 0
  const feed = (...statuses: FeedStatus[]) => {
    for (const status of statuses) journal.input(++seq, timeOf(seq), { kind: 'feed', status, confirmed: [] })
  }
  journal.input(++seq, timeOf(seq), start(1))
  feed('down', 'live', 'stale', 'live', 'down', 'down', 'live')
  journal.input(++seq, timeOf(seq), start(2))
  feed('down', 'live', 'down')
  await journal.close()
  const reader = openReader(path)
  expect(reader.counters().reconnects).toBe(1)
  reader.close()
})

test('each segment counts its own rows, and imported rows belong to no segment', async () => {
  const path = journalPath()
  const mints = new Mints()
  const run = async (write: (journal: ReturnType<typeof openJournal>) => void) => {
    const journal = openJournal(path, { ...JOURNAL_OPTIONS, durable: false })
    write(journal)
    await journal.close()
  }
  await run((journal) => {
    journal.input(1, timeOf(0), start(1))
    journal.rows(trades(10, 0, mints), 0, 10, 2)
  })
  await run((journal) => journal.rows(trades(5, 10, mints), 0, 5, 12))
  await run((journal) => {
    journal.input(17, timeOf(20), start(2))
    journal.rows(trades(3, 20, mints), 0, 3, 18)
    journal.input(21, timeOf(30), { kind: 'timer', id: 1 })
  })
  const reader = openReader(path)
  expect(reader.segments().map(({ number, rows, lastSeq, complete }) => [number, rows, lastSeq, complete])).toEqual([
    [1, 10, 11, true],
    [2, 3, 21, true],
  ])
  expect(contentOf(reader.blocks(new Mints()))).toHaveLength(18)
  reader.close()
})

test('a replay may stop at any row, and the journal can be closed after that', async () => {
  const path = journalPath()
  const journal = openJournal(path, JOURNAL_OPTIONS)
  journal.input(1, timeOf(0), start(1))
  journal.rows(trades(10), 0, 10, 2)
  for (let seq = 12; seq < 20; seq++) journal.input(seq, timeOf(seq), { kind: 'timer', id: seq })
  await journal.close()
  const reader = openReader(path)
  const [segment] = reader.segments()
  for (const item of reader.replay(segment as NonNullable<typeof segment>, new Mints())) if (item.kind === 'rows') break
  reader.close()
})

test('two iterations over the tape may take turns, as when a replay also reads the warm-up', async () => {
  const path = journalPath()
  const journal = openJournal(path, JOURNAL_OPTIONS)
  journal.input(1, timeOf(0), start(1))
  journal.rows(trades(10), 0, 10, 2)
  await journal.close()
  const reader = openReader(path)
  const [segment] = reader.segments()
  const mints = new Mints()
  for (const _item of reader.replay(segment as NonNullable<typeof segment>, mints))
    expect(contentOf(reader.blocks(mints))).toHaveLength(10)
  reader.close()
})
