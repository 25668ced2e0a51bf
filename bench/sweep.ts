// Measures a sweep in two ways: whole `sweep` processes against a bare loop over the same columns, and several sets of
// params in one engine against one backtest for each set. To run it alone: `npx node bench/sweep.ts [--pairs N]`.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { runBacktest } from '../src/backtest/run.ts'
import { paramsOf, runSets, type SweepGround, setsAnEngine } from '../src/backtest/sweep/run-sets.ts'
import type { SweepSet } from '../src/backtest/sweep/sweep.ts'
import { openReader } from '../src/journal/reader/reader.ts'
import { FEW, type Tape, tapeOf, writeStrategies } from './backtest.ts'
import { DROP, FASTS, SLOWS } from './bare/loops.ts'
import { type CommandCost, costOf, costOfScript } from './command.ts'
import { type Figure, isMain, pairs, pairsOf, printFigures, threadMs } from './figure.ts'
import { configOf, TOKENS, writeConfig } from './tape.ts'
import { inTemporaryFolder } from './temporary-folder.ts'

const BARE = fileURLToPath(new URL('./bare/main.ts', import.meta.url))
const SETS = 64
/** Number of param sets that also run as single backtests. The time of all `SETS` sets is extrapolated from these. */
const SINGLES = 8
const ROWS = 4_000_000
/** Number of rows for param sets that make orders, because such runs take much longer. */
const ORDER_ROWS = 1_000_000
const SMOKE_ROWS = 32_768
const PAIRS = 3
const THREADS = 2

/** A swept strategy, its ranges, and the bare loop that does the same work. */
interface Case {
  readonly name: string
  readonly loop: 'sweep-sma' | 'sweep-dip'
  readonly ranges: readonly string[]
}

const CASES: readonly Case[] = [
  { name: 'sma-sets', loop: 'sweep-sma', ranges: [rangeOf('fast', FASTS), rangeOf('slow', SLOWS)] },
  { name: 'dip-buyer', loop: 'sweep-dip', ranges: [`dropPercent=${DROP}:${DROP + SETS - 1}:1`] },
]

function rangeOf(param: string, values: readonly number[]): string {
  const [first = 0, second = 0] = values
  return `${param}=${first}:${values.at(-1)}:${second - first}`
}

/** Figures of whole `sweep` processes over `rows` rows, with `SETS` param sets that never make an order. */
export async function commandFigures(folder: string, rows: number, runs: number): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const one of CASES) figures.push(...(await caseFigures(one, folder, rows, runs)))
  return figures
}

async function caseFigures({ name, loop, ranges }: Case, folder: string, rows: number, runs: number) {
  const [few, many] = [await tapeOf(folder, FEW, TOKENS), await tapeOf(folder, rows, TOKENS)]
  const config = writeConfig(folder, `sweep-${name}`, { strategy: join(folder, `${name}.ts`) })
  const ranged = ranges.flatMap((range) => ['--range', range])
  const what = `sweep: ${name}, ${SETS} sets, ${rows / 1e6} M rows`
  const ours = ({ journal }: Tape, threads: number): CommandCost =>
    costOf('sweep', config, '--journal', journal, ...ranged, '--jobs', `${threads}`)
  const bare = ({ bare: path }: Tape, threads: number): CommandCost =>
    costOfScript(BARE, loop, path, `${TOKENS}`, `${SETS}`, `${threads}`)
  const of = (cost: typeof ours | typeof bare) => () => {
    const [start, one, several] = [cost(few, 1), cost(many, 1), cost(many, THREADS)]
    return {
      rate: (((rows - FEW) * SETS) / (one.processorMs - start.processorMs)) * 1000,
      processor: one.processorMs,
      wall: one.wallMs,
      gain: one.wallMs / several.wallMs,
      more: several.processorMs / one.processorMs,
    }
  }
  const found = await pairsOf(runs, of(ours), of(bare), what)
  return [
    { name: `${what}, bare loop without its fixed cost`, unit: 'rows x sets/s', ...found.rate.bare },
    { name: `${what}, without the fixed cost`, unit: 'rows x sets/s', ...found.rate.ours },
    { name: `${what}, without the fixed cost`, unit: 'x bare', goal: 0.35, ...found.rate.ratio },
    { name: `${what}, processor time of one thread`, unit: 'ms', ...found.processor.ours },
    { name: `${what}, duration with one thread`, unit: 'ms', ...found.wall.ours },
    { name: `${what}, processor time of ${THREADS} threads`, unit: 'x one', ...found.more.ours },
    { name: `${what}, processor time of ${THREADS} threads, bare loop`, unit: 'x one', ...found.more.bare },
    { name: `${what}, speedup by ${THREADS} threads, bare loop`, unit: 'x', ...found.gain.bare },
    { name: `${what}, speedup by ${THREADS} threads`, unit: 'x', ...found.gain.ours },
    {
      name: `${what}, speedup by ${THREADS} threads`,
      unit: 'x bare',
      goal: 0.9,
      ...found.gain.ratio,
    },
  ]
}

/** Returns the processor time, ms, of one backtest for each param set. Each backtest reads the tape from disk. */
function singlesMs({ config, bot }: SweepGround, sets: readonly SweepSet[], journal: string): number {
  const began = threadMs()
  for (const { params } of sets) {
    const reader = openReader(journal)
    runBacktest({ ...config, bots: [{ ...bot, params }] }, reader.market(), { partial: true })
    reader.close()
  }
  return threadMs() - began
}

/** Returns the processor time, ms, of all param sets if the param sets run in as few engines as in a sweep. */
function setsMs(ground: SweepGround, sets: readonly SweepSet[], journal: string): number {
  const began = threadMs()
  const reader = openReader(journal)
  const size = setsAnEngine(ground.bot, sets)
  for (let from = 0; from < sets.length; from += size) runSets(ground, sets.slice(from, from + size), reader.market())
  reader.close()
  return threadMs() - began
}

/** Figures for param sets that make orders. All of them run in this process. */
async function orderFigures(folder: string, rows: number, runs: number): Promise<Figure[]> {
  const { journal } = await tapeOf(folder, rows, TOKENS)
  const config = await configOf(writeConfig(folder, 'orders', { strategy: join(folder, 'dip-buyer.ts') }))
  const ground: SweepGround = { config, bot: config.bots[0] as SweepGround['bot'], splitRow: undefined }
  const sets = Array.from({ length: SETS }, (_, index) => ({
    set: index + 1,
    params: paramsOf(ground.bot, { dropPercent: 10 + index / 2 }) as SweepSet['params'],
  }))
  // Of every eight neighbouring param sets, only the middle one is backtested alone, because its number of orders is
  // about the average of the eight.
  const some = sets.filter((_set, index) => index % (SETS / SINGLES) === SETS / SINGLES / 2)
  const what = `sweep: ${SETS} sets with orders, ${rows / 1e6} M rows`
  const found = await pairs(
    runs,
    () => setsMs(ground, sets, journal),
    () => singlesMs(ground, some, journal) * (SETS / SINGLES),
    what,
  )
  return [
    { name: `${what}, single backtests`, unit: 'ms', ...found.bare },
    { name: `${what}, one core`, unit: 'ms', ...found.ours },
    { name: `${what}, one core`, unit: 'x singles', goal: 0.5, atMost: true, ...found.ratio },
  ]
}

export async function benchSweep(smoke = false, runs = PAIRS): Promise<Figure[]> {
  return inTemporaryFolder(async (folder) => {
    writeStrategies(folder)
    const [rows, orderRows, taken] = smoke ? [SMOKE_ROWS, SMOKE_ROWS, 1] : [ROWS, ORDER_ROWS, runs]
    return [...(await commandFigures(folder, rows, taken)), ...(await orderFigures(folder, orderRows, taken))]
  })
}

if (isMain(import.meta.url)) {
  const { values } = parseArgs({
    options: { smoke: { type: 'boolean', default: false }, pairs: { type: 'string', default: `${PAIRS}` } },
  })
  printFigures(await benchSweep(values.smoke, Number(values.pairs)))
}
