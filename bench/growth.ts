// Measures what more bots, more tokens, orders and --out add to the processor time of whole `backtest` processes. To
// run it alone: `npx node bench/growth.ts [--pairs N]`.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { writeStrategies } from './backtest.ts'
import { DROP } from './bare/loops.ts'
import { type CommandCost, costOf } from './command.ts'
import { type Figure, isMain, pairsOf, printFigures } from './figure.ts'
import { TOKENS, writeConfig, writeTape } from './tape.ts'
import { inTemporaryFolder } from './temporary-folder.ts'

const ROWS = 1_000_000
const TOKEN_ROWS = 4_000_000
const SMOKE_ROWS = 50_000
/** Rows of the short tape with orders. The strategy orders about a tenth as often as on a tape of TOKEN_ROWS rows,
 *  because its averages first need 50 trades of each token. */
const SHORT_ROWS = 500_000
const PAIRS = 5
const MANY_TOKENS = 50_000
/** In the case with few orders, the strategy trades one of this many tokens. */
const SPARSE = 20
/** Number of tokens of the short tape with --smoke: so few that each token has enough trades for the slower of the two
 *  averages. */
const SMOKE_TOKENS = 200

interface Ground {
  readonly folder: string
  readonly tokenRows: number
  readonly pairs: number
}

async function tapeOf({ folder }: Ground, rows: number, tokens = TOKENS): Promise<string> {
  const path = join(folder, `${rows}-${tokens}.db`)
  if (!existsSync(path)) await writeTape(path, rows, tokens)
  return path
}

/** Compares the processor times of two commands. `goal`: largest accepted ratio of `more` to `less`. */
async function compared(pairs: number, name: string, goal: number, more: () => CommandCost, less: () => CommandCost) {
  const of = (cost: typeof more) => () => ({ processor: cost().processorMs })
  const { processor } = await pairsOf(pairs, of(more), of(less), name)
  return [
    { name: `growth: ${name}, processor`, unit: 'ms', ...processor.ours },
    { name: `growth: ${name}, processor`, unit: 'x', goal, atMost: true, ...processor.ratio },
  ]
}

async function botFigures({ folder, pairs }: Ground, journal: string): Promise<Figure[]> {
  const dips = { strategy: join(folder, 'dip-buyer.ts'), params: { dropPercent: DROP } }
  const withBots = (count: number) => {
    const further = Array.from({ length: count - 1 }, (_, index) => ({ ...dips, name: `bench${index + 2}` }))
    const config = writeConfig(folder, `bots-${count}`, dips, further)
    return () => costOf('backtest', config, '--journal', journal)
  }
  return [
    ...(await compared(pairs, '8 bots, relative to 1 bot', 2.5, withBots(8), withBots(1))),
    ...(await compared(pairs, '64 bots, relative to 1 bot', 12, withBots(64), withBots(1))),
  ]
}

async function tokenFigures(ground: Ground): Promise<Figure[]> {
  const { folder, tokenRows, pairs } = ground
  const dips = { strategy: join(folder, 'dip-buyer.ts'), params: { dropPercent: DROP } }
  const config = writeConfig(folder, 'tokens', dips)
  const [many, few] = [await tapeOf(ground, tokenRows, MANY_TOKENS), await tapeOf(ground, tokenRows)]
  const over = (journal: string) => () => costOf('backtest', config, '--journal', journal)
  return compared(pairs, `${MANY_TOKENS} tokens, relative to ${TOKENS}`, 1.5, over(many), over(few))
}

/** Processor time of two `backtest` commands over one tape, ms: `none` without orders, and `some` with `orders` orders.
 *  `fills`: number of fills of the second command. */
interface OrderRuns {
  readonly none: number
  readonly some: number
  readonly orders: number
  readonly fills: number
}

/** Computes what orders add to a backtest. `each`: time that each further order adds, us. `first`: time that orders add
 *  once in each process, ms, because V8 must compile their code. */
function orderCosts(short: OrderRuns, long: OrderRuns): { each: number; first: number } {
  const [few, many] = [short.some - short.none, long.some - long.none]
  const eachMs = (many - few) / (long.orders - short.orders)
  return { each: eachMs * 1000, first: few - eachMs * short.orders }
}

/** A run of the SMA strategy, which trades one token of `oneIn`; 0: none. */
type Trading = (journal: string, oneIn: number, ...args: string[]) => CommandCost

function orderRuns(trading: Trading, journal: string, oneIn: number): OrderRuns {
  const [none, some] = [trading(journal, 0), trading(journal, oneIn)]
  const { orders, fills } = some.output as { orders: number; fills: number }
  if (orders === 0) throw new Error(`${journal}: the strategy requested no order`)
  return { none: none.processorMs, some: some.processorMs, orders, fills }
}

/** Measures the processor time that orders add to a backtest, and the time that --out adds. The bots have enough money
 *  for every order. */
async function orderFigures(
  { folder, pairs }: Ground,
  short: string,
  long: string,
  journal: string,
): Promise<Figure[]> {
  const trading: Trading = (tape, oneIn, ...args) => {
    const sma = { strategy: join(folder, 'sma.ts'), params: { oneIn } }
    return costOf('backtest', writeConfig(folder, `orders-${oneIn}`, sma), '--journal', tape, ...args)
  }
  const figures: Figure[] = []
  for (const [name, oneIn] of [
    ['dense', 1],
    ['sparse', SPARSE],
  ] as const) {
    let told = ''
    const { each, first } = await pairsOf(
      pairs,
      () => {
        const [few, many] = [orderRuns(trading, short, oneIn), orderRuns(trading, long, oneIn)]
        told = `${few.orders} and ${many.orders} orders, ${few.fills} and ${many.fills} fills`
        return orderCosts(few, many)
      },
      () => ({ each: 1, first: 1 }),
      `orders, ${name}`,
    )
    figures.push(
      { name: `growth: each order, ${name} (${told})`, unit: 'us', goal: 20, atMost: true, ...each.ours },
      { name: `growth: the first orders of a process, ${name}`, unit: 'ms', ...first.ours },
    )
  }
  let number = 0
  const out = (): CommandCost => trading(journal, SPARSE, '--out', join(folder, `out-${number++}`))
  const without = (): CommandCost => trading(journal, SPARSE)
  return [...figures, ...(await compared(pairs, 'with --out, relative to without', 1.5, out, without))]
}

export async function benchGrowth(smoke = false, pairs = PAIRS): Promise<Figure[]> {
  return inTemporaryFolder(async (folder) => {
    writeStrategies(folder)
    const [short, rows, tokenRows] = smoke ? [SMOKE_ROWS / 2, SMOKE_ROWS, SMOKE_ROWS] : [SHORT_ROWS, ROWS, TOKEN_ROWS]
    const ground: Ground = { folder, tokenRows, pairs: smoke ? 1 : pairs }
    const tokens = smoke ? SMOKE_TOKENS : TOKENS
    const tape = (count: number): Promise<string> => tapeOf(ground, count, tokens)
    return [
      ...(await botFigures(ground, await tapeOf(ground, rows))),
      ...(await tokenFigures(ground)),
      ...(await orderFigures(ground, await tape(short), await tape(tokenRows), await tape(rows))),
    ]
  })
}

if (isMain(import.meta.url)) {
  const { values } = parseArgs({
    options: { smoke: { type: 'boolean', default: false }, pairs: { type: 'string', default: `${PAIRS}` } },
  })
  printFigures(await benchGrowth(values.smoke, Number(values.pairs)))
}
