import type { Millis } from '../../base/units.ts'
import { applyChange, inOrderOfOpening } from './apply-change.ts'
import { changedRows } from './changes.ts'
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

/** A copy of the view of another thread, kept up to date by the changes that this thread receives. Makes the rows of
 *  the positions, and adds the symbols of tokens, which the other thread does not know. */
export class ViewMirror implements ViewSource {
  readonly #parts: MirrorParts
  readonly #symbols = new Map<string, string>()
  readonly #listeners = new Set<(change: Change) => void>()
  #searchedAt = Number.NEGATIVE_INFINITY
  readonly #positions = new ReceivedPositions()
  /** The view's rows of the positions, without symbols. */
  #rows: readonly PositionStatus[]
  #view: View

  constructor(view: View, parts: MirrorParts, news?: PositionNews) {
    this.#parts = parts
    if (news !== undefined) this.#positions.take(news)
    this.#rows = news === undefined ? view.positions : this.#positions.rows(view.time).sort(inOrderOfOpening)
    const whole = { ...view, positions: this.#rows }
    this.#search(whole)
    this.#view = withSymbols(whole, this.#symbols)
  }

  get view(): View {
    return this.#view
  }

  listen(run: (change: Change) => void): () => void {
    this.#listeners.add(run)
    return () => void this.#listeners.delete(run)
  }

  /** Applies the next change. Throws RangeError if a change before it is missing. */
  take(update: Update): void {
    const change = this.#withRows(update)
    const next = applyChange(this.#view, change)
    const found = this.#search(next)
    const positions = shown(this.#symbols, next.positions, change.positions, found)
    const openOrders = shown(this.#symbols, next.openOrders, change.openOrders, found)
    const complete = { ...change, ...(positions && { positions }), ...(openOrders && { openOrders }) }
    this.#view = applyChange(this.#view, complete)
    for (const run of this.#listeners) run(complete)
  }

  /** Returns the change, with the changed rows of positions added to it. */
  #withRows({ news, ...change }: Update): Change {
    if (news === undefined) return change
    this.#positions.take(news)
    const rows = this.#positions.rows(change.set.time ?? this.#view.time)
    const positions = changedRows(this.#rows, rows, ({ id }) => id)
    this.#rows = rows
    return positions === undefined ? change : { ...change, positions }
  }

  /** Looks up the mints of a view that have no symbol. A new mint is looked up at once. A mint that the tape did not
   *  contain is looked up again after `SEARCH_EVERY_MS`. Returns the mints that were found. */
  #search(view: View): ReadonlySet<string> {
    const mints = mintsOf(view)
    for (const mint of this.#symbols.keys()) if (!mints.has(mint)) this.#symbols.delete(mint)
    const now = this.#parts.now()
    const isDue = now - this.#searchedAt >= SEARCH_EVERY_MS
    const unknown = [...mints].filter((mint) => (this.#symbols.get(mint) ?? '') === '')
    const wanted = isDue ? unknown : unknown.filter((mint) => !this.#symbols.has(mint))
    if (wanted.length === 0) return NONE
    if (isDue) this.#searchedAt = now
    const found = this.#parts.symbolsOf(new Set(wanted))
    for (const mint of wanted) this.#symbols.set(mint, found.get(mint) ?? '')
    return new Set([...found].flatMap(([mint, symbol]) => (symbol === '' ? [] : [mint])))
  }
}

const NONE: ReadonlySet<string> = new Set()

/** Returns the changed rows with their symbols, and the rows whose symbol was found only now; undefined if there are no
 *  such rows. */
function shown<Row extends (PositionStatus | OrderStatus) & { readonly id: string }>(
  symbols: ReadonlyMap<string, string>,
  rows: readonly Row[],
  changed: Readonly<Record<string, Row | null>> | undefined,
  found: ReadonlySet<string>,
): Record<string, Row | null> | undefined {
  if (changed === undefined && found.size === 0) return undefined
  const all: Record<string, Row | null> = { ...changed }
  for (const row of rows)
    if (Object.hasOwn(all, row.id) || found.has(row.mint)) all[row.id] = { ...row, symbol: symbols.get(row.mint) ?? '' }
  return Object.keys(all).length === 0 ? undefined : all
}
