// Compares the speed of Sluice, backtrader and backtesting.py with the same strategy, prices, fills and money. Two
// environment variables name the checkouts of backtrader and backtesting.py: BACKTRADER=/path/to/backtrader
// BACKTESTING=/path/to/backtesting.py node bench/side-by-side.ts
import { spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { BacktestResults } from '../src/backtest/results.ts'
import { seededRandom } from '../src/base/random.ts'
import { NO_MONEY } from '../src/engine/recovered-money.ts'
import { defineStrategy, type Strategy } from '../src/engine/strategy.ts'
import { openReader } from '../src/journal/reader/reader.ts'
import type { Recovered } from '../src/journal/reader/recovery.ts'
import { openJournal } from '../src/journal/writer/journal.ts'
import { RowKind } from '../src/market/block.ts'
import { LiveBlock } from '../src/market/live-block.ts'
import { Mints } from '../src/market/mints.ts'
import { Limiter } from '../src/orders/plan-limiter.ts'
import { Segment } from '../src/runtime/segment.ts'
import { SimulatedClock } from '../src/simulation/simulated-clock.ts'
import { type TapeItem, TapeSource } from '../src/simulation/tape-source.ts'
import { botSettings, startInput } from '../test/support/engine-rig.ts'
import { keyOf, start } from '../test/support/journal-values.ts'
import { type Figure, isMain, printFigures, summarize, threadMs } from './figure.ts'
import { NextPrintExecutor } from './next-print.ts'
import { inTemporaryFolder } from './temporary-folder.ts'

const ROWS = 50_000
const SMOKE_ROWS = 5_000
const RUNS = 5
const FAST = 20
const SLOW = 50
const LOT = 1_000_000
const FEE = 505_000
const CASH = 1e15
const PYTHON = '/usr/bin/python3'
const STEP_MS = 1_000
const T0 = 1_780_000_000_000

const cross = defineStrategy({
  name: 'cross',
  about: 'Holds a token while the fast average of its price is above the slow one.',
  params: z.object({}),
  keys: ['trades'],
  token: () => ({ prices: new Float64Array(SLOW), count: 0, fast: 0, slow: 0, isAbove: false }),
  start: (_params, bot) => ({
    onTrade(trade, token) {
      const { state } = token
      const { price } = trade
      const count = state.count++
      const at = count % SLOW
      state.fast += price - (count >= FAST ? (state.prices[(count - FAST) % SLOW] as number) : 0)
      state.slow += price - (count >= SLOW ? (state.prices[at] as number) : 0)
      state.prices[at] = price
      if (count < SLOW) return
      const isAbove = state.fast * (SLOW / FAST) > state.slow
      if (isAbove === state.isAbove) return
      state.isAbove = isAbove
      if (isAbove && !token.position) bot.buy(token, { sol: 2, reason: 'above' })
      else if (!isAbove && token.position?.state === 'open') bot.sell(token, { all: true, reason: 'below' })
    },
  }),
})

/** Returns random prices in whole lamports per token, so that every framework computes exactly the same sums. */
function seriesOf(rows: number): number[] {
  const random = seededRandom(11)
  let price = 1_000
  return Array.from({ length: rows }, () => {
    price = Math.min(2_000, Math.max(500, price + random.integer(21) - 10))
    return price
  })
}

async function writeTape(path: string, prices: readonly number[]): Promise<void> {
  const mints = new Mints()
  const token = mints.intern(keyOf(1))
  const journal = openJournal(path, {
    space: { tapeBytes: 0, entryBytes: 0, reserveBytes: 0 },
    onFailure: (error) => {
      throw error
    },
  })
  journal.input(1, T0, start(1))
  const block = new LiveBlock(mints.list, prices.length)
  for (const [row, price] of prices.entries()) {
    const numbers = { price, amount: 1, size: 1e9 / price, marketCap: 0, extra: 0, extra2: 0 }
    block.append(T0 + row * STEP_MS, T0 + row * STEP_MS, RowKind.buy, token, numbers, '', '')
  }
  journal.rows(block, 0, prices.length, 2)
  await journal.close()
}

interface Outcome {
  readonly orders: number
  /** Lamports. */
  readonly equity: number
  readonly seconds: number
}

const NOTHING: Recovered = {
  ...{ money: NO_MONEY, nextSeq: 1, nextReport: 1, untaken: [], orders: [], attempts: [], slots: [], watches: [] },
  ...{ wallets: [], learned: [], lastSegment: 0, lastTime: 0, clean: true },
}

/** Runs Sluice over a journal on disk with the engine, gateway, limiter and results of a backtest. Only the fills
 *  differ: they use the next print, as in the other frameworks. */
function sluice(path: string, prices: readonly number[]): Outcome {
  const began = threadMs()
  const reader = openReader(path)
  const mints = new Mints()
  const clock = new SimulatedClock(T0)
  const priceAfter = (time: number): number | undefined => prices[(time - T0) / STEP_MS + 1]
  const executor = new NextPrintExecutor(clock, { priceAfter, lot: LOT, feeLamports: FEE })
  const results = new BacktestResults(['bench'], { logged: false })
  const limits = { key: 'k', clock, boot: 'b', requestsPerMinute: 1e6, past: 'fresh', write: () => {} } as const
  const limiter = new Limiter({ ...limits, monotonicMs: () => clock.now() })
  const segment = new Segment({
    ...{ journal: results, mints, past: NOTHING, want: () => {} },
    machine: { clock, monotonicMs: () => clock.now(), boot: 'b' },
    strategies: new Map([['cross', cross as unknown as Strategy]]),
    route: () => ({ kind: 'paper', executor, limiter }),
    observe: (block, _from, to) => clock.advanceTo(block.time[to - 1] as number),
    alarm: ({ reason }) => {
      throw new Error(reason)
    },
  })
  segment.begin(startInput([botSettings('cross', { name: 'bench', paperSol: CASH / 1e9 })]), [])
  segment.runner.post({ kind: 'feed', status: 'live', confirmed: ['trades'] })
  const items = function* (): Generator<TapeItem, void, undefined> {
    for (const item of reader.market().items(mints)) if (item.kind === 'rows') yield item
  }
  const tape = new TapeSource(items(), clock)
  tape.start(segment.runner)
  tape.run()
  reader.close()
  const [bot] = results.bots
  const held = bot?.positions.size ?? 0
  const equity = CASH + (bot?.walletLamports ?? 0) + held * LOT * (prices.at(-1) as number)
  return { orders: (bot?.buys ?? 0) + (bot?.sells ?? 0), equity, seconds: (threadMs() - began) / 1000 }
}

/** Runs a Python framework. Returns its outcome, or the reason why the framework cannot run on this machine. */
function python(framework: string, source: string | undefined, series: string): Outcome | string {
  if (source === undefined || !existsSync(join(source, framework)))
    return `skipped: ${framework.toUpperCase()} does not name a checkout`
  const program = fileURLToPath(new URL('./side-by-side.py', import.meta.url))
  const args = [program, framework, source, series, `${LOT}`, `${FEE}`, `${CASH}`]
  const { status, stdout, stderr } = spawnSync(PYTHON, args, { encoding: 'utf8' })
  if (status === 0) return JSON.parse(stdout.trim().split('\n').at(-1) as string) as Outcome
  if (/No module named '(numpy|pandas)'/.test(stderr)) return 'skipped: apt-get install python3-numpy python3-pandas'
  return `skipped: ${stderr.trim().split('\n').at(-1) ?? 'no python3'}`
}

export async function benchSideBySide(smoke = false): Promise<Figure[]> {
  return inTemporaryFolder(async (folder) => {
    const [rows, runs] = smoke ? [SMOKE_ROWS, 1] : [ROWS, RUNS]
    const prices = seriesOf(rows)
    const [tape, series] = [join(folder, 'tape.db'), join(folder, 'prices.csv')]
    await writeTape(tape, prices)
    writeFileSync(series, prices.join('\n'))
    sluice(tape, prices)
    const all = Array.from({ length: runs }, () => sluice(tape, prices))
    const [ours] = all as [Outcome]
    console.error(`the same strategy on ${rows} prints: ${ours.orders} orders, ${ours.equity} lamports in the end`)
    const figure = (name: string, outcomes: readonly Outcome[]): Figure => {
      return {
        name: `side by side: ${name}`,
        unit: 'rows/s',
        ...summarize(outcomes.map(({ seconds }) => rows / seconds)),
      }
    }
    const figures = [figure('Sluice, from disk', all)]
    const { BACKTRADER, BACKTESTING } = process.env
    for (const [name, framework, source] of [
      ['backtrader', 'backtrader', BACKTRADER],
      ['backtesting.py', 'backtesting', BACKTESTING],
    ] as const) {
      const theirs = python(framework, source, series)
      if (typeof theirs === 'string') console.error(`${name}: ${theirs}`)
      else if (theirs.orders !== ours.orders || Math.abs(theirs.equity - ours.equity) > 0.5)
        throw new Error(
          `${name} ends with ${theirs.orders} orders and ${theirs.equity} lamports, unlike Sluice, so the speeds cannot be compared`,
        )
      else figures.push(figure(name, [theirs]))
    }
    return figures
  })
}

if (isMain(import.meta.url)) printFigures(await benchSideBySide(process.argv.includes('--smoke')))
