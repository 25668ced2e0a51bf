// Measures whole `backtest` processes against processes that do the same work in a bare loop, without a framework. To
// run it alone: `npx node bench/backtest.ts [--pairs N] [CASE...]`.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { openReader } from '../src/journal/reader/reader.ts'
import { Mints } from '../src/market/mints.ts'
import { DROP, type loops } from './bare/loops.ts'
import { writeBare } from './bare/tape.ts'
import { type CommandCost, costOf, costOfScript } from './command.ts'
import { type Figure, isMain, pairsOf, printFigures } from './figure.ts'
import { TOKENS, writeConfig, writeTape } from './tape.ts'
import { inTemporaryFolder } from './temporary-folder.ts'

const BARE = fileURLToPath(new URL('./bare/main.ts', import.meta.url))
const ROWS = 4_000_000
const SMOKE_ROWS = 100_000
/** Number of rows of a tape so short that a backtest over it costs only the fixed cost of a process. */
export const FEW = 1_000
const PAIRS = 5

const TRIVIAL = `import { defineStrategy, z } from 'sluice'
export default defineStrategy({
  name: 'trivial', about: 'Reads every trade.', params: z.object({}), keys: ['trades'],
  start: () => ({ onTrade: (trade) => { if (trade.price < 0) throw new Error('never') } }),
})
`

/** Source of a strategy that trades the crossing of two averages over bars of one trade each. `oneIn`: the strategy
 *  trades one of this many tokens; 0: none. */
const SMA = `import { defineStrategy, sma, z } from 'sluice'
let tokens = 0
export default defineStrategy({
  name: 'sma', about: 'Holds a token while the fast average of its price is above the slow one.',
  params: z.object({ oneIn: z.number().default(0) }), keys: ['trades'],
  bars: { '1 trade': 1 },
  indicators: () => ({ fast: sma('1 trade', 20), slow: sma('1 trade', 50) }),
  token: () => ({ isAbove: false, number: tokens++ }),
  start: ({ oneIn }, bot) => ({
    onBar(_bar, token) {
      const { fast, slow } = token.indicators
      if (fast === undefined || slow === undefined) return
      const { state } = token
      const isAbove = fast > slow
      if (isAbove === state.isAbove) return
      state.isAbove = isAbove
      if (oneIn === 0 || state.number % oneIn !== 0) return
      if (isAbove && !token.position) bot.buy(token, { sol: 0.01, reason: 'the averages crossed' })
      else if (!isAbove && token.position?.state === 'open') bot.sell(token, { all: true, reason: 'they crossed back' })
    },
  }),
})
`

/** Source of a strategy with the same averages, which declares their crossing as a condition of `when`. */
const SMA_WHEN = `import { crosses, defineStrategy, sma, z } from 'sluice'
let crossings = 0
export default defineStrategy({
  name: 'sma-when', about: 'Trades when the averages cross.', params: z.object({}), keys: ['trades'],
  bars: { '1 trade': 1 },
  indicators: () => ({ fast: sma('1 trade', 20), slow: sma('1 trade', 50) }),
  when: ({ fast, slow }) => crosses(fast, slow),
  start: () => ({ onCondition() { crossings++ } }),
})
`

/** The same with the lengths of the averages as params. */
const SMA_SETS = SMA_WHEN.replace(`name: 'sma-when'`, `name: 'sma-sets'`)
  .replace('z.object({})', 'z.object({ fast: z.number().default(20), slow: z.number().default(50) })')
  .replace('() => ({ fast:', '({ fast, slow }) => ({ fast:')
  .replace(`sma('1 trade', 20)`, `sma('1 trade', fast)`)
  .replace(`sma('1 trade', 50)`, `sma('1 trade', slow)`)

/** Source of a strategy that computes the same averages itself, without declared bars. */
const SMA_BY_HAND = `import { defineStrategy, z } from 'sluice'
export default defineStrategy({
  name: 'sma-by-hand', about: 'Computes its averages itself.', params: z.object({}), keys: ['trades'],
  token: () => ({ prices: new Float64Array(50), count: 0, fast: 0, slow: 0, isAbove: false, crossings: 0 }),
  start: () => ({
    onTrade(trade, token) {
      const { price, state } = token
      if (price === undefined || trade.sol < 0.01) return
      const count = state.count++
      state.fast += price - (count >= 20 ? state.prices[(count - 20) % 50] : 0)
      state.slow += price - (count >= 50 ? state.prices[count % 50] : 0)
      state.prices[count % 50] = price
      if (count < 49) return
      const isAbove = state.fast * 2.5 > state.slow
      if (isAbove === state.isAbove) return
      state.isAbove = isAbove
      state.crossings++
    },
  }),
})
`

/** A strategy, and the bare loop that does the same work. `goal`: the smallest accepted ratio of the strategy's rate to
 *  the loop's rate. */
interface Case {
  readonly name: string
  readonly loop: keyof typeof loops
  readonly goal?: number
  readonly params?: object
}

const CASES: readonly Case[] = [
  { name: 'trivial', loop: 'trivial', goal: 0.45 },
  { name: 'sma', loop: 'sma', goal: 0.3 },
  { name: 'sma-when', loop: 'sma', goal: 0.3 },
  { name: 'sma-by-hand', loop: 'sma' },
  { name: 'dip-buyer', loop: 'dip', goal: 0.25, params: { dropPercent: DROP } },
]

/** Writes the strategies of the benches into a folder. */
export function writeStrategies(folder: string): void {
  writeFileSync(join(folder, 'trivial.ts'), TRIVIAL)
  writeFileSync(join(folder, 'sma.ts'), SMA)
  writeFileSync(join(folder, 'sma-when.ts'), SMA_WHEN)
  writeFileSync(join(folder, 'sma-sets.ts'), SMA_SETS)
  writeFileSync(join(folder, 'sma-by-hand.ts'), SMA_BY_HAND)
  // Copies the shipped strategy, with a schema that also accepts `DROP`, a fall that no price can reach.
  const dips = fileURLToPath(new URL('../strategies/dip-buyer.ts', import.meta.url))
  writeFileSync(join(folder, 'dip-buyer.ts'), readFileSync(dips, 'utf8').replace('max(90)', `max(${DROP + 100})`))
}

export interface Tape {
  readonly journal: string
  readonly bare: string
}

/** Writes a tape twice, as a journal and as a file of bare columns, unless the folder already contains both. Returns
 *  the paths. */
export async function tapeOf(folder: string, rows: number, tokens: number): Promise<Tape> {
  const tape = { journal: join(folder, `${rows}-${tokens}.db`), bare: join(folder, `${rows}-${tokens}.columns`) }
  if (existsSync(tape.bare)) return tape
  await writeTape(tape.journal, rows, tokens)
  const reader = openReader(tape.journal)
  writeBare(tape.bare, reader.blocks(new Mints()))
  reader.close()
  return tape
}

/** Computes figures from two runs of the same program: `many` over `rows` rows, `few` over `FEW` rows. `rate`: rows per
 *  second of processor time, without the fixed cost of a process. */
function figuresOf(rows: number, many: CommandCost, few: CommandCost) {
  return {
    rate: ((rows - FEW) / (many.processorMs - few.processorMs)) * 1000,
    processor: many.processorMs,
    wall: many.wallMs,
    fixed: few.processorMs,
    fixedWall: few.wallMs,
  }
}

async function measured(
  { name, loop, goal, params }: Case,
  {
    folder,
    rows,
    tokens,
    few,
    many,
    pairs,
  }: { folder: string; rows: number; tokens: number; few: Tape; many: Tape; pairs: number },
): Promise<Figure[]> {
  const config = writeConfig(folder, name, { strategy: join(folder, `${name}.ts`), params })
  const what = `backtest: ${name}, ${tokens === 1 ? '1 token' : `${tokens} tokens`}`
  const ours = ({ journal }: Tape): CommandCost => costOf('backtest', config, '--journal', journal)
  const bare = (of: keyof typeof loops, tape: Tape): CommandCost => costOfScript(BARE, of, tape.bare, `${tokens}`)
  const found = await pairsOf(
    pairs,
    () => figuresOf(rows, ours(many), ours(few)),
    () => figuresOf(rows, bare(loop, many), bare(loop, few)),
    what,
  )
  return [
    { name: `${what}, bare loop without its fixed cost`, unit: 'rows/s', ...found.rate.bare },
    { name: `${what}, without the fixed cost`, unit: 'rows/s', ...found.rate.ours },
    { name: `${what}, without the fixed cost`, unit: 'x bare', ...(goal && { goal }), ...found.rate.ratio },
    { name: `${what}, processor time of the process`, unit: 'ms', ...found.processor.ours },
    { name: `${what}, processor time of the process`, unit: 'x bare', ...found.processor.ratio },
    { name: `${what}, duration of the process`, unit: 'ms', ...found.wall.ours },
    { name: `${what}, ${FEW} rows, processor time`, unit: 'ms', ...found.fixed.ours },
    { name: `${what}, ${FEW} rows, duration`, unit: 'ms', ...found.fixedWall.ours },
  ]
}

export async function benchBacktest(smoke = false, cases = CASES, pairs = PAIRS): Promise<Figure[]> {
  return inTemporaryFolder(async (folder) => {
    const rows = smoke ? SMOKE_ROWS : ROWS
    writeStrategies(folder)
    const figures: Figure[] = []
    for (const tokens of [1, TOKENS]) {
      const [few, many] = [await tapeOf(folder, FEW, tokens), await tapeOf(folder, rows, tokens)]
      for (const one of cases)
        figures.push(...(await measured(one, { folder, rows, tokens, few, many, pairs: smoke ? 1 : pairs })))
    }
    return figures
  })
}

if (isMain(import.meta.url)) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { smoke: { type: 'boolean', default: false }, pairs: { type: 'string', default: `${PAIRS}` } },
  })
  const cases = CASES.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
  printFigures(await benchBacktest(values.smoke, cases, Number(values.pairs)))
}
