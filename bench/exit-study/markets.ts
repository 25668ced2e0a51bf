import { deriveSeed, type Random, seededRandom } from '../../src/base/random.ts'
import { isSized } from '../../src/market/price.ts'
import type { MarketEvent } from '../../src/sandbox/market/market.ts'
import { SeededMarket } from '../../src/sandbox/market/seeded-market.ts'
import { playMarket } from '../pools/exact-market.ts'
import { median, type Print } from './prints.ts'

/** Prints of a token, with its true price, which only the study knows. */
export interface Block {
  readonly prints: readonly Print[]
  /** True price after each print. */
  readonly truth: readonly number[]
  /** Index of the first print of the planted fall: a permanent fall of a generated token. Absent in recordings. */
  readonly fallsAt?: number
}

/** Number of prints before and after a print of a recorded token. The median of all of these prints is the true
 *  price. */
const TRUTH_SIDE = 10

/** Prints of a recorded token, with a median of the prints around each print as its true price. */
export function recorded(prints: readonly Print[]): Block {
  const prices = prints.map(({ price }) => price)
  const truth = prices.map((_price, at) => median(prices.slice(Math.max(0, at - TRUTH_SIDE), at + TRUTH_SIDE + 1)))
  return { prints, truth }
}

const MARKET_MINUTES = 15
const MARKETS = 3
/** Number of tokens that are taken from each market: the most active ones with at least `LEAST_PRINTS` prints. */
const TOKENS = 40
const LEAST_PRINTS = 60

/** A row of the feed of a market. */
interface Row {
  readonly time: number
  readonly event: MarketEvent
}

export function sandboxBlocks(rounds: readonly number[]): Block[] {
  return seedsOf(rounds).flatMap((seed) => activeBlocks(sandboxRows(seed)))
}

/** Tokens of markets with whales (buyers of 5 to 40 SOL), large sales and withdrawn liquidity. */
export function poolBlocks(rounds: readonly number[]): Block[] {
  return seedsOf(rounds).flatMap((seed) => activeBlocks(playMarket({ seed, minutes: MARKET_MINUTES }).rows))
}

function seedsOf(rounds: readonly number[]): number[] {
  return rounds.flatMap((round) => Array.from({ length: MARKETS }, (_none, market) => round * MARKETS + market + 1))
}

function sandboxRows(seed: number): Row[] {
  const rows: Row[] = []
  let time = 0
  const market = new SeededMarket({ seed, emit: (event) => rows.push({ time, event }) })
  for (; market.nextAt !== undefined && market.nextAt <= MARKET_MINUTES * 60_000; market.advance(time))
    time = market.nextAt
  return rows
}

function activeBlocks(rows: readonly Row[]): Block[] {
  const byMint = new Map<string, Print[]>()
  for (const { time, event } of rows) {
    if (event.type !== 'trade' || !isSized(event.sol, event.price)) continue
    const prints = byMint.get(event.mint) ?? []
    byMint.set(event.mint, prints)
    prints.push({ price: event.price, time })
  }
  return [...byMint.values()]
    .filter(({ length }) => length >= LEAST_PRINTS)
    .sort((one, other) => other.length - one.length)
    .slice(0, TOKENS)
    .map(recorded)
}

/** Kinds of noise that are added to the trades of a generated constant-product pool. */
export const NOISES = ['plain', 'legs', 'bursts', 'reversed', 'whales'] as const
export type Noise = (typeof NOISES)[number]

const RATES = [1, 4, 20]
const TOKENS_PER_RATE = 16

export function generatedBlocks(noise: Noise, rounds: readonly number[]): Block[] {
  const tokens = rounds.flatMap((round) =>
    Array.from({ length: TOKENS_PER_RATE }, (_none, n) => round * TOKENS_PER_RATE + n),
  )
  return RATES.flatMap((rate) => tokens.map((token) => new PoolPlay(noise, rate, token).run()))
}

const SLOT_MS = 400
const LEG_SHARE = 1 / 20
const BURST_SHARE = 1 / 60
const WHALE_SHARE = 1 / 6
const UNDONE_SHARE = 0.8

/** Generates the prints of a constant-product pool: random trades from a seed, then a permanent fall, then more
 *  trades. */
class PoolPlay {
  readonly #noise: Noise
  readonly #rate: number
  readonly #random: Random
  readonly #prints: Print[] = []
  readonly #truth: number[] = []
  #sol: number
  #tokens: number
  #now = 0
  /** Logarithm of the price change by the last large trade; 0 once another large trade has reversed the change. */
  #displaced = 0

  constructor(noise: Noise, rate: number, token: number) {
    this.#noise = noise
    this.#rate = rate
    this.#random = seededRandom(deriveSeed(token, `${noise} ${rate}`))
    this.#sol = 40 * 10 ** this.#random.next()
    this.#tokens = 2e8
  }

  run(): Block {
    const before = 400 + Math.floor(300 * Math.sqrt(this.#rate) * (0.5 + this.#random.next()))
    const isQuietAfter = this.#random.next() < 0.5
    while (this.#prints.length < before) this.#trade(this.#rate)
    const fallsAt = this.#prints.length
    const left = 1 - (0.5 + 0.47 * this.#random.next())
    const parts = this.#random.next() < 0.5 ? 1 : 2
    for (let part = 0; part < parts; part++) this.#move(Math.log(left) / parts)
    const afterRate = isQuietAfter ? this.#rate / 10 : this.#rate
    while (this.#prints.length < fallsAt + 150) this.#trade(afterRate)
    const prints = this.#noise === 'reversed' ? this.#reversed() : this.#prints
    return { prints, truth: this.#truth, fallsAt }
  }

  #trade(rate: number): void {
    this.#now += (-Math.log(1 - this.#random.next()) * 1_000) / rate
    const chance = this.#random.next()
    if (this.#noise === 'whales' && chance < WHALE_SHARE) this.#whale()
    else if (this.#noise === 'legs' && chance < LEG_SHARE) this.#leg(this.#wrongFactor())
    else if (this.#noise === 'bursts' && chance < BURST_SHARE) this.#burst()
    else this.#move(this.#usualMove())
  }

  /** Draws a trade with a lognormal size of at most 4 % of the pool. Returns the change of the price's logarithm. */
  #usualMove(): number {
    const size = Math.min(0.04 * this.#sol, 0.3 * Math.exp(1.2 * this.#normal()))
    return (this.#random.next() < 0.5 ? 1 : -1) * 2 * Math.log1p(size / this.#sol)
  }

  #whale(): void {
    const isUndone = this.#displaced !== 0 && this.#random.next() < UNDONE_SHARE
    const move = isUndone
      ? -this.#displaced
      : (this.#random.next() < 0.5 ? 1 : -1) * (0.05 + 0.07 * this.#random.next())
    this.#displaced = isUndone ? 0 : move
    this.#move(move)
  }

  #burst(): void {
    const factor = this.#wrongFactor()
    for (let left = 2 + this.#random.integer(5); left > 0; left--)
      this.#leg(factor * (0.98 + 0.04 * this.#random.next()))
  }

  #wrongFactor(): number {
    const factor = 2 * 25 ** this.#random.next()
    return this.#random.next() < 0.5 ? factor : 1 / factor
  }

  /** Changes the logarithm of the pool's price by this amount. Adds the trade's print, whose price is the average price
   *  including the trader's fees. */
  #move(logarithm: number): void {
    const before = this.#sol / this.#tokens
    this.#sol *= Math.exp(logarithm / 2)
    this.#tokens *= Math.exp(-logarithm / 2)
    const fee = 0.003 + 0.02 * this.#random.next() ** 2
    const average = Math.sqrt((before * this.#sol) / this.#tokens)
    this.#print(average * (logarithm > 0 ? 1 + fee : 1 - fee))
  }

  #leg(factor: number): void {
    this.#print((this.#sol / this.#tokens) * factor)
  }

  #print(price: number): void {
    this.#prints.push({ price, time: Math.floor(this.#now / SLOT_MS) * SLOT_MS })
    this.#truth.push(this.#sol / this.#tokens)
  }

  /** The prints in the order of a feed that has times in whole seconds and sends the newest print of each second
   *  first. */
  #reversed(): Print[] {
    const seconds = Map.groupBy(this.#prints, ({ time }) => Math.floor(time / 1_000) * 1_000)
    return [...seconds].flatMap(([time, prints]) => prints.reverse().map((print) => ({ ...print, time })))
  }

  #normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.#random.next())) * Math.cos(2 * Math.PI * this.#random.next())
  }
}
