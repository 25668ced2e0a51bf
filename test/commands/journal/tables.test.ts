import { beforeAll, describe, expect, test } from 'vitest'
import { tradesOf } from '../../../src/backtest/report/bot-trades.ts'
import { roundTripsOf } from '../../../src/backtest/report/round-trips.ts'
import { lamports, ZERO } from '../../../src/base/units.ts'
import { accountOf } from '../../../src/engine/account.ts'
import type { Fill } from '../../../src/engine/order.ts'
import type { BotSettings } from '../../../src/engine/settings.ts'
import { openReader } from '../../../src/journal/reader/reader.ts'
import { openJournal } from '../../../src/journal/writer/journal.ts'
import { Mints } from '../../../src/market/mints.ts'
import { called } from '../../e2e/called.ts'
import {
  fill,
  JOURNAL_OPTIONS,
  journalPath,
  keyOf,
  order,
  position,
  start,
  timeOf,
} from '../../support/journal-samples.ts'
import { blockOf } from '../../support/market-rows.ts'

const path = journalPath()
const LIVE = accountOf('live', 'host', 'genesis', 'wallet')
const HOSTILE = '=HYPERLINK("x")\u001b[31m\u202e狗'

const bot = (name: string) => ({ name, account: LIVE }) as unknown as BotSettings
const sale = (number: number, more: Partial<Fill>): Fill => {
  const sold = {
    side: 'sell',
    rentLamports: ZERO,
    walletLamports: lamports((more.tradeLamports ?? 0) - 105_000),
  } as const
  return fill(number, { ...sold, account: LIVE.id, tokens: 1_000_000n, decimals: 6, final: true, ...more })
}

beforeAll(async () => {
  const journal = openJournal(path, JOURNAL_OPTIONS)
  const mints = new Mints()
  journal.input(1, timeOf(0), start(1, { bots: [bot('dips'), bot('launches')] }))
  const launches = [
    { kind: 'newToken' as const, time: timeOf(1), mint: keyOf(1), details: { symbol: HOSTILE } },
    { kind: 'newToken' as const, time: timeOf(1), mint: keyOf(2), details: { symbol: 'GOOD' } },
    { kind: 'newToken' as const, time: timeOf(2), mint: keyOf(2), details: { symbol: 'LATER' } },
    { time: timeOf(2), mint: keyOf(3), price: 1e-7 },
  ]
  journal.rows(blockOf(launches, mints), 0, launches.length, 2)
  for (const [number, name] of [
    [1, 'dips'],
    [2, 'launches'],
    [3, 'dips'],
  ] as const) {
    const time = timeOf(number * 1_000)
    journal.output(10 + number, time, 0, { kind: 'order', order: order(number, { bot: name, account: LIVE.id, time }) })
    journal.write({
      kind: 'fill',
      fill: fill(number, { bot: name, account: LIVE.id, time, tokens: 1_000_000n, decimals: 6, final: true }),
    })
  }
  const sold = {
    time: timeOf(4_000),
    side: 'sell',
    account: LIVE.id,
    mint: keyOf(1),
    reason: 'stop-loss: -20.5 %',
  } as const
  journal.output(20, sold.time, 0, { kind: 'order', order: order(4, { ...sold, price: null }) })
  for (const [id, tokens] of [
    ['o4.1', 400_000n],
    ['o4.2', 600_000n],
  ] as const) {
    const about = { ...sold, attemptId: id, signature: keyOf(Number(tokens), 64), tokens }
    journal.write({ kind: 'fill', fill: sale(4, { ...about, tradeLamports: lamports(Number(tokens) * 40) }) })
  }
  journal.output(21, timeOf(5_000), 0, {
    kind: 'position',
    position: position(3, { account: LIVE.id, exiting: 'held' }),
  })
  // The position was closed, reopened by a fork, and closed again.
  const closed = { account: LIVE.id, bot: 'dips', mint: keyOf(1), openedAt: timeOf(1_000), state: 'closed' } as const
  for (const [seq, best, worst] of [
    [22, { lamports: 5_000_000, percent: 10 }, { lamports: -10_000_000, percent: -20 }],
    [23, { lamports: 10_000_000, percent: 20 }, { lamports: -15_000_000, percent: -30 }],
  ] as const)
    journal.output(seq, timeOf(6_000), 0, { kind: 'position', position: position(1, { ...closed, best, worst }) })
  await journal.close()
})

const list = async (...args: string[]) => called([...args, '--journal', path])
const jsonOf = async (...args: string[]) => JSON.parse((await list(...args, '--json')).stdout)

describe('rows', () => {
  test('the rows that `orders` prints have time, symbol and price', async () => {
    const { orders } = await jsonOf('orders')
    expect(orders).toMatchObject([
      { id: 'o1', symbol: HOSTILE, time: timeOf(1_000), price: 1e-7, reason: 'fell 15 %' },
      { id: 'o2', symbol: 'GOOD', bot: 'launches' },
      { id: 'o3', symbol: '' },
      { id: 'o4', symbol: HOSTILE, side: 'sell', price: null },
    ])
    expect(Object.keys(orders[0])).toEqual([
      ...['id', 'bot', 'mint', 'side', 'state', 'code', 'reason', 'time', 'price', 'tag', 'symbol'],
    ])
  })

  test('the rows that `fills` prints have the price of the trade', async () => {
    const { fills } = await jsonOf('fills')
    expect(fills.map(({ orderId, price }: { orderId: string; price: number }) => [orderId, price])).toEqual([
      ...[1, 2, 3].map((number) => [`o${number}`, 0.05]),
      ...[4, 4].map((number) => [`o${number}`, expect.closeTo(0.04, 12)]),
    ])
  })

  test('the rows that `positions` prints have the time of opening and the average price', async () => {
    expect((await jsonOf('positions')).positions).toMatchObject([
      { bot: 'dips', time: timeOf(3), price: 0.03, symbol: '', selling: 'held' },
    ])
  })
})

test('a round trip has all buys, sales and fees of a closed position', async () => {
  const { roundTrips } = await jsonOf('round-trips')
  expect(roundTrips).toEqual([
    {
      ...{ bot: 'dips', mint: keyOf(1), symbol: HOSTILE, buys: 1, sells: 2, heldSeconds: 30 },
      ...{ openedAt: timeOf(1_000), closedAt: timeOf(4_000), entryReason: 'fell 15 %' },
      ...{ costSol: 0.05, proceedsSol: 0.04, feesSol: 0.00235428, exitReason: 'stop-loss: -20.5 %' },
      ...{ entryTag: '', exitTag: '' },
      ...{ netSol: -0.01235428, netPercent: expect.closeTo(-24.70856, 9) },
      ...{ bestSol: 0.01, bestPercent: 20, worstSol: -0.015, worstPercent: -30 },
    },
  ])
})

test('a position that an earlier version recorded has no highest and lowest value', async () => {
  const old = journalPath()
  const journal = openJournal(old, JOURNAL_OPTIONS)
  journal.input(1, timeOf(0), start(1, { bots: [bot('dips')] }))
  const about = { account: LIVE.id, bot: 'dips', mint: keyOf(1) }
  const bought = fill(1, { ...about, time: timeOf(1_000), tokens: 1_000_000n, decimals: 6, final: true })
  journal.write({ kind: 'fill', fill: bought })
  journal.write({ kind: 'fill', fill: sale(2, { ...about, time: timeOf(2_000), tradeLamports: bought.tradeLamports }) })
  const closed = { ...position(1, { ...about, openedAt: timeOf(1_000) }), state: 'closed' } as const
  journal.output(2, timeOf(2_000), 0, { kind: 'position', position: closed })
  await journal.close()
  const [trip] = JSON.parse((await called(['round-trips', '--json', '--journal', old])).stdout).roundTrips
  expect(trip).toMatchObject({ bestSol: null, bestPercent: null, worstSol: null, worstPercent: null })
})

test('the net results of all round trips add up to the result in the report', () => {
  const reader = openReader(path)
  const [dips] = tradesOf(reader)
  const trips = roundTripsOf(reader)
  reader.close()
  const closed = dips?.byToken.find(({ name }) => name === keyOf(1))
  expect(trips.reduce((sum, { netSol }) => sum + netSol, 0)).toBeCloseTo(closed?.netSol ?? Number.NaN, 9)
})

test('the report shows the symbol of a token before its mint', async () => {
  const { stdout } = await list('report')
  expect(stdout).toContain(`狗 ${keyOf(1)} `)
  for (const control of ['\u001b', '\u202e']) expect(stdout).not.toContain(control)
})

describe('options', () => {
  const idsOf = async (...args: string[]) =>
    (await jsonOf('orders', ...args)).orders.map(({ id }: { id: string }) => id).join(' ')

  test.each<[args: string[], ids: string]>([
    [[], 'o1 o2 o3 o4'],
    [['--bot', 'dips'], 'o1 o3 o4'],
    [['--last', '2'], 'o3 o4'],
    [['--bot', 'dips', '--last', '2'], 'o3 o4'],
    [['--since', String(timeOf(2_000))], 'o2 o3 o4'],
    [['--since', '1s'], ''],
  ])('%j lists %s', async (args, ids) => {
    expect(await idsOf(...args)).toBe(ids)
  })

  test.each<[args: string[], says: string]>([
    [['--bot', 'dip'], 'has no such bot; did you mean dips?; its bots are dips, launches'],
    [['--columns', 'id,prise'], 'column 2, "prise", is unknown; did you mean price?'],
    [['--since', '2hours'], '--since 2hours is not a time; did you mean 2h?'],
    [['--last', '0'], 'whole number of at least 1'],
    [['--json', '--csv'], '--json prints every key of every row'],
  ])('%j: exit 2', async (args, says) => {
    const { code, stderr, stdout } = await list('orders', ...args)
    expect({ code, stderr, stdout }).toEqual({ code: 2, stderr: expect.stringContaining(says), stdout: '' })
  })

  test('an empty list names the bot and the time that the user asked for', async () => {
    expect((await list('orders', '--bot', 'launches', '--since', '1h')).stdout).toMatch(
      /^no orders of launches in .*\.db since 20\d\d-\d\d-\d\d \d\d:\d\d/,
    )
  })
})

test('if the output is not a terminal, a table has all columns and uncut texts, and hostile text is escaped', async () => {
  const { stdout } = await list('orders')
  const [head = '', first = ''] = stdout.split('\n')
  expect(head.replace(/ +/g, ' ')).toBe('ID TIME BOT SYMBOL MINT SIDE STATE CODE PRICE REASON')
  expect(first).toContain(keyOf(1))
  expect(first).toContain('=HYPERLINK("x")\\u001b[31m\\u202e狗')
  expect(stdout.replaceAll('\n', '')).not.toMatch(/\p{Cc}|\p{Cf}/u)
})

test('the CSV of a table has exact values, times in UTC, and no formula', async () => {
  const { stdout } = await list('orders', '--csv', '--columns', 'time,symbol,price', '--last', '4')
  expect(stdout.split('\r\n')).toEqual([
    'time,symbol,price',
    `${new Date(timeOf(1_000)).toISOString()},"'=HYPERLINK(""x"")\\u001b[31m\\u202e狗",1e-7`,
    `${new Date(timeOf(2_000)).toISOString()},GOOD,1e-7`,
    `${new Date(timeOf(3_000)).toISOString()},"",1e-7`,
    `${new Date(timeOf(4_000)).toISOString()},"'=HYPERLINK(""x"")\\u001b[31m\\u202e狗",`,
    '',
  ])
})
