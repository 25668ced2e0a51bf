import type { Database } from 'better-sqlite3'
import type { Millis, Seq } from '../../base/units.ts'
import { type Block, NO_DETAILS, RowKind } from '../../market/block.ts'
import { Mints } from '../../market/mints.ts'
import type { TapeBlock } from './tape-block.ts'
import { seqAt, type TapeReader } from './tape-reader.ts'

/** A row of the tape, and where it stands. */
export interface FoundRow {
  readonly seq: Seq
  readonly block: Block
  readonly row: number
}

/** A token, as its creator called it when it was new; '' where the tape does not hold that any more. */
export interface FoundToken {
  readonly mint: string
  readonly symbol: string
  readonly name: string
}

/** Single rows and tokens, looked for on the tape; a block is decoded only where it has the mint. */
export class TapeSearch {
  readonly #db: Database
  readonly #tape: TapeReader

  constructor(db: Database, tape: TapeReader) {
    this.#db = db
    this.#tape = tape
  }

  /** The market row with this seq; undefined where it is an input's, or the tape of it was dropped. */
  rowAt(seq: Seq): FoundRow | undefined {
    for (const { block, from } of this.#tape.slices(new Mints(), { from: seq, to: seq }))
      return { seq, block, row: from }
    return undefined
  }

  /** The last row of a mint that had come by a time. */
  lastRowOf(mint: string, to: Millis): FoundRow | undefined {
    const blocks = this.#db
      .prepare<[Millis, string], { first: Seq; last: Seq }>(
        `SELECT first_seq AS first, last_seq AS last FROM block WHERE first_time <= ? AND instr(mints, ?) > 0
         ORDER BY last_seq DESC`,
      )
      .iterate(to, JSON.stringify(mint))
    for (const { last } of blocks) {
      const mints = new Mints()
      const [block] = this.#tape.blocks(mints, { from: last, to: last })
      const token = mints.find(mint)
      if (block === undefined || token === undefined) continue
      for (let row = block.length - 1; row >= 0; row--)
        if (block.token[row] === token && (block.time[row] as number) <= to)
          return { seq: seqAt(block, row), block, row }
    }
    return undefined
  }

  /** Every mint of the tape, of an order or of a decision that begins with a text. */
  mintsFrom(prefix: string): string[] {
    const sql = `SELECT DISTINCT mint FROM (SELECT value AS mint FROM block, json_each(block.mints)
      UNION ALL SELECT mint FROM output UNION ALL SELECT mint FROM "order") WHERE substr(mint, 1, ?) = ? ORDER BY mint`
    return this.#db.prepare<[number, string], string>(sql).pluck().all(prefix.length, prefix)
  }

  /** Tokens whose creator called them so, in whatever case; oldest first. */
  tokensNamed(symbol: string): FoundToken[] {
    const rows = this.#db
      .prepare<[string], { seq: Seq; row: number; symbol: string; name: string }>(
        `SELECT last_seq AS seq, CAST(key AS INTEGER) AS row, json_extract(value, '$.symbol') AS symbol,
           json_extract(value, '$.name') AS name
         FROM block, json_each(details) WHERE details IS NOT NULL AND lower(json_extract(value, '$.symbol')) = lower(?)
         ORDER BY last_seq, row`,
      )
      .all(symbol)
    const found = new Map<string, FoundToken>()
    for (const { seq, row, ...words } of rows) {
      const [block] = this.#tape.blocks(new Mints(), { from: seq, to: seq })
      if (block === undefined) continue
      const mint = block.mints[block.token[row] as number] as string
      if (!found.has(mint)) found.set(mint, { mint, ...words })
    }
    return [...found.values()]
  }

  /** What its creator called a mint; a token is new once, so it stands in the first of its blocks or nowhere. */
  nameOf(mint: string): FoundToken {
    const seq = this.#db
      .prepare<[string], Seq>('SELECT last_seq FROM block WHERE instr(mints, ?) > 0 ORDER BY last_seq LIMIT 1')
      .pluck()
      .get(JSON.stringify(mint))
    const mints = new Mints()
    const [block] = seq === undefined ? [] : this.#tape.blocks(mints, { from: seq, to: seq })
    const row = block === undefined ? -1 : newTokenRow(block, mints.find(mint))
    const { symbol, name } = row < 0 || block === undefined ? NO_DETAILS : block.texts.details(row)
    return { mint, symbol, name }
  }
}

function newTokenRow(block: TapeBlock, token: number | undefined): number {
  return block.kind.findIndex((kind, row) => kind === RowKind.newToken && block.token[row] === token)
}
