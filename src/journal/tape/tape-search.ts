import type { Database } from 'better-sqlite3'
import type { Millis, Seq } from '../../base/units.ts'
import { type Block, NO_DETAILS, RowKind } from '../../market/block.ts'
import { Mints } from '../../market/mints.ts'
import { decodeIndex } from './column.ts'
import type { TapeBlock } from './tape-block.ts'
import { seqAt, type TapeReader } from './tape-reader.ts'

/** A row of the tape and its position. */
export interface FoundRow {
  readonly seq: Seq
  readonly block: Block
  readonly row: number
}

/** Name and symbol that its creator gave to a token; '' if the tape no longer contains them. */
export interface FoundToken {
  readonly mint: string
  readonly symbol: string
  readonly name: string
}

/** The columns of a block that name its tokens. */
interface AnnouncingBlock {
  readonly mint_count: number
  readonly token_index: Uint8Array | null
  readonly mints: string
  readonly details: string
}

/** Searches the tape for single rows and tokens. Decodes only the blocks that contain the mint. */
export class TapeSearch {
  readonly #db: Database
  readonly #tape: TapeReader

  constructor(db: Database, tape: TapeReader) {
    this.#db = db
    this.#tape = tape
  }

  /** Market row with this seq; undefined if the seq belongs to an input, or if that tape was dropped. */
  rowAt(seq: Seq): FoundRow | undefined {
    for (const { block, from } of this.#tape.slices(new Mints(), { from: seq, to: seq }))
      return { seq, block, row: from }
    return undefined
  }

  /** Last row of a mint up to a time; undefined if there is none. */
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

  /** Mints on the tape, in orders and in decisions that begin with `prefix`. */
  mintsFrom(prefix: string): string[] {
    const sql = `SELECT DISTINCT mint FROM (SELECT value AS mint FROM block, json_each(block.mints)
      UNION ALL SELECT mint FROM output UNION ALL SELECT mint FROM "order") WHERE substr(mint, 1, ?) = ? ORDER BY mint`
    return this.#db.prepare<[number, string], string>(sql).pluck().all(prefix.length, prefix)
  }

  /** Tokens with this symbol or name, case-insensitive, oldest first. */
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

  /** Symbols that their creators gave to these mints, in one pass over the announcements. A mint that the tape does not
   *  announce is absent. */
  symbolsOf(mints: ReadonlySet<string>): Map<string, string> {
    const found = new Map<string, string>()
    const blocks = this.#db
      .prepare<[], AnnouncingBlock>(
        'SELECT mint_count, token_index, mints, details FROM block WHERE details IS NOT NULL ORDER BY last_seq',
      )
      .iterate()
    for (const { mint_count, token_index, mints: listed, details } of blocks) {
      if (found.size === mints.size) break
      const names = JSON.parse(listed) as string[]
      const tokens = token_index === null ? undefined : decodeIndex(token_index, mint_count)
      for (const [row, { symbol }] of Object.entries(JSON.parse(details) as Record<string, FoundToken>)) {
        const mint = names[tokens?.[Number(row)] ?? 0] as string
        if (mints.has(mint) && !found.has(mint)) found.set(mint, symbol)
      }
    }
    return found
  }

  /** Name that its creator gave to a mint. A token is announced only once, in the first block that contains it. */
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
