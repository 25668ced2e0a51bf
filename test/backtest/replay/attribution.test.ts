import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { type Attribution, attribute } from '../../../src/backtest/replay/attribution.ts'
import { runBacktest } from '../../../src/backtest/run.ts'
import { seededRandom } from '../../../src/base/random.ts'
import { lamports } from '../../../src/base/units.ts'
import type { Config } from '../../../src/config/config.ts'
import { loadConfig } from '../../../src/config/load.ts'
import type { Input, StartInput } from '../../../src/engine/messages.ts'
import { openReader } from '../../../src/journal/reader/reader.ts'
import type { Journal, Outcome } from '../../../src/orders/ports.ts'
import { STANDARD } from '../../../src/venues/token-service/plans.ts'
import { journalPath } from '../../support/journal-samples.ts'
import type { MarketRow } from '../../support/market-rows.ts'
import { feed, noisyMarket, type Recording, writeTape } from '../../support/recorded-tape.ts'
import { type SimulatedRun, simulateRun } from '../../support/simulated-run.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const T0 = 1_780_000_000_000
const QUIET_FROM = T0 + 200_000
const folder = temporaryFolder()

/** Returns a market whose prices move and then stay constant, so that all orders end. */
function market(): MarketRow[] {
  const moving = noisyMarket(2_000, 5, T0)
  const last = new Map(moving.map((row) => [row.mint, row]))
  const quiet = Array.from({ length: 150 }, (_, second) =>
    [...last.values()].map((row): MarketRow => ({ ...row, time: QUIET_FROM + second * 1_000 })),
  )
  return [...moving, ...quiet.flat()]
}

const EXITS = { stopLossPercent: 20, takeProfitPercent: 30, maxHoldSeconds: 30 }
const QUICK_EXITS = { stopLossPercent: 10, takeProfitPercent: 10, maxHoldSeconds: 7 }

async function configOf(params: object = {}, exits: object = EXITS, limits: object = {}): Promise<Config> {
  const service = { baseUrl: 'https://s.example/api', wsUrl: 'wss://s.example/api/data' }
  const bots = [
    { name: 'dips', strategy: 'dip-buyer', params: { dropPercent: 15, sizeSol: 0.05, ...params }, exits, limits },
  ]
  const loaded = await loadConfig([folder.write('bots.yaml', JSON.stringify({ service, bots }))])
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors))
  return loaded.config
}

/** Returns the report and the start time of a backtest, as `backtest --out` writes them. */
async function backtestOf(path: string, config: Config) {
  const reader = openReader(path)
  let start: StartInput | undefined
  const journal: Journal = {
    rows: () => {},
    input: (_seq, _time, input: Input) => {
      if (input.kind === 'start') start = input
    },
    output: () => {},
    write: () => {},
    commit: (then) => then(),
  }
  try {
    const { bots } = runBacktest(config, reader.market(), { partial: true, journal })
    const numbers = { ...bots[0]?.model }
    const nets = bots.map(({ result, valueLamports }) => ({
      name: result.name,
      netSol: (result.walletLamports + valueLamports) / 1e9,
    }))
    return { report: { bots: nets, fillModel: { numbers } }, start: start as StartInput }
  } finally {
    reader.close()
  }
}

async function attributed(run: string, backtest: Awaited<ReturnType<typeof backtestOf>>): Promise<Attribution> {
  const reader = openReader(run)
  try {
    let progress: [rows: number, of: number] = [0, 0]
    const found = await attribute(reader, backtest, (rows, of) => {
      expect(rows).toBeLessThanOrEqual(of)
      progress = [rows, of]
    })
    expect(progress[0], 'rows in the last report of progress, compared with all rows').toBe(progress[1])
    return found
  } finally {
    reader.close()
  }
}

const gapOf = ({ liveLamports, backtestLamports }: Attribution) => liveLamports - backtestLamports
const toleranceOf = (found: Attribution) => Math.max(100_000, Math.abs(gapOf(found)) * 0.01)

/** How a run differs from its backtest. */
interface World {
  readonly run?: Partial<SimulatedRun>
  readonly items?: (rows: readonly MarketRow[]) => Recording['items']
  readonly params?: object
  /** Exits of the bot, the same in the run and in its backtest. */
  readonly exits?: object
}

const [from, to] = [T0 + 60_000, T0 + 110_000]
const WORLDS: [string, World][] = [
  [
    'tape and feed gaps',
    {
      items: (rows) => [
        ...rows.filter(({ time }) => time < from),
        { time: from, input: feed('down', []) },
        { time: to, input: { kind: 'gap', from, to, keys: ['trades', 'newTokens'] } },
        { time: to, input: feed('live', ['trades', 'newTokens']) },
        ...rows.filter(({ time }) => time >= to),
      ],
    },
  ],
  ['configuration', { params: { sizeSol: 0.2 } }],
  ['plan delay', { run: { plan: { ...STANDARD, requestsPerMinute: 4 } } }],
  ['latency', { run: { model: (model) => ({ ...model, latencyMs: { p50: 6_000, p95: 9_000 } }) } }],
  ['landing', { run: { model: (model) => ({ ...model, landingFailurePercent: 50 }) } }],
  // There is no stop-loss, because its level would depend on the price paid. Without it, both runs sell at the same
  // time.
  ['impact', { exits: { maxHoldSeconds: 30 }, run: { model: (model) => ({ ...model, venueFeePercent: 4 }) } }],
  ['fees', { run: { model: (model) => ({ ...model, autoPriorityFeeLamports: lamports(5_000_000) }) } }],
]

test.each(WORLDS)(
  'if a run differs from its backtest only in %s, this factor explains the whole difference of the results',
  async (name, world) => {
    const [whole, run] = [journalPath(), journalPath()]
    const rows = market()
    await writeTape(whole, [{ time: T0, items: rows }])
    const config = await configOf(world.params, world.exits)
    await simulateRun(run, { time: T0, items: world.items?.(rows) ?? rows, config, ...world.run })
    const found = await attributed(run, await backtestOf(whole, await configOf({}, world.exits)))
    const said = JSON.stringify(found)
    expect(Math.abs(gapOf(found)), said).toBeGreaterThan(1_000_000)
    for (const { name: factor, lamports: part } of found.factors) {
      const due = factor === name ? gapOf(found) : 0
      expect(Math.abs(part - due), `${factor}: ${said}`).toBeLessThanOrEqual(toleranceOf(found))
    }
    expect(Math.abs(found.residualLamports), said).toBeLessThanOrEqual(toleranceOf(found))
    const sum = found.factors.reduce((total, factor) => total + factor.lamports, found.residualLamports)
    expect(sum).toBe(gapOf(found))
    expect(found.notes).toEqual([])
  },
)

test('if fees change the time of sales, the factors together still explain the whole difference', async () => {
  const run = journalPath()
  const config = await configOf()
  await simulateRun(run, { time: T0, items: market(), config, model: (model) => ({ ...model, venueFeePercent: 4 }) })
  const found = await attributed(run, await backtestOf(run, config))
  expect(Math.abs(found.residualLamports), JSON.stringify(found)).toBeLessThanOrEqual(toleranceOf(found))
  expect(found.matched).toBe(found.attempts)
})

/**
 * Simulates a chain with faults and a loaded machine: reports and timers are late, the time of a fill is the whole
 * second of its block, answers are lost, requests are refused, and forks reverse fills, some buys permanently.
 */
function asLive(seed: number): Pick<SimulatedRun, 'executor' | 'timerLateMs'> {
  const random = seededRandom(seed)
  const isStruck = (): boolean => random.next() < 0.12
  return {
    timerLateMs: () => random.integer(2_500),
    executor: (inner, clock) => {
      const late = (done: Done, isForked = isStruck()): Done => {
        let isGone = false
        return (outcome) => {
          const ms = random.integer(900)
          const seen = outcome.kind === 'filled' && !outcome.final ? outcome.fill : undefined
          if (outcome.kind === 'acked') done(isStruck() ? { kind: 'unknown', reason: 'the answer is lost' } : outcome)
          else if (!isGone) clock.after(ms, () => done(stamped(outcome)))
          if (!isForked || seen === undefined) return
          isGone = seen.side === 'buy' && random.next() < 0.5
          clock.after(ms + 1_500, () => done({ kind: 'unknown', reason: 'a fork' }))
          clock.after(ms + 3_200, () => done(isGone ? { kind: 'absent' } : stamped(outcome)))
        }
      }
      return {
        execute: (attempt, done) => {
          const refusal = isStruck() ? REFUSALS[random.integer(REFUSALS.length)] : undefined
          if (refusal === undefined) inner.execute(attempt, late(done))
          else clock.after(40, () => done(refusal))
        },
        resume: (attempt, done) => inner.resume(attempt, late(done, false)),
      }
    },
  }
}

type Done = (outcome: Outcome) => void

const REFUSALS: readonly Outcome[] = [
  { kind: 'refused', code: 'RATE_LIMIT', reason: 'too many requests', retry: 'wait' },
  { kind: 'refused', code: 'SLIPPAGE_EXCEEDED', reason: 'the price moved', retry: 'slippage' },
  { kind: 'refused', code: 'INSUFFICIENT_BALANCE', reason: 'no tokens', retry: 'never' },
  { kind: 'unsent', reason: 'no connection' },
]

function stamped(outcome: Outcome): Outcome {
  if (outcome.kind !== 'filled') return outcome
  const time = Math.floor(outcome.fill.time / 1_000) * 1_000
  return { ...outcome, fill: { ...outcome.fill, time, slot: time / 1_000 } }
}

test.each([1, 2, 3])(
  'the difference between a run on a chain with faults and its backtest is explained to the lamport (seed %i)',
  async (seed) => {
    const run = journalPath()
    const config = await configOf({ dropPercent: 2 }, QUICK_EXITS, { maxOpenPositions: 2 })
    const model: SimulatedRun['model'] = (one) => ({ ...one, venueFeePercent: 3, landingFailurePercent: 20 })
    await simulateRun(run, { time: T0, items: market(), config, model, ...asLive(seed) })
    const found = await attributed(run, await backtestOf(run, config))
    expect(Math.abs(gapOf(found)), JSON.stringify(found)).toBeGreaterThan(1_000_000)
    expect(found).toMatchObject({ residualLamports: 0, matched: found.attempts, bots: [{ apart: null }] })
  },
)

test('a code change since the backtest is reported with the factor that includes its effect', async () => {
  const run = journalPath()
  const config = await configOf()
  await simulateRun(run, { time: T0, items: market(), config })
  const { report, start } = await backtestOf(run, config)
  const found = await attributed(run, { report, start: { ...start, code: 'another' } })
  expect(found.factors[0]?.name).toBe('tape, feed gaps, code')
  expect(found.notes).toEqual([expect.stringContaining('has changed since the backtest')])
  expect(gapOf(found)).toBe(found.factors.reduce((total, factor) => total + factor.lamports, found.residualLamports))
})

test('a run in which a process was started four times is replayed in four parts, each with its own configuration and restored state', async () => {
  const [whole, run] = [journalPath(), journalPath()]
  const rows = market()
  await writeTape(whole, [{ time: T0, items: rows }])
  const backtest = await backtestOf(whole, await configOf())
  // Four processes. The first one is killed while transactions are pending. The second one receives no data. The fourth
  // one begins when the third one ends.
  const parts = [
    { from: T0, to: T0 + 71_000, params: {} },
    { from: T0 + 75_000, to: T0 + 75_000, params: {} },
    { from: T0 + 81_000, to: T0 + 120_000, params: { sizeSol: 0.2 } },
    { from: T0 + 120_000, to: Number.POSITIVE_INFINITY, params: { dropPercent: 12 } },
  ]
  for (const { from, to, params } of parts) {
    const items = rows.filter(({ time }) => time >= from && time < to)
    const model: SimulatedRun['model'] = (one) => ({ ...one, venueFeePercent: 3, landingFailurePercent: 30 })
    await simulateRun(run, { time: from, items, config: await configOf(params), model })
  }
  const reader = openReader(run)
  const taken = reader.segments().map(({ start: { money } }) => ({ orders: money.orders, held: money.positions }))
  reader.close()
  expect(taken[1]?.orders.length).toBeGreaterThan(0)
  expect(taken[1]?.held.length).toBeGreaterThan(0)
  const found = await attributed(run, backtest)
  expect(found.starts).toBe(4)
  expect(found.notes).toEqual([])
  expect(Math.abs(gapOf(found))).toBeGreaterThan(1_000_000)
  expect(Math.abs(found.residualLamports), JSON.stringify(found)).toBeLessThanOrEqual(toleranceOf(found))
  expect(found.matched).toBe(found.attempts)
})

test('commands of the operator are a separate factor', async () => {
  const [whole, run] = [journalPath(), journalPath()]
  const rows = market()
  await writeTape(whole, [{ time: T0, items: rows }])
  const config = await configOf()
  const [halt, resume] = [T0 + 60_000, T0 + 200_000]
  const command = (name: 'halt' | 'resume'): Input => ({ kind: 'command', command: { name } })
  const items = [
    ...rows.filter(({ time }) => time < halt),
    { time: halt, input: command('halt') },
    ...rows.filter(({ time }) => time >= halt && time < resume),
    { time: resume, input: command('resume') },
    ...rows.filter(({ time }) => time >= resume),
  ]
  await simulateRun(run, { time: T0, items, config })
  const found = await attributed(run, await backtestOf(whole, config))
  const { lamports: part = 0 } = found.factors.find(({ name }) => name === 'operator') ?? {}
  expect(Math.abs(gapOf(found)), JSON.stringify(found)).toBeGreaterThan(1_000_000)
  expect(Math.abs(part - gapOf(found)), JSON.stringify(found)).toBeLessThanOrEqual(toleranceOf(found))
  expect(Math.abs(found.residualLamports), JSON.stringify(found)).toBeLessThanOrEqual(toleranceOf(found))
})

test('if the tape of one segment was deleted, all segments are replayed as one, and the attribution contains a note about it', async () => {
  const run = journalPath()
  const config = await configOf()
  const rows = market()
  const cut = T0 + 80_000
  await simulateRun(run, { time: T0, items: rows.filter(({ time }) => time < cut), config })
  await simulateRun(run, { time: cut, items: rows.filter(({ time }) => time >= cut), config })
  const db = new Database(run)
  db.exec('DELETE FROM block WHERE last_seq = (SELECT min(last_seq) FROM block)')
  db.close()
  const found = await attributed(run, await backtestOf(run, config))
  expect(found.notes).toEqual([expect.stringContaining('tape of a start was dropped')])
  expect(found.factors.map(({ name }) => name)).not.toContain('restarts')
  expect(gapOf(found)).toBe(found.factors.reduce((total, factor) => total + factor.lamports, found.residualLamports))
})

test('a run that continues a recording is compared from the start of its bots, with their warm-up', async () => {
  const run = journalPath()
  const config = await configOf()
  const rows = market()
  const cut = T0 + 80_000
  await writeTape(run, [{ time: T0, items: rows.filter(({ time }) => time < cut) }])
  await simulateRun(run, { time: cut, items: rows.filter(({ time }) => time >= cut), config })
  const found = await attributed(run, await backtestOf(run, config))
  expect(Math.abs(found.residualLamports), JSON.stringify(found)).toBeLessThanOrEqual(toleranceOf(found))
  expect(found.matched).toBe(found.attempts)
  expect(found.notes).toEqual([])
})
