// Measures the journal against code that does the same work with better-sqlite3 alone. To run it alone: `npx node
// bench/journal.ts`.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { lamports } from '../src/base/units.ts'
import type { Order } from '../src/engine/order.ts'
import { openReader } from '../src/journal/reader/reader.ts'
import type { OpenJournal } from '../src/journal/writer/gathering-journal.ts'
import { openJournal } from '../src/journal/writer/journal.ts'
import { startJournalThread } from '../src/journal/writer/journal-thread.ts'
import { RowKind } from '../src/market/block.ts'
import { LiveBlock } from '../src/market/live-block.ts'
import { Mints } from '../src/market/mints.ts'
import type { Attempt } from '../src/orders/attempt.ts'
import { encodeBase58 } from '../src/solana/base58.ts'
import { type Figure, isMain, printFigures, summarize } from './figure.ts'

const ROUNDS = 5
const BLOCKS = 8
const ROWS = 32_768
const MINTS = 2000
const TRADERS = 3000
const COMMITS = 300

const options = {
  space: { tapeBytes: 0, entryBytes: 0, reserveBytes: 0 },
  onFailure: (error: Error) => {
    throw error
  },
}

export async function benchJournal(smoke = false): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  try {
    const figures: Figure[] = []
    for (const signed of [true, false]) figures.push(...(await tapeFigures(folder, signed, smoke ? 1 : ROUNDS)))
    figures.push(...(await commitFigures(folder, smoke ? 10 : COMMITS)))
    return figures
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function tapeFigures(folder: string, signed: boolean, rounds: number): Promise<Figure[]> {
  const suffix = signed ? 'with signature' : 'without signature'
  const blocks = marketBlocks(signed)
  const times = { append: [], thread: [], main: [], bare: [], scan: [], bareScan: [] } as Record<string, number[]>
  let bytes = 0
  for (let round = 0; round < rounds; round++) {
    const path = join(folder, `tape-${signed}-${round}.db`)
    times.append?.push(await append(openJournal(path, options), blocks))
    bytes = statSync(path).size / (BLOCKS * ROWS)
    const thread = await startJournalThread(join(folder, `thread-${signed}-${round}.db`), options)
    const began = performance.now()
    appendRows(thread, blocks)
    times.main?.push(((performance.now() - began) / BLOCKS / ROWS) * 1000)
    await new Promise<void>((resolve) => thread.commit(resolve))
    times.thread?.push(rate(began))
    await thread.close()
    const barePath = join(folder, `bare-${signed}-${round}.db`)
    times.bare?.push(bareAppend(barePath, blocks, signed))
    times.scan?.push(scan(path))
    times.bareScan?.push(bareScan(barePath))
  }
  const of = (name: string, key: string, unit = 'rows/s', goal: Partial<Figure> = {}) =>
    figure(`journal: ${name}, ${suffix}`, unit, times[key] ?? [], goal)
  return [
    of('append', 'append'),
    of('bare append', 'bare'),
    figure(`journal: append, relative to bare, ${suffix}`, 'x', ratios(times.append, times.bare), { goal: 0.6 }),
    of('append through the thread', 'thread'),
    of('main thread', 'main', 'us/row', { goal: 0.1, atMost: true }),
    figure(`journal: size, ${suffix}`, 'bytes/row', [bytes], { goal: signed ? 140 : 70, atMost: true }),
    of('scan of five columns', 'scan'),
    of('bare scan of five columns', 'bareScan'),
    figure(`journal: scan, relative to bare, ${suffix}`, 'x', ratios(times.scan, times.bareScan), { goal: 0.3 }),
  ]
}

function marketBlocks(signed: boolean): LiveBlock[] {
  const mints = new Mints()
  const traders = Array.from({ length: TRADERS }, () => encodeBase58(randomBytes(32)))
  for (let mint = 0; mint < MINTS; mint++) mints.intern(encodeBase58(randomBytes(32)))
  return Array.from({ length: BLOCKS }, (_, index) => {
    const block = new LiveBlock(mints.list, ROWS)
    for (let row = 0; row < ROWS; row++) {
      const time = 1_780_000_000_000 + (index * ROWS + row) * 5
      const [price, amount] = [Math.random() * 1e-7, Math.random()]
      const numbers = {
        price,
        amount,
        size: amount / price,
        marketCap: price * 1e9,
        extra: 5 + (row % 4) * 5,
        extra2: 1e-4,
      }
      const signature = signed ? encodeBase58(randomBytes(64)) : ''
      const trader = traders[Math.floor(Math.random() * TRADERS)] as string
      const kind = row % 2 === 0 ? RowKind.buy : RowKind.sell
      block.append(time, time - 100, kind, Math.floor(Math.random() * MINTS), numbers, signature, trader)
    }
    return block
  })
}

/** Appends row by row, as a busy feed and its runner deliver the rows. */
function appendRows(journal: OpenJournal, blocks: readonly LiveBlock[]): void {
  let seq = 1
  for (const block of blocks) for (let row = 0; row < ROWS; row++) journal.rows(block, row, row + 1, seq++)
}

async function append(journal: OpenJournal, blocks: readonly LiveBlock[]): Promise<number> {
  const began = performance.now()
  appendRows(journal, blocks)
  journal.commit(() => {})
  const result = rate(began)
  await journal.close()
  return result
}

/** Number of characters of a signature. */
const SIGNATURE = 88
const DOUBLES = ['time', 'stamp', 'price', 'amount', 'size', 'marketCap', 'extra', 'extra2'] as const

/** Appends one blob per column and block. Mints and traders are numbered per block, texts are unchanged; nothing is
 *  decoded or checked. Each column is copied with one call, and tokens are numbered in an array, because both are
 *  faster than a loop over rows. */
function bareAppend(path: string, blocks: readonly LiveBlock[], signed: boolean): number {
  const db = new Database(path)
  db.pragma('page_size = 8192')
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = FULL')
  db.exec(`CREATE TABLE block (kind, token, mints, ${DOUBLES.join(', ')}, trader, traders, signature)`)
  const insert = db.prepare(`INSERT INTO block VALUES (${Array(14).fill('?').join(', ')})`)
  const began = performance.now()
  for (const block of blocks) {
    const numbers = new Int32Array(MINTS).fill(-1)
    const mints: string[] = []
    const traders = new Map<string, number>()
    const token = new Uint16Array(ROWS)
    const trader = new Uint16Array(ROWS)
    const signature = Buffer.alloc(signed ? ROWS * SIGNATURE : 0)
    for (let row = 0; row < ROWS; row++) {
      const number = block.token[row] as number
      if (numbers[number] === -1) numbers[number] = mints.push(block.mints[number] as string) - 1
      token[row] = numbers[number] as number
      trader[row] = numberOf(traders, block.texts.trader(row))
      if (signed) block.texts.signatureInto(row, signature.subarray(row * SIGNATURE, (row + 1) * SIGNATURE))
    }
    insert.run(
      ...[Uint8Array.from(block.kind), asBytes(token), mints.join()],
      ...DOUBLES.map((name) => asBytes(block[name].slice(0, ROWS))),
      ...[asBytes(trader), [...traders.keys()].join(), signature],
    )
  }
  const result = rate(began)
  db.pragma('wal_checkpoint(TRUNCATE)')
  db.close()
  return result
}

function numberOf(numbers: Map<string, number>, text: string): number {
  const known = numbers.get(text)
  if (known !== undefined) return known
  numbers.set(text, numbers.size)
  return numbers.size - 1
}

function asBytes(view: ArrayBufferView): Buffer {
  return Buffer.from(view.buffer, view.byteOffset, view.byteLength)
}

/** Reads five columns of all rows, and sums price x amount of one half of the tokens. Returns the rows per second. */
function scan(path: string): number {
  const reader = openReader(path)
  const began = performance.now()
  let sum = 0
  for (const { price, token, amount, length } of reader.blocks(new Mints()))
    for (let row = 0; row < length; row++)
      if ((token[row] as number) < MINTS / 2) sum += (price[row] as number) * (amount[row] as number)
  const result = rate(began)
  reader.close()
  if (!(sum > 0)) throw new Error('nothing was read')
  return result
}

function bareScan(path: string): number {
  const db = new Database(path, { readonly: true })
  db.pragma('mmap_size = 2147418112')
  const began = performance.now()
  let sum = 0
  for (const row of db.prepare('SELECT kind, token, time, price, amount FROM block').raw().iterate()) {
    const [, token, , price, amount] = row as Buffer[]
    const tokens = new Uint16Array((token as Buffer).buffer)
    const [prices, amounts] = [price, amount].map((bytes) => new Float64Array((bytes as Buffer).buffer)) as [
      Float64Array,
      Float64Array,
    ]
    for (let at = 0; at < ROWS; at++)
      if ((tokens[at] as number) < MINTS / 2) sum += (prices[at] as number) * (amounts[at] as number)
  }
  const result = rate(began)
  db.close()
  if (!(sum > 0)) throw new Error('nothing was read')
  return result
}

/** Measures the durable commit that must precede the POST of an order. It contains 30 rows, the order, its attempt, a
 *  report and a request of the plan. Compares it with a bare durable commit of one row. */
async function commitFigures(folder: string, commits: number): Promise<Figure[]> {
  const journal = await startJournalThread(join(folder, 'commits.db'), options)
  const db = new Database(join(folder, 'bare-commits.db'))
  db.pragma('page_size = 8192')
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = FULL')
  db.exec('CREATE TABLE row (id INTEGER PRIMARY KEY, json TEXT)')
  const insert = db.prepare('INSERT INTO row (json) VALUES (?)')
  const [block] = marketBlocks(true)
  const thread: number[] = []
  const bare: number[] = []
  for (let number = 1; number <= commits; number++) {
    journal.rows(block as LiveBlock, number * 30, number * 30 + 30, number * 30)
    await sleep(10)
    const began = performance.now()
    writeOrder(journal, number, number * 30 + 29)
    await new Promise<void>((resolve) => journal.commit(resolve))
    thread.push((performance.now() - began) * 1000)
    await sleep(10)
    const bareBegan = performance.now()
    insert.run('x'.repeat(400))
    bare.push((performance.now() - bareBegan) * 1000)
  }
  await journal.close()
  db.close()
  return [
    figure('journal: commit of an order through the thread', 'us', thread),
    figure('journal: bare FULL commit of a row', 'us', bare),
  ]
}

function writeOrder(journal: OpenJournal, number: number, seq: number): void {
  const about = {
    account: 'live|host|cluster|wallet',
    bot: 'dips',
    mint: '6Fzphy2B4JTUteQ8jGtj9Tc9anpttVXY3CRgGuJTpump',
  }
  const order: Order = {
    ...{ id: `o${number}`, seq, time: seq, ...about, side: 'buy', class: 'entry', price: 1e-7, reason: 'fell 15 %' },
    ...{
      size: { kind: 'sol', lamports: lamports(5e7) },
      slippagePercents: [5],
      priorityFeeLamports: null,
      priorityFeeLadder: [],
      repeatMs: null,
    },
    ...{ reserveLamports: lamports(6e7), notAfter: seq + 2000 },
  }
  const attempt: Attempt = {
    ...{ id: `o${number}.1`, orderId: order.id, ...about, executor: 'cloud', side: 'buy', class: 'entry' },
    ...{ size: order.size, slippagePercent: 5, priorityFeeLamports: null, price: 1e-7, armedAt: seq },
    ...{ baseline: null, state: 'armed', signature: '', code: '' },
  }
  journal.output(seq, seq, 0, { kind: 'order', order })
  journal.write({ kind: 'slot', slot: { key: 'k', id: number, boot: 'b', takenAt: BigInt(seq), doneAt: null } })
  journal.write({ kind: 'attempt', attempt })
  const report = { orderId: order.id, attemptId: attempt.id, state: 'working', code: '', reason: '' } as const
  journal.write({ kind: 'report', id: number, report })
}

function rate(began: number): number {
  return ((BLOCKS * ROWS) / (performance.now() - began)) * 1000
}

function ratios(ours: number[] = [], bare: number[] = []): number[] {
  return ours.map((value, round) => value / (bare[round] as number))
}

function figure(name: string, unit: string, values: readonly number[], goal: Partial<Figure> = {}): Figure {
  return { name, unit, ...summarize(values), ...goal }
}

if (isMain(import.meta.url)) printFigures(await benchJournal())
