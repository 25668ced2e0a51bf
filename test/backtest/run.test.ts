import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { type Backtest, type BacktestOptions, runBacktest } from '../../src/backtest/run.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { FillModel } from '../../src/engine/accounting/fill-assumptions.ts'
import type { Input, Output } from '../../src/engine/messages.ts'
import type { Fill } from '../../src/engine/order.ts'
import { openReader } from '../../src/journal/reader/reader.ts'
import type { Attempt } from '../../src/orders/attempt.ts'
import type { Journal } from '../../src/orders/ports.ts'
import { journalPath } from '../support/journal-samples.ts'
import type { MarketRow } from '../support/market-rows.ts'
import { feed, noisyMarket, type Recording, writeTape } from '../support/recorded-tape.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const T0 = 1_780_000_000_000
const HOUR = 3_600_000
const folder = temporaryFolder()

interface Section {
  readonly [key: string]: unknown
}

async function backtest(
  recordings: readonly Recording[],
  bots: readonly Section[],
  options: Partial<BacktestOptions> = {},
  shared: Section = {},
): Promise<Backtest & { readonly path: string }> {
  const path = journalPath()
  await writeTape(path, recordings)
  const service = { baseUrl: 'https://s.example/api', wsUrl: 'wss://s.example/api/data' }
  const file = folder.write('bots.yaml', JSON.stringify({ service, bots, ...shared }))
  const loaded = await loadConfig([file])
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors))
  const reader = openReader(path)
  try {
    return { ...runBacktest(loaded.config, reader.market(), { partial: false, ...options }), path }
  } finally {
    reader.close()
  }
}

/** Writes a strategy file and returns its path. */
function strategy(name: string, keys: string[], body: string): string {
  const text = `import { defineStrategy, z } from 'sluice'
export default defineStrategy({ name: '${name}', about: '', params: z.object({}), keys: ${JSON.stringify(keys)}, start: (_params, bot) => (${body}) })
`
  return folder.write(`${name}.ts`, text)
}

const exits = { stopLossPercent: 20, takeProfitPercent: 30, trailingPercent: 15, maxHoldSeconds: 300 }
const dips = { name: 'dips', strategy: 'dip-buyer', params: { dropPercent: 15, sizeSol: 0.05 }, exits }
const trend = { name: 'trend', strategy: 'momentum', params: { minVolumeSol: 0 }, exits }

/** Keeps the inputs, outputs and records of a backtest. */
class Witness implements Journal {
  readonly attempts = new Map<string, Attempt>()
  readonly fills = new Map<string, Fill>()
  readonly inputs: Input[] = []
  readonly outputs: Output[] = []
  rows(): void {
    throw new Error('the tape is copied')
  }
  input(_seq: number, _time: number, input: Input): void {
    this.inputs.push(input)
  }
  output(_seq: number, _time: number, _index: number, output: Output): void {
    this.outputs.push(output)
  }
  write(record: Parameters<Journal['write']>[0]): void {
    if (record.kind === 'attempt') this.attempts.set(record.attempt.id, record.attempt)
    if (record.kind === 'fill') this.fills.set(record.fill.signature, record.fill)
  }
  commit(then: () => void): void {
    then()
  }
}

const market: Recording = { time: T0, items: noisyMarket(20_000, 3, T0) }

describe('the sums of a backtest', () => {
  test('in a backtest, fills and fees add up to the change of every wallet and to the reported figures', async () => {
    const journal = new Witness()
    const { bots } = await backtest([market], [dips, trend], { journal }, { paper: { balanceSol: 10 } })
    expect(journal.fills.size).toBeGreaterThan(100)
    for (const { result, startLamports } of bots) {
      const fills = [...journal.fills.values()].filter(({ bot }) => bot === result.name)
      const failed = [...journal.attempts.values()].filter(
        ({ bot, state }) => bot === result.name && state === 'reverted',
      )
      const spent = fills.map(
        ({ side, tradeLamports, feeLamports, rentLamports }) =>
          (side === 'sell' ? tradeLamports : -tradeLamports) - feeLamports - rentLamports,
      )
      const fees = failed.length * 505_000 // 5,000 and the priority fee that the service chooses
      const change = spent.reduce((sum, one) => sum + one, 0) - fees
      expect(result.walletLamports).toBe(change)
      expect(result.fees.failed).toBe(fees)
      expect(result.fees.network).toBe(fills.length * 505_000)
      expect(result.buys + result.sells).toBe(fills.length)
      // The last balance of the wallet that the engine itself computed.
      const account = journal.outputs.findLast(
        (output) => output.kind === 'account' && output.money.account.endsWith(`|${result.name}`),
      )
      expect(account).toMatchObject({ money: { lamports: startLamports + change } })
      // The wallet's change equals the profit of the closed positions, less the fees and the cost of the open
      // positions.
      const held = [...result.positions.values()].reduce((sum, { costLamports }) => sum + costLamports, 0)
      expect(result.walletLamports).toBe(result.realizedLamports - result.feeLamports - held)
      expect(result.fees.venue).toBeGreaterThan(0)
    }
  })

  test('every order of a backtest ends and is counted once', async () => {
    const journal = new Witness()
    const { bots, decisions } = await backtest([market], [dips, trend], { journal })
    const isDecision = ({ kind }: Output) => ['order', 'cancel', 'refused', 'note', 'alarm'].includes(kind)
    expect(decisions).toBe(journal.outputs.filter(isDecision).length)
    for (const { result } of bots) {
      const notFilled = [...result.ended.values()].reduce((sum, count) => sum + count, 0)
      expect(result.orders).toBe(result.buys + result.sells + notFilled)
    }
    const runAway = bots.map(({ result }) => result.ended.get('failed SLIPPAGE_EXCEEDED') ?? 0)
    expect(Math.max(...runAway)).toBeGreaterThan(0)
  })

  test('in a backtest, open positions count with the proceeds of a sale, which are below the last price because of fee and impact', async () => {
    const poll = { policy: 'poll', afterSeconds: 2 }
    const exits = { maxHoldSeconds: 100_000, whenStale: poll }
    const hold = { name: 'hold', strategy: 'dip-buyer', params: { sizeSol: 1 }, exits }
    const shared = { paper: { balanceSol: 100 }, chain: { rpc: [{ url: 'env:RPC_URL' }] } }
    const { bots, alarms } = await backtest([market], [hold], {}, shared)
    // A backtest cannot read pools, because the tape does not contain them.
    expect(alarms).toEqual([
      expect.stringMatching(/^hold: the pools of quiet tokens would have been read [1-9]\d* times/),
    ])
    const [{ result, valueLamports }] = bots as [Backtest['bots'][number]]
    expect(result.sells).toBe(0)
    expect(result.positions.size).toBeGreaterThan(0)
    const atLast = [...result.positions.values()].reduce(
      (sum, { tokens }) => sum + (Number(tokens) / 1e6) * 1e-6 * 1e9,
      0,
    )
    expect(valueLamports).toBeGreaterThan(0)
    expect(valueLamports).toBeLessThan(atLast) // no price of this market is above 1e-6
  })
})

test('the default plan of a backtest is Standard, and orders wait for the request limit of this plan', async () => {
  const eager = strategy(
    'eager',
    ['trades'],
    `{ onTrade(_trade, token) { if (token.price !== undefined && !token.position) bot.buy(token, { sol: 0.01, reason: 'because' }) } }`,
  )
  const bot = { name: 'eager', strategy: eager, exits: { maxHoldSeconds: 1 } }
  const limited = await backtest([market], [bot])
  const plan = { requestsPerMinute: 5, connections: 1, messagesPerSecond: 1 }
  const service = { baseUrl: 'https://s.example/api', wsUrl: 'wss://s.example/api/data', plan }
  const tight = await backtest([market], [bot], {}, { service })
  expect(limited.plan).toMatchObject({ name: 'Standard', requestsPerMinute: 100 })
  const attemptsAMinute = (one: Backtest) => (one.bots[0]?.result.orders ?? 0) / 33
  expect(attemptsAMinute(limited)).toBeGreaterThan(10)
  expect(tight.bots[0]?.result.ended.get('refused LIMIT_WAIT')).toBeGreaterThan(10)
})

describe('gaps and segments', () => {
  const gaps = strategy(
    'gaps',
    ['trades'],
    `{ onGap(gap) { bot.note('gap', [gap.from, gap.to, gap.keys.includes('trades')].join(' ')) } }`,
  )
  const rows = (from: number) => noisyMarket(100, 3, from)

  test('a strategy in a backtest receives every gap of the feed, also the gap between two segments', async () => {
    const journal = new Witness()
    const down = { time: T0 + 6_000, input: feed('down', []) }
    const gap: Input = { kind: 'gap', from: T0 + 5_900, to: T0 + 6_200, keys: ['trades'] }
    const first = rows(T0)
    const items = [
      ...first.slice(0, 60),
      down,
      { time: T0 + 6_200, input: gap },
      { time: T0 + 6_200, input: feed('live', ['trades']) },
      ...first.slice(63),
    ]
    const { gaps: count } = await backtest(
      [
        { time: T0, items },
        { time: T0 + HOUR, items: rows(T0 + HOUR) },
      ],
      [{ name: 'gaps', strategy: gaps, exits }],
      { journal },
    )
    const told = journal.outputs.flatMap((output) => (output.kind === 'note' ? [output.reason] : []))
    expect(told).toEqual([
      `${T0} ${T0} true`,
      `${T0 + 5_900} ${T0 + 6_200} true`,
      `${T0 + 9_900} ${T0 + HOUR} true`,
      `${T0 + HOUR} ${T0 + HOUR} true`,
    ])
    expect(count).toBe(4)
  })

  test("the journal's view `gaps` and a backtest count the same gaps, including gaps between two segments", async () => {
    const gap: Input = { kind: 'gap', from: T0 + 5_900, to: T0 + 6_200, keys: ['trades'] }
    const recordings = [0, 1, 3].map((hour): Recording => {
      const [time, items] = [T0 + hour * HOUR, rows(T0 + hour * HOUR)]
      return {
        time,
        items: hour === 0 ? [...items.slice(0, 63), { time: T0 + 6_200, input: gap }, ...items.slice(63)] : items,
      }
    })
    const { gaps: count, gapMs, path } = await backtest(recordings, [{ name: 'gaps', strategy: gaps, exits }])
    const db = new Database(path, { readonly: true })
    expect(db.prepare('SELECT count(*) AS count, sum(seconds) AS seconds FROM gaps').get()).toEqual({
      ...{ count, seconds: gapMs / 1000 },
    })
    const causes = db.prepare(`SELECT segment, cause, seconds FROM gaps WHERE "to" > "from" ORDER BY seq`).all()
    db.close()
    expect(causes).toEqual([
      { segment: 1, cause: 'feed', seconds: 0.3 },
      { segment: 2, cause: 'restart', seconds: 3600 - 9.9 },
      { segment: 3, cause: 'restart', seconds: 7200 - 9.9 },
    ])
  })

  test('in a backtest, no bot buys while the feed is down or after the end of the tape', async () => {
    const journal = new Witness()
    const items = noisyMarket(3_000, 3, T0)
    const down = { time: T0 + 100_000, input: feed('down', []) }
    const eager = strategy(
      'keen',
      ['trades'],
      `{ onTrade(_t, token) { if (!token.position) bot.buy(token, { sol: 0.01, reason: 'because' }) } }`,
    )
    await backtest(
      [{ time: T0, items: [...items.slice(0, 1_000), down, ...items.slice(1_001)] }],
      [{ name: 'keen', strategy: eager, exits: { maxHoldSeconds: 5 } }],
      { journal, partial: true },
    )
    const buys = journal.outputs.flatMap((output) =>
      output.kind === 'order' && output.order.side === 'buy' ? [output.order.time] : [],
    )
    expect(buys.length).toBeGreaterThan(0)
    expect(Math.max(...buys)).toBeLessThanOrEqual(T0 + 100_000)
    expect(journal.outputs).toContainEqual(expect.objectContaining({ kind: 'refused', code: 'FEED_DOWN' }))
  })

  test('in a backtest, an exit that is due during a gap sells at prices after the gap', async () => {
    const journal = new Witness()
    const mint = 'Azphy2B4JTUteQ8jGtj9Tc9anpttVXY3CRgGuJTpump'
    const prints = (from: number, price: number): MarketRow[] =>
      Array.from({ length: 40 }, (_, n) => ({
        ...{ kind: n % 2 === 0 ? 'buy' : 'sell', time: from + n * 240, mint, price, sol: 1 },
      }))
    const back = T0 + 60_000
    const once = strategy(
      'once',
      ['trades'],
      `{ onTrade(_t, token) { if (bot.fills().length === 0 && !token.position) bot.buy(token, { sol: 0.01, reason: 'because' }) } }`,
    )
    const items = [
      ...prints(T0, 1e-7),
      { time: T0 + 10_000, input: feed('down', []) },
      { time: back, input: { kind: 'gap', from: T0 + 10_000, to: back, keys: ['trades'] } satisfies Input },
      { time: back, input: feed('live', ['trades']) },
      ...prints(back + 5_000, 5e-8),
    ]
    const held = { name: 'once', strategy: once, exits: { maxHoldSeconds: 55 } }
    const model = (assumed: FillModel) => ({ ...assumed, landingFailurePercent: 0 })
    await backtest([{ time: T0, items }], [held], { journal, model, partial: true })
    const sale = [...journal.fills.values()].find(({ side }) => side === 'sell')
    expect(sale?.time).toBeGreaterThan(back + 5_000)
    expect((sale?.tradeLamports ?? 0) / Number(sale?.tokens) / 1e3).toBeLessThan(5.1e-8)
  })
})

describe('a backtest is refused', () => {
  const all = noisyMarket(200, 3, T0)

  test.each<[string, Recording[], Section[], RegExp, number]>([
    ['the tape is empty', [{ time: T0, items: [] }], [dips], /the tape is empty/, 2],
    ['the configuration has no bot', [{ time: T0, items: all }], [], /no bot/, 2],
    [
      'the tape has no trades',
      [{ time: T0, keys: ['newTokens'], items: all }],
      [dips],
      /trades: not recorded in segment 1/,
      2,
    ],
    [
      'one segment of the tape has no trades',
      [
        { time: T0, items: all },
        { time: T0 + HOUR, keys: ['newTokens'], items: noisyMarket(200, 3, T0 + HOUR) },
      ],
      [dips],
      /trades: not recorded in segment 2, 2026-05-28 21:26:40 to .* UTC/,
      2,
    ],
    [
      'half of the tape is a gap',
      [
        {
          time: T0,
          items: [
            ...all,
            { time: T0 + 20_000, input: { kind: 'gap', from: T0 + 10_000, to: T0 + 20_000, keys: ['trades'] } },
          ],
        },
      ],
      [dips],
      /trades: gaps are 50\.\d % of the recorded time/,
      2,
    ],
    [
      'a strategy throws in the middle of the tape',
      [{ time: T0, items: all }],
      [
        {
          name: 'wild',
          strategy: strategy(
            'wild',
            ['trades'],
            `{ onTrade(trade) { if (trade.timestamp > ${T0} + 5000) throw new Error('told to') } }`,
          ),
          exits,
        },
      ],
      /wild: its strategy threw at 2026-05-28 20:26:45 UTC, so it has no result: \/\S+\/wild\.ts:\d+:\d+: Error: told to/,
      1,
    ],
  ])('a backtest is refused if %s', async (_name, recordings, bots, says, exitCode) => {
    await expect(backtest(recordings, bots)).rejects.toMatchObject({ message: expect.stringMatching(says), exitCode })
  })

  test('with --partial, a backtest runs over an incomplete tape and names the missing data', async () => {
    const { lacks, rows } = await backtest([{ time: T0, keys: ['newTokens'], items: all }], [dips], { partial: true })
    expect(lacks).toEqual([expect.stringMatching(/^trades: not recorded in segment 1/)])
    expect(rows).toBe(200)
  })

  test('a backtest refuses a tape that lacks the trades of tokens that a bot watched', async () => {
    const watcher = strategy('watcher', ['newTokens'], `{ onNewToken(event) { bot.watch(event.mint) } }`)
    const { mint } = all[0] as { mint: string }
    const items = [{ kind: 'newToken', time: T0 + 1, mint } as const, ...all.slice(1)]
    const bots = [{ name: 'watcher', strategy: watcher, exits }]
    await expect(backtest([{ time: T0, keys: ['newTokens'], items }], bots)).rejects.toMatchObject({
      message: expect.stringContaining('1 of 1 tokens that the bots watched or held'),
      exitCode: 2,
    })
    const { mints } = await backtest([{ time: T0, keys: ['newTokens', mint], items }], bots)
    expect([mints.wanted.size, mints.absent.size]).toEqual([1, 0])
  })
})
