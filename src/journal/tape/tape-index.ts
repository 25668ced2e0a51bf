import type { Database, Statement } from 'better-sqlite3'
import type { Millis, Seq } from '../../base/units.ts'
import { UnreadableDay } from '../archive/day-file.ts'
import { decodeIndex } from './column.ts'
import type { BlockAt, SeqRange, TapeReader } from './tape-reader.ts'

/** Maximum number of blocks in the index: the newest ones of the tape, about a week of a busy market. */
const MOST_BLOCKS = 4_000
/** Number of older blocks that are added to the index: about a day at the first use (FIRST_BLOCKS), and a few more at
 *  each later use (BLOCKS_A_USE), until the index is full. */
const FIRST_BLOCKS = 600
const BLOCKS_A_USE = 20
/** Number of blocks at the end of the tape that a writer may still merge. Each use reads them again. */
const UNSETTLED = 256

interface BlockPlace extends BlockAt {
  readonly first: Seq
  readonly from: Millis
  readonly to: Millis
}

interface IndexedRow {
  readonly mint_count: number
  readonly token_index: Uint8Array | null
  readonly mints: string
  readonly details: string | null
}

interface IndexedBlock extends BlockPlace {
  readonly mints: readonly string[]
}

/** Name and symbol of a token, as its creator set them. */
export interface TokenName {
  readonly symbol: string
  readonly name: string
}

const NAMELESS: TokenName = { symbol: '', name: '' }
const PLACE = 'first_seq AS first, last_seq, day, first_time AS "from", last_time AS "to"'
const READ = 'SELECT mint_count, token_index, mints, details FROM block WHERE last_seq = ?'

/** Index of the blocks and names of tokens, in memory. It follows a tape that grows: each use reads only new blocks. A
 *  token whose blocks are older than the index has neither blocks nor a name. */
export class TapeIndex {
  readonly #tape: TapeReader
  readonly #read: <T>(run: () => T) => T
  readonly #places: Statement<[Seq, number], BlockPlace>
  readonly #older: Statement<[Seq, number], BlockPlace>
  readonly #names = new Map<string, TokenName>()
  /** By mint, the settled blocks, which no writer will merge any more: `older` has the newest first, `newer` the oldest
   *  first. */
  readonly #blocks = new Map<string, { readonly older: BlockPlace[]; readonly newer: BlockPlace[] }>()
  /** Blocks that a writer may still merge, oldest first. */
  #unsettled: readonly IndexedBlock[] = []
  /** Range of seqs of the settled blocks, which no writer will merge any more. */
  #settledFrom: Seq | undefined
  #settledTo: Seq | undefined
  #count = 0

  constructor(db: Database, tape: TapeReader, read: <T>(run: () => T) => T) {
    this.#tape = tape
    this.#read = read
    this.#places =
      db.prepare(`SELECT * FROM (SELECT ${PLACE} FROM blocks WHERE last_seq > ? ORDER BY last_seq DESC LIMIT ?)
      ORDER BY last_seq`)
    this.#older = db.prepare(`SELECT ${PLACE} FROM blocks WHERE last_seq < ? ORDER BY last_seq DESC LIMIT ?`)
  }

  /** Returns the symbol and name of a token; '' if the index does not contain its announcement. */
  nameOf(mint: string): TokenName {
    return this.#names.get(mint) ?? NAMELESS
  }

  /** Returns the ranges of seqs of the blocks that contain rows of a token and overlap the time from `from` to `to`,
   *  oldest block first. */
  blocksOf(mint: string, from: Millis = 0, to: Millis = Number.MAX_SAFE_INTEGER): SeqRange[] {
    const { older = [], newer = [] } = this.#blocks.get(mint) ?? {}
    const recent = this.#unsettled.filter(({ mints }) => mints.includes(mint))
    const places = [...older.toReversed(), ...newer, ...recent].filter((place) => place.to >= from && place.from <= to)
    const ranges: { from: Seq; to: Seq }[] = []
    for (const { first, last_seq: last } of places) {
      const before = ranges.at(-1)
      // A block that was merged after it had been indexed may contain rows that an earlier range also covers, so its
      // range begins after the earlier ones.
      const from = Math.max(first, (before?.to ?? 0) + 1)
      if (from <= last) ranges.push({ from, to: last })
    }
    return ranges
  }

  /** Reads the blocks that were written since the last use. */
  refresh(): void {
    this.#read(() => {
      this.#readNew()
      this.#readOlder(this.#count === 0 ? FIRST_BLOCKS : BLOCKS_A_USE)
    })
  }

  #readNew(): void {
    const known = new Map(this.#unsettled.map((block) => [block.last_seq, block]))
    const isFirst = this.#settledTo === undefined
    const places = this.#places.all(this.#settledTo ?? 0, isFirst ? UNSETTLED : MOST_BLOCKS)
    const blocks = places.flatMap((place) => {
      const block = known.get(place.last_seq)
      if (block !== undefined && block.first === place.first) return [block]
      return this.#blockAt(place) ?? []
    })
    const [oldest] = blocks
    if (oldest === undefined) return
    this.#settledFrom ??= oldest.first
    this.#settledTo ??= oldest.first - 1
    const settled = blocks.slice(0, -UNSETTLED)
    for (const block of settled) this.#settle(block, 'newer')
    this.#settledTo = settled.at(-1)?.last_seq ?? this.#settledTo
    this.#unsettled = blocks.slice(-UNSETTLED)
  }

  #readOlder(count: number): void {
    const wanted = Math.min(count, MOST_BLOCKS - this.#count)
    if (this.#settledFrom === undefined || wanted <= 0) return
    for (const place of this.#older.all(this.#settledFrom, wanted)) {
      const block = this.#blockAt(place)
      if (block !== undefined) this.#settle(block, 'older')
      this.#settledFrom = place.first
    }
  }

  #settle({ mints, ...place }: IndexedBlock, side: 'older' | 'newer'): void {
    this.#count++
    for (const mint of mints) {
      const known = this.#blocks.get(mint)
      if (known !== undefined) known[side].push(place)
      else this.#blocks.set(mint, { older: [], newer: [], [side]: [place] })
    }
  }

  /** Reads a block. Returns undefined instead of throwing if the file of its day cannot be read, because the other
   *  blocks are still useful. */
  #blockAt(place: BlockPlace): IndexedBlock | undefined {
    try {
      const row = this.#tape.get<IndexedRow>(place, READ)
      return row && { ...place, mints: this.#mintsOf(row) }
    } catch (error) {
      if (error instanceof UnreadableDay) return undefined
      throw error
    }
  }

  #mintsOf({ mint_count, token_index, mints, details }: IndexedRow): readonly string[] {
    const listed = JSON.parse(mints) as string[]
    if (details === null) return listed
    const tokens = token_index === null ? undefined : decodeIndex(token_index, mint_count)
    for (const [row, { symbol, name }] of Object.entries(JSON.parse(details) as Record<string, TokenName>))
      this.#names.set(listed[tokens?.[Number(row)] ?? 0] as string, { symbol, name })
    return listed
  }
}
