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
const PAIRS = 5
const MANY_TOKENS = 50_000
/** In the case with few orders, the strategy trades one of this many tokens. */
const SPARSE = 20
/** Number of tokens of the short tape with --smoke: so few that each token has enough trades for the slower of the two
 *  averages. */
const SMOKE_TOKENS = 200

interface Ground {
  readonly folder: string
  readonly rows: number
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

/** Measures the processor time that each order adds to a backtest, and the time that --out adds. The bots have enough
 *  money for every order. */
async function orderFigures({ folder, pairs, rows }: Ground, journal: string): Promise<Figure[]> {
  const backtest = (oneIn: number, ...args: string[]): CommandCost => {
    const sma = { strategy: join(folder, 'sma.ts'), params: { oneIn } }
    return costOf('backtest', writeConfig(folder, `orders-${oneIn}`, sma), '--journal', journal, ...args)
  }
  const figures: Figure[] = []
  for (const [name, oneIn] of [
    ['dense', 1],
    ['sparse', SPARSE],
  ] as const) {
    let counts = { orders: 0, fills: 0 }
    const { order } = await pairsOf(
      pairs,
      () => {
        const [none, some] = [backtest(0), backtest(oneIn)]
        counts = some.output as typeof counts
        if (counts.orders === 0) throw new Error(`${name}: the strategy requested no order`)
        return { order: ((some.processorMs - none.processorMs) * 1000) / counts.orders }
      },
      () => ({ order: 1 }),
      `orders, ${name}`,
    )
    const perRows = (counts.orders / rows) * 1000
    const shown = { median: perRows, min: perRows, max: perRows }
    figures.push(
      { name: `growth: orders, ${name}, ${counts.fills} fills`, unit: '/ 1,000 rows', ...shown },
      { name: `growth: time that an order adds, ${name}`, unit: 'us', goal: 20, atMost: true, ...order.ours },
    )
  }
  let number = 0
  const out = (): CommandCost => backtest(SPARSE, '--out', join(folder, `out-${number++}`))
  return [...figures, ...(await compared(pairs, 'with --out, relative to without', 1.5, out, () => backtest(SPARSE)))]
}

export async function benchGrowth(smoke = false, pairs = PAIRS): Promise<Figure[]> {
  return inTemporaryFolder(async (folder) => {
    writeStrategies(folder)
    const [rows, tokenRows] = smoke ? [SMOKE_ROWS, SMOKE_ROWS] : [ROWS, TOKEN_ROWS]
    const ground: Ground = { folder, rows, tokenRows, pairs: smoke ? 1 : pairs }
    const journal = await tapeOf(ground, rows)
    return [
      ...(await botFigures(ground, journal)),
      ...(await tokenFigures(ground)),
      ...(await orderFigures(ground, await tapeOf(ground, rows, smoke ? SMOKE_TOKENS : TOKENS))),
    ]
  })
}

if (isMain(import.meta.url)) {
  const { values } = parseArgs({
    options: { smoke: { type: 'boolean', default: false }, pairs: { type: 'string', default: `${PAIRS}` } },
  })
  printFigures(await benchGrowth(values.smoke, Number(values.pairs)))
}
