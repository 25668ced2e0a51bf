import type { Database, Statement } from 'better-sqlite3'
import type { EncodedBlock } from './block-encoder.ts'
import { BLOCK_FORMAT } from './schema.ts'

const COLUMNS = [
  ...['segment', 'format', 'rows', 'first_seq', 'last_seq', 'runs', 'first_time', 'last_time', 'mint_count'],
  ...['kind', 'token_index', 'time', 'price', 'amount', 'size', 'stamp', 'stamp_exact', 'market_cap'],
  ...['extra', 'extra_index', 'extra2', 'extra2_index', 'mints', 'trader', 'trader_index', 'details', 'odd'],
  ...['signature', 'signature_index'],
]

/** Writes blocks of the tape. */
export class BlockStore {
  readonly #insert: Statement
  readonly #insertRun: Statement

  constructor(db: Database) {
    this.#insert = db.prepare(`INSERT INTO block (${COLUMNS.join(', ')}) VALUES (${COLUMNS.map(() => '?').join(', ')})`)
    this.#insertRun = db.prepare('INSERT INTO run (block, row, seq) VALUES (?, ?, ?)')
  }

  insert(segment: number, block: EncodedBlock): void {
    const { price, amount, size, marketCap, extra, extra2, trader, signature } = block
    const { lastInsertRowid } = this.#insert.run(
      ...[segment, BLOCK_FORMAT, block.rows, block.firstSeq, block.lastSeq, block.runs.length],
      ...[block.firstTime, block.lastTime, block.mints.length],
      ...[block.kind, block.token, block.time, price.entries, amount.entries, size.entries],
      ...[block.stamp, block.stampExact ? 1 : 0, marketCap.entries],
      ...[extra.entries, extra.index, extra2.entries, extra2.index, JSON.stringify(block.mints)],
      ...[trader.entries, trader.index, jsonOf(block.details), jsonOf(block.odd)],
      ...[signature.entries, signature.index],
    )
    for (const { row, seq } of block.runs.slice(1)) this.#insertRun.run(lastInsertRowid, row, seq)
  }
}

function jsonOf(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value)
}
