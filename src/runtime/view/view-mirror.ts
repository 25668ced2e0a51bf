import type { Millis } from '../../base/units.ts'
import { applyChange, inOrderOfOpening } from './apply-change.ts'
import { type PositionNews, ReceivedPositions } from './position-transfer.ts'
import { mintsOf, withSymbols } from './token-symbols.ts'
import type { Change, OrderStatus, PositionStatus, View, ViewSource } from './view.ts'
import type { Update } from './view-updates.ts'

/** Shortest time between two searches for symbols that the tape did not contain. */
const SEARCH_EVERY_MS = 5_000

export interface MirrorParts {
  /** Returns the symbols of mints that the tape contains. */
  readonly symbolsOf: (mints: ReadonlySet<string>) => ReadonlyMap<string, string>
  readonly now: () => Millis
}

/** A copy of the engine thread's view. Applies the changes that the engine thread sends, makes the rows of the
 *  positions, and adds the symbols of tokens, which the engine thread does not know. */
export class ViewMirror implements ViewSource {
  readonly #parts: MirrorParts
  readonly #symbols = new Map<string, string>()
  readonly #listeners = new Set<(change: Change) => void>()
  #searchedAt = Number.NEGATIVE_INFINITY
  readonly #positions = new ReceivedPositions()
  #view: View

  constructor(view: View, parts: MirrorParts, news?: PositionNews) {
    this.#parts = parts
    if (news !== undefined) this.#positions.take(news, view.time)
    const positions = news === undefined ? view.positions : this.#positions.rows.sort(inOrderOfOpening)
    this.#view = { ...view, positions }
    this.#search(mintsOf(this.#view))
    this.#view = withSymbols(this.#view, this.#symbols)
  }

  get view(): View {
    return this.#view
  }

  listen(run: (change: Change) => void): () => void {
    this.#listeners.add(run)
    return () => void this.#listeners.delete(run)
  }

  /** Applies the next change. Throws RangeError if an earlier change was not applied. Reads only the changed rows, so
   *  that this thread takes little processor time from the threads that trade. */
  take(update: Update): void {
    const change = this.#withRows(update)
    const found = this.#search(newMintsOf(change))
    const positions = named(this.#symbols, this.#view.positions, change.positions, found)
    const openOrders = named(this.#symbols, this.#view.openOrders, change.openOrders, found)
    const complete = { ...change, ...(positions && { positions }), ...(openOrders && { openOrders }) }
    this.#view = applyChange(this.#view, complete)
    for (const run of this.#listeners) run(complete)
  }

  /** Returns the change, with the changed rows of positions added to it. */
  #withRows({ news, ...change }: Update): Change {
    if (news === undefined) return change
    const rows = this.#positions.take(news, change.set.time ?? this.#view.time)
    return rows.size === 0 ? change : { ...change, positions: Object.fromEntries(rows) }
  }

  /** Looks up mints that have no symbol. A new mint is looked up immediately. All mints that the tape did not contain
   *  are looked up again after `SEARCH_EVERY_MS`. Returns the mints that were found. */
  #search(news: ReadonlySet<string>): ReadonlySet<string> {
    const now = this.#parts.now()
    const isDue = now - this.#searchedAt >= SEARCH_EVERY_MS
    const wanted = new Set([...news].filter((mint) => !this.#symbols.has(mint)))
    if (isDue) {
      this.#searchedAt = now
      for (const mint of this.#unknown(news)) wanted.add(mint)
    }
    if (wanted.size === 0) return NONE
    const found = this.#parts.symbolsOf(wanted)
    for (const mint of wanted) this.#symbols.set(mint, found.get(mint) ?? '')
    return new Set([...found].flatMap(([mint, symbol]) => (symbol === '' ? [] : [mint])))
  }

  /** Forgets the symbols of mints that the view no longer shows. Returns the other mints whose symbol is unknown,
   *  because the tape did not contain it. */
  #unknown(news: ReadonlySet<string>): string[] {
    const shown = mintsOf(this.#view)
    for (const mint of this.#symbols.keys()) if (!shown.has(mint) && !news.has(mint)) this.#symbols.delete(mint)
    return [...this.#symbols].flatMap(([mint, symbol]) => (symbol === '' ? [mint] : []))
  }
}

const NONE: ReadonlySet<string> = new Set()

/** Mints of the rows that are new or changed. */
function newMintsOf({ positions = {}, openOrders = {} }: Change): Set<string> {
  const rows = [...Object.values(positions), ...Object.values(openOrders)]
  return new Set(rows.flatMap((row) => (row === null ? [] : [row.mint])))
}

/** Returns the changed rows with their symbols, and the unchanged rows whose symbol was found only now; undefined if
 *  there are no such rows. */
function named<Row extends (PositionStatus | OrderStatus) & { readonly id: string }>(
  symbols: ReadonlyMap<string, string>,
  rows: readonly Row[],
  changed: Readonly<Record<string, Row | null>> = {},
  found: ReadonlySet<string>,
): Record<string, Row | null> | undefined {
  const late = found.size === 0 ? [] : rows.filter(({ id, mint }) => found.has(mint) && !Object.hasOwn(changed, id))
  const all = [...late.map((row) => [row.id, row] as const), ...Object.entries(changed)]
  if (all.length === 0) return undefined
  return Object.fromEntries(
    all.map(([id, row]) => [id, row === null ? null : { ...row, symbol: symbols.get(row.mint) ?? '' }]),
  )
}
