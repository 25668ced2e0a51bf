import type { Database, Statement } from 'better-sqlite3'
import type { EncodedBlock } from './block-encoder.ts'
import { checksumOf, LATE_COLUMNS, SCAN_COLUMNS, TEXT_COLUMNS } from './block-row.ts'
import { BLOCK_FORMAT } from './schema.ts'

const COLUMNS = [
  ...['last_time', 'rows_before', ...SCAN_COLUMNS, 'checksum', ...LATE_COLUMNS, 'late_checksum'],
  ...[...TEXT_COLUMNS, 'text_checksum'],
]

/** Writes blocks of the tape. */
export class BlockStore {
  readonly #insert: Statement
  readonly #insertRun: Statement
  #rows: number

  constructor(db: Database) {
    this.#insert = db.prepare(`INSERT INTO block (${COLUMNS.join(', ')}) VALUES (${COLUMNS.map(() => '?').join(', ')})`)
    this.#insertRun = db.prepare('INSERT INTO run (block, row, seq) VALUES (?, ?, ?)')
    const rows = db.prepare('SELECT rows_before + rows FROM block ORDER BY last_seq DESC LIMIT 1').pluck().get()
    this.#rows = (rows as number | undefined) ?? 0
  }

  /** At the end of the tape; call `wrote` once the transaction is durable. Or in the place of others, behind `rowsBefore` rows. */
  insert(segment: number, block: EncodedBlock, rowsBefore = this.#rows): void {
    const { extra, extra2, trader, signature } = block
    const scan = [
      ...[block.lastSeq, segment, BLOCK_FORMAT, block.rows, block.firstSeq, block.runs.length],
      ...[block.firstTime, block.mints.length, block.kind, block.token, block.time],
      ...[block.price.entries, block.amount.entries, block.size.entries],
      ...[block.stamp, block.stampExact ? 1 : 0, JSON.stringify(block.mints)],
    ]
    const late = [block.marketCap.entries, extra.entries, extra.index, extra2.entries, extra2.index]
    const texts = [
      ...[trader.entries, trader.index, jsonOf(block.details), jsonOf(block.odd)],
      ...[signature.entries, signature.index],
    ]
    this.#insert.run(
      ...[block.lastTime, rowsBefore, ...scan, checksumOf(scan), ...late, checksumOf(late)],
      ...[...texts, checksumOf(texts)],
    )
    for (const { row, seq } of block.runs.slice(1)) this.#insertRun.run(block.lastSeq, row, seq)
  }

  wrote(rows: number): void {
    this.#rows += rows
  }
}

function jsonOf(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value)
}
