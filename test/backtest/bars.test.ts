import fc from 'fast-check'
import { expect, test } from 'vitest'
import { replaySegments } from '../../src/backtest/replay/segments.ts'
import { runBacktest } from '../../src/backtest/run.ts'
import { type Random, seededRandom } from '../../src/base/random.ts'
import type { Config } from '../../src/config/config.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { Output } from '../../src/engine/messages.ts'
import { openReader } from '../../src/journal/reader/reader.ts'
import type { SegmentItem } from '../../src/journal/tape/recorded-segments.ts'
import { Mints } from '../../src/market/mints.ts'
import type { Journal } from '../../src/orders/ports.ts'
import { journalPath } from '../support/journal-samples.ts'
import type { MarketRow } from '../support/market-rows.ts'
import { feed, noisyMarket, type Recording } from '../support/recorded-tape.ts'
import { simulateRun } from '../support/simulated-run.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** 20 s before the end of a UTC day. */
const T0 = 1_780_012_780_000
/** `BAR_RUNS=200 npx vitest run test/backtest/bars.test.ts` tries more strategies and markets. */
const RUNS = Number(process.env['BAR_RUNS'] ?? 3)
const KEYS = ['trades', 'newTokens']
const folder = temporaryFolder()

const kept = fc.oneof(
  fc.integer({ min: 1, max: 40 }),
  fc.record({ keep: fc.integer({ min: 1, max: 40 }), silent: fc.constantFrom('fill', 'gap') }),
)
const params = fc.record({
  bars: fc
    .uniqueArray(fc.constantFrom('1s', '7s', '15s', '1m', '1 trade', '10 trades', '0.5 SOL', '5 SOL'), {
      minLength: 1,
      maxLength: 4,
    })
    .chain((widths) => fc.record(Object.fromEntries(widths.map((width) => [width, kept])))),
  window: fc.integer({ min: 2, max: 12 }),
  readsEvery: fc.integer({ min: 1, max: 60 }),
})
const seed = fc.integer({ min: 1, max: 1e6 })

/** A market whose tokens print seldom or often, with silences. It begins with the feed, because a warm-up knows the
 *  feed only from its first row on. */
function marketOf(seedOfIt: number, rows: number): MarketRow[] {
  const random = seededRandom(seedOfIt)
  let time = T0
  return noisyMarket(rows, seedOfIt, T0).map((row) => {
    const at = time
    time += random.next() < 0.02 ? random.integer(40_000) : random.integer(400)
    return { ...row, time: at }
  })
}

/** The market with an interruption of the feed. */
function interrupted(rows: readonly MarketRow[], random: Random): Recording['items'] {
  const from = (rows[50 + random.integer(50)] as MarketRow).time
  const to = from + random.integer(45_000)
  return [
    ...rows.filter(({ time }) => time < from),
    { time: from, input: feed('down', []) },
    { time: to, input: { kind: 'gap', from, to, keys: KEYS } },
    { time: to, input: feed('live', KEYS) },
    ...rows.filter(({ time }) => time >= to),
  ]
}

async function configOf(given: object): Promise<Config> {
  const service = { baseUrl: 'https://s.example/api', wsUrl: 'wss://s.example/api/data' }
  const bots = [{ name: 'teller', strategy: './test/support/bar-teller.ts', params: given }]
  const loaded = await loadConfig([folder.write('bots.yaml', JSON.stringify({ service, bots }))])
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors))
  return loaded.config
}

interface Note {
  readonly time: number
  readonly text: string
}

/** Notes of a backtest of a journal's tape. */
function backtested(path: string, config: Config): Note[] {
  const notes: Note[] = []
  const journal: Journal = {
    ...{ rows: () => {}, input: () => {}, write: () => {}, commit: (then) => then() },
    output: (_seq, time, _index, output) => void note(notes, time, output),
  }
  const reader = openReader(path)
  try {
    runBacktest(config, reader.market(), { partial: true, journal })
    return notes
  } finally {
    reader.close()
  }
}

function note(notes: Note[], time: number, output: Output): void {
  if (output.kind === 'note') notes.push({ time, text: `${output.mint} ${output.reason}` })
  if (output.kind === 'alarm') throw new Error(output.reason)
}

/** Notes that a run recorded. */
function recorded(path: string): Note[] {
  const notes: Note[] = []
  const reader = openReader(path)
  try {
    for (const segment of reader.segments())
      for (const item of reader.replay(segment, new Mints()))
        if (item.kind === 'output') note(notes, item.time, item.output)
    return notes
  } finally {
    reader.close()
  }
}

async function expectReplayed(path: string): Promise<void> {
  const outcomes: object[] = []
  await replaySegments(path, {
    outcome: ({ segment, skipped, divergence }) => outcomes.push({ segment, skipped, divergence }),
    finding: (finding) => outcomes.push(finding),
  })
  for (const outcome of outcomes) expect(outcome).toMatchObject({ skipped: '', divergence: null })
}

const textsOf = (notes: readonly Note[]): string[] => notes.map(({ text }) => text)

test('a run whose timers are late, its replay and its backtest have the same bars, lists and indicators', async () => {
  await fc.assert(
    fc.asyncProperty(params, seed, async (given, seedOfIt) => {
      const random = seededRandom(seedOfIt)
      const items = interrupted(marketOf(seedOfIt, 400), random)
      const path = journalPath()
      const config = await configOf(given)
      await simulateRun(path, { time: T0, items, config, durable: false, timerLateMs: () => 1 + random.integer(80) })
      const notes = recorded(path)
      expect(notes.length).toBeGreaterThan(10)
      expect(textsOf(notes)).toEqual(textsOf(backtested(path, config)))
      await expectReplayed(path)
    }),
    { numRuns: RUNS },
  )
})

test('after a restart, the bars are those of a run without one, and the requests of the warm-up are discarded', async () => {
  await fc.assert(
    fc.asyncProperty(params, seed, async (given, seedOfIt) => {
      const random = seededRandom(seedOfIt)
      const market = interrupted(marketOf(seedOfIt, 400), random)
      const { time: stop } = market[market.length - 50 - random.integer(50)] as MarketRow
      const end = stop + random.integer(20_000) // the recording may go on after its last row
      const again = end + 1 + random.integer(60_000)
      const path = journalPath()
      const config = await configOf({ ...given, readsEvery: 1 })
      const part = (begin: number, end: number) => ({
        ...{ time: begin, config, durable: false },
        items: market.filter(({ time }) => time >= begin && time <= end),
      })
      const first = part(T0, stop)
      await simulateRun(path, { ...first, items: [...first.items, { time: end, input: feed('live', KEYS) }] })
      await simulateRun(path, part(again, Number.POSITIVE_INFINITY))
      const seen = backtested(path, config).filter(({ time }) => time <= end || time > again)
      const notes = recorded(path).filter(({ time }) => time <= end || time > again)
      expect(textsOf(notes)).toEqual(textsOf(seen))
      await expectReplayed(path)
    }),
    { numRuns: RUNS },
  )
})

test('a run that buys at bars, and is killed and started again, is repeated by its replay', async () => {
  await fc.assert(
    fc.asyncProperty(params, seed, async (given, seedOfIt) => {
      const rows = marketOf(seedOfIt, 300)
      const random = seededRandom(seedOfIt)
      const cut = (rows[100 + random.integer(100)] as MarketRow).time
      const path = journalPath()
      const config = await configOf({ ...given, buysEvery: 3, everySeconds: 5 })
      const timerLateMs = (): number => 1 + random.integer(80)
      for (const [time, items] of [
        [T0, rows.filter((row) => row.time < cut)],
        [cut + 20_000, rows.filter((row) => row.time >= cut + 20_000)],
      ] as const)
        await simulateRun(path, { time, items, config, durable: false, timerLateMs, rowsACommit: 7 })
      await expectReplayed(path)
      const reader = openReader(path)
      const orders = reader
        .segments()
        .flatMap((segment) => [...reader.replay(segment, new Mints())])
        .filter(isOrder)
      reader.close()
      expect(orders.length).toBeGreaterThan(0)
    }),
    { numRuns: RUNS },
  )
})

const isOrder = (item: SegmentItem): boolean => item.kind === 'output' && item.output.kind === 'order'
