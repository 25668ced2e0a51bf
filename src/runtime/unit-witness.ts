import type { Millis } from '../base/units.ts'
import { type Block, RowKind } from '../market/block.ts'
import { CURVE_START, TOKEN_DECIMALS, TOKEN_SUPPLY } from '../solana/constants.ts'

/** Values of a new curve: virtual SOL, price (SOL per whole token), supply of the token, and market cap at this
 *  price. */
const START_SOL = Number(CURVE_START.virtualSol) / 1e9
const START_PRICE = START_SOL / (Number(CURVE_START.virtualTokens) / 10 ** TOKEN_DECIMALS)
const SUPPLY = Number(TOKEN_SUPPLY) / 10 ** TOKEN_DECIMALS
const START_CAP = START_PRICE * SUPPLY

/** Smallest number of launches for which a median is computed. `ENOUGH_PRINTS`: smallest number of trades with a market
 *  cap. */
const ENOUGH = 5
const ENOUGH_PRINTS = 50
/** Maximum number of values from which a median is computed. Later values are ignored. */
const MOST = 1_000
/** The price of a new token is computed from at most its first `FIRST_PRINTS` prints, and from at least
 *  `LEAST_PRINTS`. */
const FIRST_PRINTS = 5
const LEAST_PRINTS = 3

/** Prints that arrive later than this after an announcement, ms, do not count as first prints. */
const FIRST_MS = 60_000
/** Expected range of the first prints of launches, as multiples of the price of a new curve. A curve completes at 15
 *  times its first price; a price in a wrong unit is farther away. */
const FIRST = { low: 0.6, high: 15 }
/** Expected range of the values in the announcement of a launch, as multiples of the values of a new curve. */
const ANNOUNCED = { low: 0.6, high: 4 }
/** Expected range of a trade's price, as multiples of the trade's market cap divided by the supply. */
const PRICED = { low: 0.5, high: 2 }
/** Expected range of a price in another currency, as multiples of the price in SOL. */
const CURRENCY = { low: 2, high: 10_000 }
/** Expected range of the prices of all tokens, as multiples of the price of a new curve: from a token that has lost
 *  nearly everything to a market cap of 56,000 SOL. */
const LEVEL = { low: 0.02, high: 2_000 }
/** Typical price of all tokens, as a multiple of the price of a new curve. It is used to identify a unit. */
const USUAL_LEVEL = 25

/** Verdict on the unit of the amounts of a feed or tape. `sol`: evidence other than the quoted price confirms SOL.
 *  `assumed`: there is no evidence. `other`: the evidence contradicts SOL. */
export interface UnitVerdict {
  readonly unit: 'sol' | 'assumed' | 'other'
  /** The evidence, or the reason why there is none. */
  readonly text: string
}

/** A second proof of the unit of a feed's amounts, independent of the proof by quoted prices. It uses the known start
 *  of pump.fun's curve: 30 virtual SOL, a market cap of 28 SOL, a supply of 1e9 tokens. It only reads rows, and makes
 *  no decision in the engine. */
export class UnitWitness {
  readonly #launched = new Map<string, Millis>()
  /** First prints of launched tokens. */
  readonly #first = new Map<string, number[]>()
  readonly #prices = new Map<string, number[]>()
  readonly #caps: number[] = []
  readonly #liquidity: number[] = []
  readonly #supplies: number[] = []
  readonly #quoted: number[] = []

  /** Whether the verdict no longer depends on further rows. */
  get full(): boolean {
    return this.#supplies.length >= MOST && this.#first.size >= MOST / 10
  }

  rows(block: Block, from: number, to: number): void {
    for (let row = from; row < to; row++) {
      const mint = block.mints[block.token[row] as number] as string
      const kind = block.kind[row] as RowKind
      if (kind === RowKind.newToken) this.#launch(mint, block, row)
      else if (kind <= RowKind.sell) this.#print(mint, block, row)
    }
  }

  verdict(): UnitVerdict {
    const first = this.#firstOfLaunches()
    if (first.length >= ENOUGH) {
      const factor = median(first) / START_PRICE
      const seen = `the first prints of ${first.length} launched tokens have ${times(factor)} the price of a new curve`
      return isIn(factor, FIRST) ? { unit: 'sol', text: seen } : doubted(factor, seen)
    }
    const level = median([...this.#prices.values()].filter(isPrice).map(median)) / START_PRICE
    const isLevel = !(level < LEVEL.low || level > LEVEL.high)
    const prices = `prices are ${times(level)} the price of a new curve`
    if (this.#caps.length >= ENOUGH && this.#supplies.length >= ENOUGH_PRINTS) {
      const found = this.#byMarketCap()
      if (found.unit !== 'sol' || isLevel) return found
      return { unit: 'assumed', text: `${found.text}; but ${prices}${named(level / USUAL_LEVEL)}` }
    }
    const missing = 'there are not enough launches to compare with the start of a curve'
    return { unit: 'assumed', text: isLevel ? missing : `${missing}, and ${prices}${named(level / USUAL_LEVEL)}` }
  }

  /** Returns the verdict by market caps. A launch has a known market cap, so the announced market caps show the unit of
   *  market caps. The market cap of a trade, divided by the supply, then shows the unit of prices. This proves nothing
   *  if the quoted prices have another unit than the amounts, because the market caps of trades then have that other
   *  unit too. */
  #byMarketCap(): UnitVerdict {
    const caps = median(this.#caps) / START_CAP
    const liquidity = median(this.#liquidity) / START_SOL
    const priced = SUPPLY / median(this.#supplies)
    const seen = `${this.#caps.length} launches announce ${times(caps)} the market cap of a new curve, and trades have ${times(priced)} the price that their market cap implies`
    const isAnnounced = isIn(caps, ANNOUNCED) && (Number.isNaN(liquidity) || isIn(liquidity, ANNOUNCED))
    if (isAnnounced && isIn(priced, PRICED)) return { unit: 'sol', text: seen }
    return isAnnounced && !isIn(median(this.#quoted), CURRENCY)
      ? doubted(priced, seen)
      : { unit: 'assumed', text: seen }
  }

  #launch(mint: string, block: Block, row: number): void {
    if (this.#prices.has(mint) || this.#launched.has(mint) || this.#launched.size >= MOST) return
    this.#launched.set(mint, block.time[row] as number)
    const { marketCap, amount } = block
    if (this.#caps.length < MOST && isPositive(marketCap[row])) this.#caps.push(marketCap[row] as number)
    if (this.#liquidity.length < MOST && isPositive(amount[row])) this.#liquidity.push(amount[row] as number)
  }

  #print(mint: string, { amount, size, price: quoted, marketCap, time }: Block, row: number): void {
    const price = (amount[row] as number) / (size[row] as number)
    if (!isPositive(price)) return
    const prices = this.#prices.get(mint)
    if (prices === undefined ? this.#prices.size < MOST : prices.length < FIRST_PRINTS) add(this.#prices, mint, price)
    const launchedAt = this.#launched.size === 0 ? undefined : this.#launched.get(mint)
    if (launchedAt !== undefined && (time[row] as number) - launchedAt <= FIRST_MS) add(this.#first, mint, price)
    if (this.#supplies.length >= MOST || !isPositive(marketCap[row])) return
    this.#supplies.push((marketCap[row] as number) / price)
    if (isPositive(quoted[row])) this.#quoted.push((quoted[row] as number) / price)
  }

  #firstOfLaunches(): number[] {
    return [...this.#first.values()].filter(isPrice).map(median)
  }
}

function add(prices: Map<string, number[]>, mint: string, price: number): void {
  const known = prices.get(mint)
  if (known === undefined) prices.set(mint, [price])
  else if (known.length < FIRST_PRINTS) known.push(price)
}

/** Returns the verdict on prices that are `factor` times the expected ones. A factor that no known unit explains is no
 *  contradiction, because the tokens may start at another price. */
function doubted(factor: number, seen: string): UnitVerdict {
  return { unit: named(factor) === '' ? 'assumed' : 'other', text: seen + named(factor) }
}

const UNITS: readonly (readonly [from: number, to: number, name: string])[] = [
  [1e-8, 1e-4, 'tokens counted in base units'],
  [15, 450, 'dollars or another currency'],
  [450, 20_000, 'thousandths of a SOL'],
  [1e7, 1e11, 'lamports'],
]

function named(factor: number): string {
  const found = UNITS.find(([from, to]) => factor >= from && factor < to)
  return found === undefined ? '' : `, as in ${found[2]}`
}

function times(factor: number): string {
  return `${Number(factor.toPrecision(2))} times`
}

function isIn(value: number, { low, high }: { readonly low: number; readonly high: number }): boolean {
  return value >= low && value <= high
}

function isPositive(value: number | undefined): boolean {
  return value !== undefined && value > 0 && value < Number.POSITIVE_INFINITY
}

function isPrice(prices: readonly number[]): boolean {
  return prices.length >= LEAST_PRINTS
}

/** Returns the median; NaN without a value. */
function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[sorted.length >> 1] ?? Number.NaN
}
