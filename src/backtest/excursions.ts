import type { TokenId } from '../core/block.ts'
import type { Mints } from '../core/mints.ts'
import type { Millis } from '../core/units.ts'
import type { Trip } from './trip.ts'

/** The trips of one token, oldest first. */
interface Watch {
  readonly trips: readonly Trip[]
  /** The next one that has not begun. */
  next: number
  open: Trip[]
  /** What the last print left it at; undefined before there is one. */
  price: number | undefined
}

/** Marks on every trip the lowest and the highest robust price that stood while it was held, in one pass over the tape. */
export class Excursions {
  readonly #mints: Mints
  readonly #byMint = new Map<string, Watch>()
  readonly #byToken: (Watch | null | undefined)[] = []

  /** `trips`: of all bots. */
  constructor(mints: Mints, trips: readonly Trip[]) {
    this.#mints = mints
    const sorted = new Map<string, Trip[]>()
    for (const trip of [...trips].sort((one, other) => one.openedAt - other.openedAt)) {
      const known = sorted.get(trip.mint)
      if (known === undefined) sorted.set(trip.mint, [trip])
      else known.push(trip)
    }
    for (const [mint, some] of sorted) this.#byMint.set(mint, { trips: some, next: 0, open: [], price: undefined })
  }

  /** A token has a robust price after a print, SOL a token. Times never fall. */
  price(token: TokenId, time: Millis, price: number): void {
    const known = this.#byToken[token]
    const watch = known === undefined ? (this.#byMint.get(this.#mints.list[token] as string) ?? null) : known
    this.#byToken[token] = watch
    if (watch === null) return
    this.#begin(watch, time)
    if (watch.open.length > 0) watch.open = watch.open.filter(({ closedAt }) => closedAt === null || closedAt >= time)
    for (const trip of watch.open) fold(trip, price)
    watch.price = price
  }

  /** When the tape has ended: those that no print came after stood at the last price. */
  end(): void {
    for (const watch of this.#byMint.values()) this.#begin(watch, Number.POSITIVE_INFINITY)
  }

  /** What has been opened before `time` found the price that stood then. */
  #begin(watch: Watch, time: Millis): void {
    for (; watch.next < watch.trips.length; watch.next++) {
      const trip = watch.trips[watch.next] as Trip
      if (trip.openedAt >= time) return
      if (watch.price !== undefined) fold(trip, watch.price)
      watch.open.push(trip)
    }
  }
}

function fold(trip: Trip, price: number): void {
  trip.lowPrice = Math.min(trip.lowPrice ?? price, price)
  trip.highPrice = Math.max(trip.highPrice ?? price, price)
}
