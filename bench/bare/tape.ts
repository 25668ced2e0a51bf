// A file with the columns that a backtest reads if its strategy uses trades only. The loops without a framework read
// this file. It contains the rows of a journal without any encoding, and is read with the journal's page size and
// memory map.
import Database from 'better-sqlite3'
import type { Block } from '../../src/market/block.ts'

const COLUMNS = ['kind', 'token', 'time', 'price', 'amount', 'size'] as const
const PAGE_BYTES = 8192
const MAPPED_BYTES = 2 ** 31 - 65536
const WINDOW_BYTES = 8 * 2 ** 20

export interface BareBlock {
  readonly kind: Uint8Array
  readonly token: Uint32Array
  readonly time: Float64Array
  readonly price: Float64Array
  readonly amount: Float64Array
  readonly size: Float64Array
}

export function writeBare(path: string, blocks: Iterable<Block>): void {
  const db = new Database(path)
  db.pragma(`page_size = ${PAGE_BYTES}`)
  db.pragma('synchronous = OFF')
  db.exec(`CREATE TABLE block (number INTEGER PRIMARY KEY, ${COLUMNS.join(', ')})`)
  const insert = db.prepare(`INSERT INTO block (${COLUMNS.join(', ')}) VALUES (${COLUMNS.map(() => '?').join(', ')})`)
  for (const block of blocks)
    insert.run(
      ...COLUMNS.map((name) => Buffer.from(block[name].buffer, block[name].byteOffset, block[name].byteLength)),
    )
  db.close()
}

/** Yields the blocks of the file. The columns of a block are the memory that SQLite's binding has filled, without a
 *  further copy. */
export function* bareBlocks(path: string): Generator<BareBlock, void, undefined> {
  const db = new Database(path, { readonly: true })
  db.pragma(`mmap_size = ${MAPPED_BYTES}`)
  db.exec('BEGIN')
  const next = db.prepare<[number], Buffer[]>(`SELECT ${COLUMNS.join(', ')} FROM block WHERE number = ?`).raw()
  let bytes = 0
  for (let number = 1; ; number++) {
    const columns = next.get(number)
    if (columns === undefined) break
    for (const { byteLength } of columns) bytes += byteLength
    if (bytes >= WINDOW_BYTES) {
      bytes = 0
      db.pragma('mmap_size = 0')
      db.pragma(`mmap_size = ${MAPPED_BYTES}`)
    }
    const [kind, token, time, price, amount, size] = columns.map(memoryOf) as [
      ...[ArrayBuffer, ArrayBuffer, ArrayBuffer],
      ...[ArrayBuffer, ArrayBuffer, ArrayBuffer],
    ]
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

function memoryOf({ buffer, byteOffset, byteLength }: Buffer): ArrayBufferLike {
  if (byteOffset !== 0 || byteLength !== buffer.byteLength) throw new Error('the column shares its memory with others')
  return buffer
}
