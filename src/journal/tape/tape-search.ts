import type { Database } from 'better-sqlite3'
import type { Millis, Seq } from '../../base/units.ts'
import { type Block, NO_DETAILS, RowKind } from '../../market/block.ts'
import { Mints } from '../../market/mints.ts'
import { decodeIndex } from './column.ts'
import type { TapeBlock } from './tape-block.ts'
import { type BlockAt, seqAt, type TapeReader } from './tape-reader.ts'

/** A row of the tape and its position. */
export interface FoundRow {
  readonly seq: Seq
  readonly block: Block
  readonly row: number
}

/** Name and symbol of a token, as its creator set them; '' if the tape no longer contains them. */
export interface FoundToken {
  readonly mint: string
  readonly symbol: string
  readonly name: string
}

/** The columns of a block that contain the names of its tokens. */
interface AnnouncingBlock {
  readonly mint_count: number
  readonly token_index: Uint8Array | null
  readonly mints: string
  readonly details: string
}

interface Head extends BlockAt {
  readonly first_time: Millis
}

const LISTS_MINT = 'SELECT 1 FROM block WHERE last_seq = ? AND instr(mints, ?) > 0'
const MINTS_FROM = `SELECT DISTINCT value AS mint FROM block, json_each(block.mints)
  WHERE last_seq = ? AND substr(value, 1, ?) = ?`
const NAMED = `SELECT CAST(key AS INTEGER) AS row, json_extract(value, '$.symbol') AS symbol,
    json_extract(value, '$.name') AS name
  FROM block, json_each(details) WHERE last_seq = ? AND details IS NOT NULL AND lower(json_extract(value, '$.symbol')) = lower(?)
  ORDER BY row`
const ANNOUNCING =
  'SELECT mint_count, token_index, mints, details FROM block WHERE last_seq = ? AND details IS NOT NULL'

/** Searches the tape for single rows and tokens. Decodes only the blocks that contain the mint of the search. */
export class TapeSearch {
  readonly #db: Database
  readonly #tape: TapeReader

  constructor(db: Database, tape: TapeReader) {
    this.#db = db
    this.#tape = tape
  }

  /** Returns the market row with this seq; undefined if the seq belongs to an input, or if the row was dropped with old
   *  tape. */
  rowAt(seq: Seq): FoundRow | undefined {
    for (const { block, from } of this.#tape.slices(new Mints(), { from: seq, to: seq }))
      return { seq, block, row: from }
    return undefined
  }

  /** Returns the last market row of a mint up to a time; undefined if the tape has no such row. */
  lastRowOf(mint: string, to: Millis): FoundRow | undefined {
    for (const head of this.#heads('DESC')) {
      if (head.first_time > to || !this.#lists(head, mint)) continue
      const mints = new Mints()
      const [block] = this.#tape.blocks(mints, { from: head.last_seq, to: head.last_seq })
      const token = mints.find(mint)
      if (block === undefined || token === undefined) continue
      for (let row = block.length - 1; row >= 0; row--)
        if (block.token[row] === token && (block.time[row] as number) <= to)
          return { seq: seqAt(block, row), block, row }
    }
    return undefined
  }

  /** Returns the mints that begin with `prefix` and occur on the tape, in orders or in decisions. */
  mintsFrom(prefix: string): string[] {
    const sql = `SELECT DISTINCT mint FROM (SELECT mint FROM output UNION ALL SELECT mint FROM "order")
      WHERE substr(mint, 1, ?) = ?`
    const found = new Set(this.#db.prepare<[number, string], string>(sql).pluck().all(prefix.length, prefix))
    for (const head of this.#heads('ASC'))
      for (const { mint } of this.#tape.all<{ mint: string }>(head, MINTS_FROM, prefix.length, prefix)) found.add(mint)
    return [...found].sort()
  }

  /** Returns the tokens with this symbol or name, case-insensitive, oldest first. */
  tokensNamed(symbol: string): FoundToken[] {
    const found = new Map<string, FoundToken>()
    for (const head of this.#heads('ASC')) {
      const rows = this.#tape.all<{ row: number; symbol: string; name: string }>(head, NAMED, symbol)
      if (rows.length === 0) continue
      const [block] = this.#tape.blocks(new Mints(), { from: head.last_seq, to: head.last_seq })
      if (block === undefined) continue
      for (const { row, ...words } of rows) {
        const mint = block.mints[block.token[row] as number] as string
        if (!found.has(mint)) found.set(mint, { mint, ...words })
      }
    }
    return [...found.values()]
  }

  /** Returns the symbols of the given mints, as their creators set them, in one pass over the announcements. Mints
   *  without an announcement on the tape are left out. */
  symbolsOf(mints: ReadonlySet<string>): Map<string, string> {
    const found = new Map<string, string>()
    for (const head of this.#heads('ASC')) {
      if (found.size === mints.size) break
      const block = this.#tape.get<AnnouncingBlock>(head, ANNOUNCING)
      if (block === undefined) continue
      const names = JSON.parse(block.mints) as string[]
      const tokens = block.token_index === null ? undefined : decodeIndex(block.token_index, block.mint_count)
      for (const [row, { symbol }] of Object.entries(JSON.parse(block.details) as Record<string, FoundToken>)) {
        const mint = names[tokens?.[Number(row)] ?? 0] as string
        if (mints.has(mint) && !found.has(mint)) found.set(mint, symbol)
      }
    }
    return found
  }

  /** Returns the name of a token, as its creator set it. A token is announced only once, in the first block that
   *  contains it. */
  nameOf(mint: string): FoundToken {
    const head = this.#heads('ASC').find((one) => this.#lists(one, mint))
    const mints = new Mints()
    const [block] = head === undefined ? [] : this.#tape.blocks(mints, { from: head.last_seq, to: head.last_seq })
    const row = block === undefined ? -1 : newTokenRow(block, mints.find(mint))
    const { symbol, name } = row < 0 || block === undefined ? NO_DETAILS : block.texts.details(row)
    return { mint, symbol, name }
  }

  /** Returns all blocks, except those of archived days whose files cannot be read. */
  #heads(order: 'ASC' | 'DESC'): Head[] {
    const heads = this.#db
      .prepare<[], Head>(`SELECT last_seq, first_time, day FROM blocks ORDER BY last_seq ${order}`)
      .all()
    const days = [...new Set(heads.map(({ day }) => day))].filter((day) => day !== null)
    const unreadable = new Set<string | null>(days.filter((day) => this.#tape.problemOf(day) !== ''))
    return unreadable.size === 0 ? heads : heads.filter(({ day }) => !unreadable.has(day))
  }

  #lists(block: BlockAt, mint: string): boolean {
    return this.#tape.get(block, LISTS_MINT, JSON.stringify(mint)) !== undefined
  }
}

function newTokenRow(block: TapeBlock, token: number | undefined): number {
  return block.kind.findIndex((kind, row) => kind === RowKind.newToken && block.token[row] === token)
}
