// Backtests from disk, compared with a bare loop over the same columns. Alone: `npx node bench/backtest.ts`.
import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { type Backtest, runBacktest } from '../src/backtest/run.ts'
import { seededRandom } from '../src/base/random.ts'
import type { Config } from '../src/config/config.ts'
import { loadConfig } from '../src/config/load.ts'
import { openReader } from '../src/journal/reader/reader.ts'
import { openTape } from '../src/journal/tape-files.ts'
import { openJournal } from '../src/journal/writer/journal.ts'
import { RowKind } from '../src/market/block.ts'
import { LiveBlock } from '../src/market/live-block.ts'
import { Mints } from '../src/market/mints.ts'
import { encodeBase58 } from '../src/solana/base58.ts'
import { start } from '../test/support/journal-values.ts'
import { type Figure, isMain, pairsOf, printFigures, threadMs } from './figure.ts'
import { inTemporaryFolder } from './temporary-folder.ts'

export const TOKENS = 2_000
export const ROWS = 32_768
const BLOCKS = 48
const SMOKE_BLOCKS = 4
const RUNS = 5

const TRIVIAL = `import { defineStrategy, z } from 'sluice'
export default defineStrategy({
  name: 'trivial', about: 'looks at every trade', params: z.object({}), keys: ['trades'],
  start: () => ({ onTrade: (trade) => { if (trade.price < 0) throw new Error('never') } }),
})
`

/** A market of 2,000 tokens with realistic sizes and noise, in full blocks, like an imported or busy recording. */
export async function writeTape(path: string, blocks: number): Promise<void> {
  const random = seededRandom(7)
  const mints = new Mints()
  const prices = Float64Array.from({ length: TOKENS }, () => 1e-7 * (1 + random.next()))
  for (let token = 0; token < TOKENS; token++)
    mints.intern(encodeBase58(Uint8Array.from({ length: 32 }, () => random.integer(256))))
  const trader = encodeBase58(new Uint8Array(32).fill(9))
  const journal = openJournal(path, {
    space: { tapeBytes: 0, entryBytes: 0, reserveBytes: 0 },
    onFailure: (error) => {
      throw error
    },
  })
  const first = 1_780_000_000_000
  journal.input(1, first, start(1))
  journal.input(2, first, { kind: 'feed', status: 'live', confirmed: ['trades', 'newTokens', 'priceUpdates'] })
  for (let index = 0; index < blocks; index++) {
    const block = new LiveBlock(mints.list, ROWS)
    for (let row = 0; row < ROWS; row++) {
      const token = random.integer(TOKENS)
      prices[token] = Math.min(1e-6, Math.max(1e-8, (prices[token] as number) * (0.98 + 0.04 * random.next())))
      const price = prices[token] as number
      const sol = random.next() < 0.3 ? 0.005 : random.next()
      const time = first + index * ROWS + row
      const numbers = { price, amount: sol, size: sol / price, marketCap: price * 1e9, extra: 5, extra2: 0 }
      const kind = random.next() < 0.55 ? RowKind.buy : RowKind.sell
      block.append(time, time - 100, kind, token, numbers, '', trader)
    }
    journal.rows(block, 0, ROWS, 3 + index * ROWS)
    journal.commit(() => {})
  }
  await journal.close()
}

const BARE = ['kind', 'token', 'time', 'price', 'amount', 'size'] as const

/** The six columns that a backtest of a trade strategy reads, as blobs in place. */
export function writeBare(path: string, tape: string): void {
  const reader = openReader(tape)
  const db = new Database(path)
  db.pragma('page_size = 8192')
  db.exec(`CREATE TABLE block (${BARE.join(', ')})`)
  const insert = db.prepare(`INSERT INTO block VALUES (${BARE.map(() => '?').join(', ')})`)
  for (const block of reader.blocks(new Mints()))
    insert.run(...BARE.map((name) => Buffer.from(block[name].buffer, block[name].byteOffset, block[name].byteLength)))
  db.close()
  reader.close()
}

/** Block by block, as the bare loop reads it. */
export interface BareColumns {
  readonly kind: Uint8Array
  readonly token: Uint32Array
  readonly time: Float64Array
  readonly price: Float64Array
  readonly amount: Float64Array
  readonly size: Float64Array
}

export function* bareColumns(path: string): Generator<BareColumns, void, undefined> {
  const db = new Database(path, { readonly: true })
  const all = db
    .prepare(`SELECT ${BARE.join(', ')} FROM block`)
    .raw()
    .iterate() as Iterable<Buffer[]>
  for (const columns of all) {
    const [kind, token, time, price, amount, size] = columns.map(({ buffer, byteOffset, byteLength }) =>
      buffer.slice(byteOffset, byteOffset + byteLength),
    ) as [ArrayBuffer, ArrayBuffer, ArrayBuffer, ArrayBuffer, ArrayBuffer, ArrayBuffer]
    yield {
      kind: new Uint8Array(kind),
      token: new Uint32Array(token),
      time: new Float64Array(time),
      price: new Float64Array(price),
      amount: new Float64Array(amount),
      size: new Float64Array(size),
    }
  }
  db.close()
}

/** Rows per second: a fresh object per row, from columns in SQLite. */
function bareRate(path: string, rows: number): number {
  const began = threadMs()
  let sum = 0
  for (const { kind, token, time, price, amount, size } of bareColumns(path))
    for (let row = 0; row < token.length; row++) {
      const event = { kind: kind[row], token: token[row], time: time[row] as number, price: price[row] as number }
      if (event.price > 0) sum += event.time + (amount[row] as number) / (size[row] as number)
    }
  return sum > 0 ? (rows / (threadMs() - began)) * 1000 : 0
}

export function backtestRate(config: Config, path: string, note: (backtest: Backtest) => void): number {
  const began = threadMs()
  const tape = openTape([path])
  const backtest = runBacktest(config, tape.market, { partial: false })
  tape.close()
  note(backtest)
  return (backtest.rows / (threadMs() - began)) * 1000
}

export async function configOf(folder: string, bot: object): Promise<Config> {
  const file = join(folder, 'bench.yaml')
  const service = { baseUrl: 'https://service.example/api', wsUrl: 'wss://service.example/api/data' }
  const exits = { stopLossPercent: 20, takeProfitPercent: 30, maxHoldSeconds: 60 }
  writeFileSync(file, JSON.stringify({ service, bots: [{ name: 'bench', exits, ...bot }] }))
  const loaded = await loadConfig([file])
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors))
  return loaded.config
}

export async function benchBacktest(smoke = false): Promise<Figure[]> {
  return inTemporaryFolder(async (folder) => {
    const [blocks, runs] = smoke ? [SMOKE_BLOCKS, 1] : [BLOCKS, RUNS]
    const [tape, bare] = [join(folder, 'tape.db'), join(folder, 'bare.db')]
    await writeTape(tape, blocks)
    writeBare(bare, tape)
    writeFileSync(join(folder, 'trivial.ts'), TRIVIAL)
    copyFileSync(fileURLToPath(new URL('../strategies/dip-buyer.ts', import.meta.url)), join(folder, 'dip-buyer.ts'))
    const figures: Figure[] = []
    for (const [name, bot, goals] of [
      ['trivial strategy', { strategy: join(folder, 'trivial.ts') }, { rate: 20e6, ratio: 0.3 }],
      [
        'dip-buyer that may not buy',
        { strategy: join(folder, 'dip-buyer.ts'), limits: { maxSolPerOrder: 0.001 } },
        { rate: 10e6 },
      ],
      ['dip-buyer', { strategy: join(folder, 'dip-buyer.ts') }, {}],
    ] as const) {
      const config = await configOf(folder, bot)
      let orders = 0
      const { rate } = await pairsOf(
        runs,
        () => ({ rate: backtestRate(config, tape, ({ bots }) => (orders = bots[0]?.result.orders ?? 0)) }),
        () => ({ rate: bareRate(bare, blocks * ROWS) }),
      )
      const goal = 'rate' in goals ? { goal: goals.rate } : {}
      if (figures.length === 0) figures.push({ name: 'backtest: bare loop from disk', unit: 'rows/s', ...rate.bare })
      figures.push({ name: `backtest: ${name}`, unit: 'rows/s', ...goal, ...rate.ours })
      figures.push({
        name: `backtest: ${name}`,
        unit: 'x bare',
        ...('ratio' in goals && { goal: goals.ratio }),
        ...rate.ratio,
      })
      const density = (orders / blocks / ROWS) * 1e6
      if (orders > 0)
        figures.push({
          name: `backtest: ${name}, orders`,
          unit: '/ 1 M rows',
          median: density,
          min: density,
          max: density,
        })
    }
    return figures
  })
}

if (isMain(import.meta.url)) printFigures(await benchBacktest(process.argv.includes('--smoke')))
