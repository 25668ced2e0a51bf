import type { Millis } from '../../base/units.ts'
import type { RoundTrip } from '../../engine/accounting/round-trip.ts'
import { type Block, RowKind, type TokenId } from '../../market/block.ts'
import type { Mints } from '../../market/mints.ts'
import { Prices } from '../../market/price.ts'
import type { UnitSettings } from '../../market/unit-proof.ts'
import type { Ghosts } from './ghosts.ts'
import { mean, quantile } from './statistics.ts'

/** Number of points in a price chart. */
const POINTS = 400
/** A print whose price differs from the robust price by more than this factor is noise. */
const NOISE_FACTOR = 2

/** The times at which the chart of a token begins and ends. */
export interface Window {
  readonly from: Millis
  readonly to: Millis
}

/** Computes statistics of a tape that do not depend on bots, in one pass over its rows. */
export class TapeStudy {
  /** Number of prints above the minimum size (sized prints) after the first robust price of their token. `noisePrints`:
   *  number of these prints that are noise. */
  sizedPrints = 0
  noisePrints = 0
  readonly #mints: Mints
  readonly #prices: Prices
  readonly #ghosts: Ghosts
  readonly #excursions: Excursions
  /** First robust price of each token. */
  readonly #firstPrices: (number | undefined)[] = []
  readonly #windows: ReadonlyMap<string, Window>
  /** Names and symbols of the charted tokens, as their creators chose them. */
  readonly names = new Map<string, { readonly symbol: string; readonly name: string }>()
  /** The charts, in the order of the tokens' first trades. */
  readonly #charted: [TokenId, Chart][] = []
  /** The chart of each token; null for a token that is not charted, undefined for a token without a trade so far. */
  readonly #charts: (Chart | null | undefined)[] = []

  /** `windows`: for each token to chart, the times at which its chart begins and ends. */
  constructor(
    mints: Mints,
    units: UnitSettings,
    windows: ReadonlyMap<string, Window>,
    watchers: { readonly ghosts: Ghosts; readonly excursions: Excursions },
  ) {
    this.#ghosts = watchers.ghosts
    this.#excursions = watchers.excursions
    this.#mints = mints
    this.#prices = new Prices(units)
    this.#windows = windows
  }

  rows(block: Block, from: number, to: number): void {
    const { kind, token: tokens } = block
    for (let row = from; row < to; row++) {
      const token = tokens[row] as number
      if (kind[row] === RowKind.newToken) this.#name(block, row, token)
      if ((kind[row] as number) <= RowKind.sell) this.#trade(block, row, token)
    }
  }

  /** Adds a trade. V8 allocates memory for each fractional argument, so the prices are passed on only for tokens
   *  whose prices are needed. */
  #trade(block: Block, row: number, token: TokenId): void {
    const prices = this.#prices
    const chart = this.#chartOf(token)
    if (chart !== null) {
      const { kind, amount, time } = block
      chart.traded(time[row] as number, amount[row] as number, kind[row] === RowKind.buy)
    }
    const before = prices.numberAt(token)
    if (!prices.fold(block, row, token)) return
    const price = (block.amount[row] as number) / (block.size[row] as number)
    if (before > 0) {
      this.sizedPrints++
      if (price > before * NOISE_FACTOR || price * NOISE_FACTOR < before) this.noisePrints++
    }
    const robust = prices.numberAt(token)
    if (!(robust > 0)) return
    if (this.#firstPrices[token] === undefined) this.#firstPrices[token] = robust
    if (this.#ghosts.follows(token)) this.#ghosts.price(token, block.time[row] as number, robust, price)
    if (this.#excursions.follows(token)) this.#excursions.price(token, block.time[row] as number, robust)
    chart?.add(block.time[row] as number, robust)
  }

  /** Changes from a token's first robust price to its last, as shares of the first, over all tokens. mean and median
   *  are null if no token has a price. */
  marketChange(): { readonly tokens: number; readonly mean: number | null; readonly median: number | null } {
    const changes = this.#firstPrices.flatMap((first, token) => {
      const last = this.#prices.at(token)
      return first === undefined || last === undefined ? [] : [last / first - 1]
    })
    const average = mean(changes)
    return {
      tokens: changes.length,
      mean: average !== undefined && Number.isFinite(average) ? average : null,
      median: quantile(changes, 0.5) ?? null,
    }
  }

  /** Points of each chart: time and robust price, SOL per token. */
  charts(): Map<string, [Millis, number][]> {
    const found = new Map<string, [Millis, number][]>()
    for (const [token, chart] of this.#charted) found.set(this.#mints.list[token] as string, chart.points)
    return found
  }

  /** Volume of each chart: time of a step, SOL of its buys, and SOL of its sales. */
  volumes(): Map<string, [Millis, number, number][]> {
    const found = new Map<string, [Millis, number, number][]>()
    for (const [token, chart] of this.#charted) found.set(this.#mints.list[token] as string, chart.volume)
    return found
  }

  #name(block: Block, row: number, token: TokenId): void {
    const mint = this.#mints.list[token] as string
    if (!this.#windows.has(mint) || this.names.has(mint)) return
    const { symbol, name } = block.texts.details(row)
    this.names.set(mint, { symbol, name })
  }

  #chartOf(token: TokenId): Chart | null {
    const known = this.#charts[token]
    if (known !== undefined) return known
    const window = this.#windows.get(this.#mints.list[token] as string)
    const chart = window === undefined ? null : new Chart(window)
    this.#charts[token] = chart
    if (chart !== null) this.#charted.push([token, chart])
    return chart
  }
}

/** Chart of a price: the last price of each of POINTS equal steps, and the volume of each step. */
class Chart {
  readonly points: [Millis, number][] = []
  readonly volume: [Millis, number, number][] = []
  readonly #window: Window
  #step = -1

  constructor(window: Window) {
    this.#window = window
  }

  /** Adds the SOL of a trade, of any size, to the volume of its step. */
  traded(time: Millis, sol: number, isBuy: boolean): void {
    const step = this.#stepOf(time)
    if (step === undefined) return
    const { from, to } = this.#window
    const begin = Math.round(from + (step * (to - from)) / POINTS)
    let last = this.volume.at(-1)
    if (last?.[0] !== begin) {
      last = [begin, 0, 0]
      this.volume.push(last)
    }
    last[isBuy ? 1 : 2] += sol
  }

  add(time: Millis, price: number): void {
    const step = this.#stepOf(time)
    if (step === undefined) return
    const last = this.points.at(-1)
    if (step === this.#step && last !== undefined) {
      last[0] = time
      last[1] = price
    } else this.points.push([time, price])
    this.#step = step
  }

  #stepOf(time: Millis): number | undefined {
    const { from, to } = this.#window
    return time < from || time > to ? undefined : Math.floor(((time - from) / Math.max(1, to - from)) * POINTS)
  }
}

/** The round trips of one token. `open`: the round trips whose position is held at the time of the row that was read
 *  last. */
interface Watch {
  readonly trips: readonly RoundTrip[]
  /** Index in `trips` of the next round trip to observe. */
  next: number
  readonly open: RoundTrip[]
  /** Robust price after the last print; undefined before the first print. */
  price: number | undefined
}

/** For every round trip, finds the lowest and the highest robust price while its position was held, in one pass over
 *  the tape. */
export class Excursions {
  readonly #mints: Mints
  readonly #byMint = new Map<string, Watch>()
  readonly #byToken: (Watch | null | undefined)[] = []

  /** `trips`: the round trips of all bots. */
  constructor(mints: Mints, trips: readonly RoundTrip[]) {
    this.#mints = mints
    const sorted = new Map<string, RoundTrip[]>()
    for (const trip of [...trips].sort((one, other) => one.openedAt - other.openedAt)) {
      const known = sorted.get(trip.mint)
      if (known === undefined) sorted.set(trip.mint, [trip])
      else known.push(trip)
    }
    for (const [mint, some] of sorted) this.#byMint.set(mint, { trips: some, next: 0, open: [], price: undefined })
  }

  /** Whether a round trip traded this token. The prices of other tokens need not be added. */
  follows(token: TokenId): boolean {
    return this.#watchOf(token) !== null
  }

  /** Adds the robust price of a token after a print, SOL per token. Times must never decrease. */
  price(token: TokenId, time: Millis, price: number): void {
    const watch = this.#watchOf(token)
    if (watch === null) return
    this.#begin(watch, time)
    const { open } = watch
    let kept = 0
    for (const trip of open) {
      if (trip.closedAt !== null && trip.closedAt < time) continue
      fold(trip, price)
      open[kept++] = trip
    }
    open.length = kept
    watch.price = price
  }

  #watchOf(token: TokenId): Watch | null {
    const known = this.#byToken[token]
    if (known !== undefined) return known
    const watch = this.#byMint.get(this.#mints.list[token] as string) ?? null
    this.#byToken[token] = watch
    return watch
  }

  /** Call at the end of the tape. A trip without a later print gets the last price of its token. */
  end(): void {
    for (const watch of this.#byMint.values()) this.#begin(watch, Number.POSITIVE_INFINITY)
  }

  /** Begins to observe the trips that were opened before `time`. Their first price is the last price of the token. */
  #begin(watch: Watch, time: Millis): void {
    for (; watch.next < watch.trips.length; watch.next++) {
      const trip = watch.trips[watch.next] as RoundTrip
      if (trip.openedAt >= time) return
      if (watch.price !== undefined) fold(trip, watch.price)
      watch.open.push(trip)
    }
  }
}

function fold(trip: RoundTrip, price: number): void {
  trip.lowPrice = Math.min(trip.lowPrice ?? price, price)
  trip.highPrice = Math.max(trip.highPrice ?? price, price)
}
