import { createHash, type Hash } from 'node:crypto'
import { type Block, RowKind, type TokenId } from '../core/block.ts'
import type { UnitSettings } from '../core/messages.ts'
import type { Mints } from '../core/mints.ts'
import { Prices } from '../core/price.ts'
import type { Millis } from '../core/units.ts'
import type { Excursions } from './excursions.ts'
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
