import { createHash, type Hash } from 'node:crypto'
import type { Millis } from '../../base/units.ts'
import type { RoundTrip } from '../../engine/accounting/round-trip.ts'
import { type Block, RowKind, type TokenId } from '../../market/block.ts'
import type { Mints } from '../../market/mints.ts'
import { Prices } from '../../market/price.ts'
import type { UnitSettings } from '../../market/unit-proof.ts'
import type { Ghosts } from './ghosts.ts'
import { mean, quantile } from './statistics.ts'

/** Points of a price chart. */
const POINTS = 400
/** A print further than this from the robust price is noise. */
const NOISE_FACTOR = 2

const HASHED = ['time', 'stamp', 'kind', 'price', 'amount', 'size'] as const

/** When a token is looked at. */
export interface Window {
  readonly from: Millis
  readonly to: Millis
}

/** What a tape is like, apart from any bot: one pass over its rows. */
export class TapeStudy {
  /** Prints of a size that counts, once there is a robust price, and those of them that are far off it. */
  sizedPrints = 0
  noisePrints = 0
  readonly #mints: Mints
  readonly #prices: Prices
  readonly #hashes: Hash[] = [...HASHED, 'token'].map(() => createHash('sha256'))
  readonly #ghosts: Ghosts
  readonly #excursions: Excursions
  /** The first robust price of each token. */
  readonly #firstPrices: (number | undefined)[] = []
  readonly #windows: ReadonlyMap<string, Window>
  /** What strangers call the tokens that are looked at. */
  readonly names = new Map<string, { readonly symbol: string; readonly name: string }>()
  readonly #charts = new Map<TokenId, Chart | undefined>()

  /** `windows`: the tokens whose price is wanted, and when. */
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
    for (const [index, name] of HASHED.entries()) this.#hashes[index]?.update(bytesOf(block[name].subarray(from, to)))
    this.#hashes.at(-1)?.update(bytesOf(block.token.subarray(from, to)))
    const { kind, token: tokens, amount, size, time } = block
    for (let row = from; row < to; row++) {
      const token = tokens[row] as number
      if (kind[row] === RowKind.newToken) this.#name(block, row, token)
      if ((kind[row] as number) > RowKind.sell) continue
      const before = this.#prices.at(token)
      if (!this.#prices.fold(block, row, token)) continue
      const price = (amount[row] as number) / (size[row] as number)
      if (before !== undefined) {
        this.sizedPrints++
        if (price > before * NOISE_FACTOR || price * NOISE_FACTOR < before) this.noisePrints++
      }
      const robust = this.#prices.at(token)
      if (robust !== undefined) this.#priced(token, time[row] as number, robust, price)
      this.#chartOf(token)?.add(time[row] as number, robust)
    }
  }

  /** Of the rows, wherever they lie: the same after an export and an import. */
  hash(): string {
    const all = createHash('sha256')
    for (const hash of this.#hashes) all.update(hash.digest())
    return all.update(this.#mints.list.join(' ')).digest('hex')
  }

  /** From the first robust price of a token to its last, as shares of the first; null where no token has one. */
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

  /** Time and robust price, SOL a token. */
  charts(): Map<string, [Millis, number][]> {
    const found = new Map<string, [Millis, number][]>()
    for (const [token, chart] of this.#charts)
      if (chart !== undefined) found.set(this.#mints.list[token] as string, chart.points)
    return found
  }

  #priced(token: TokenId, time: Millis, robust: number, print: number): void {
    this.#firstPrices[token] ??= robust
    this.#ghosts.price(token, time, robust, print)
    this.#excursions.price(token, time, robust)
  }

  #name(block: Block, row: number, token: TokenId): void {
    const mint = this.#mints.list[token] as string
    if (!this.#windows.has(mint) || this.names.has(mint)) return
    const { symbol, name } = block.texts.details(row)
    this.names.set(mint, { symbol, name })
  }

  #chartOf(token: TokenId): Chart | undefined {
    if (this.#windows.size === 0) return undefined
    if (!this.#charts.has(token)) {
      const window = this.#windows.get(this.#mints.list[token] as string)
      this.#charts.set(token, window && new Chart(window))
    }
    return this.#charts.get(token)
  }
}

/** The last price of each of POINTS equal steps. */
class Chart {
  readonly points: [Millis, number][] = []
  readonly #window: Window
  #step = -1

  constructor(window: Window) {
    this.#window = window
  }

  add(time: Millis, price: number | undefined): void {
    const { from, to } = this.#window
    if (price === undefined || time < from || time > to) return
    const step = Math.floor(((time - from) / Math.max(1, to - from)) * POINTS)
    if (step === this.#step) this.points.pop()
    this.#step = step
    this.points.push([time, price])
  }
}

function bytesOf(column: Float64Array | Uint8Array | Uint32Array): Uint8Array {
  return new Uint8Array(column.buffer, column.byteOffset, column.byteLength)
}

/** The trips of one token, oldest first. */
interface Watch {
  readonly trips: readonly RoundTrip[]
  /** The next one that has not begun. */
  next: number
  open: RoundTrip[]
  /** What the last print left it at; undefined before there is one. */
  price: number | undefined
}

/** Marks on every trip the lowest and the highest robust price that stood while it was held, in one pass over the
 *  tape. */
export class Excursions {
  readonly #mints: Mints
  readonly #byMint = new Map<string, Watch>()
  readonly #byToken: (Watch | null | undefined)[] = []

  /** `trips`: of all bots. */
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
