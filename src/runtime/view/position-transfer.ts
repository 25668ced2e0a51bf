import type { Millis } from '../../base/units.ts'
import type { PositionReading } from '../../engine/exits/exit-levels.ts'
import { sameJson } from './changes.ts'
import { type HeldPosition, type ReadPosition, rowOf, sameNumbers } from './position-rows.ts'
import type { PositionStatus } from './view.ts'

// Sends the positions of a view to another thread. Many prices may change between two readings of the view, so the
// prices are sent as numbers, and the other thread makes the rows of the view from them. Making and copying the rows of
// 1,000 positions in this thread would delay its orders by milliseconds.

/** Changes of the positions, with which another thread updates the view's rows of the positions. */
export interface PositionNews {
  /** New and changed positions by the id of their row in the view; null for a closed position. */
  readonly held: ReadonlyMap<string, HeldPosition | null>
  /** The prices, values and times of all positions, in the order that the positions have after `held` is applied. */
  readonly readings: Float64Array
}

/** The positions that were last sent to the other thread. They are kept so that only changes are sent. */
export class SentPositions {
  readonly #held = new Map<string, HeldPosition>()
  #readings: Float64Array = new Float64Array()

  /** Returns what must be sent; undefined if nothing has changed. */
  next(positions: readonly ReadPosition[]): PositionNews | undefined {
    const changes = this.#changes(positions)
    apply(this.#held, changes)
    const byHeld = new Map(positions.map(({ held, reading }) => [held, reading]))
    const readings = packed([...this.#held.values()].map((held) => byHeld.get(held) as PositionReading))
    if (changes.size === 0 && sameNumbers(readings, this.#readings)) return undefined
    this.#readings = readings
    return { held: changes, readings }
  }

  #changes(positions: readonly ReadPosition[]): Map<string, HeldPosition | null> {
    const changes = new Map<string, HeldPosition | null>()
    let opened = 0
    for (const { held } of positions) {
      const known = this.#held.get(held.id)
      if (known === undefined) opened++
      if (known !== held) changes.set(held.id, held)
    }
    if (this.#held.size + opened === positions.length) return changes
    const open = new Set(positions.map(({ held }) => held.id))
    for (const id of this.#held.keys()) if (!open.has(id)) changes.set(id, null)
    return changes
  }
}

/** A position that another thread has sent. */
interface Received {
  held: HeldPosition
  row?: PositionStatus
  /** Index in `#readings` at which the values of this position begin; undefined if the row must be made again. */
  at: number | undefined
}

/** The positions that another thread has sent. */
export class ReceivedPositions {
  /** The positions by the id of their row, in the order of `#readings`. */
  readonly #all = new Map<string, Received>()
  #readings: Float64Array = new Float64Array()

  /** The view's rows of all positions. */
  get rows(): PositionStatus[] {
    return Array.from(this.#all.values(), ({ row }) => row as PositionStatus)
  }

  /** Returns the changed rows by their ids, and null for each closed position. Makes only these rows, because making
   *  the rows of 1,000 positions takes milliseconds. */
  take({ held, readings }: PositionNews, now: Millis): Map<string, PositionStatus | null> {
    const changed = new Map<string, PositionStatus | null>()
    for (const [id, one] of held) this.#hold(id, one, changed)
    let at = 0
    for (const [id, one] of this.#all) {
      const isAged = one.held.position.exits.takeProfitByAge !== undefined
      if (isAged || one.at === undefined || !sameReadings(this.#readings, one.at, readings, at)) {
        const row = rowOf({ held: one.held, reading: unpacked(readings, at) }, now)
        if (!sameJson(row, one.row)) changed.set(id, row)
        one.row = row
      }
      one.at = at
      at += WIDTH
    }
    this.#readings = readings
    return changed
  }

  #hold(id: string, held: HeldPosition | null, changed: Map<string, PositionStatus | null>): void {
    const known = this.#all.get(id)
    if (held === null) {
      this.#all.delete(id)
      changed.set(id, null)
    } else if (known === undefined) this.#all.set(id, { held, at: undefined })
    else {
      known.held = held
      known.at = undefined
    }
  }
}

function apply(to: Map<string, HeldPosition>, changes: PositionNews['held']): void {
  for (const [id, held] of changes)
    if (held === null) to.delete(id)
    else to.set(id, held)
}

/** Number of values that are sent for each position. */
const WIDTH = 5

function packed(readings: readonly PositionReading[]): Float64Array {
  const numbers = new Float64Array(readings.length * WIDTH)
  let at = 0
  for (const { lamports = Number.NaN, price = Number.NaN, highPrice, printedAt, pricedAt } of readings) {
    numbers[at++] = lamports
    numbers[at++] = price
    numbers[at++] = highPrice
    numbers[at++] = printedAt
    numbers[at++] = pricedAt
  }
  return numbers
}

/** Whether the values of a position that begin at `from` in the earlier readings equal those that begin at `to` in the
 *  later readings. An unknown value is NaN, and two unknown values count as equal. */
function sameReadings(before: Float64Array, from: number, after: Float64Array, to: number): boolean {
  for (let value = 0; value < WIDTH; value++) if (!Object.is(before[from + value], after[to + value])) return false
  return true
}

function unpacked(numbers: Float64Array, at: number): PositionReading {
  const number = (place: number): number => numbers[at + place] as number
  const known = (place: number): number | undefined => (Number.isNaN(number(place)) ? undefined : number(place))
  return {
    lamports: known(0) as PositionReading['lamports'],
    ...{ price: known(1), highPrice: number(2), printedAt: number(3), pricedAt: number(4) },
  }
}
