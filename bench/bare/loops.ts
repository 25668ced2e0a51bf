// Loops that do the work of the measured strategies without a framework, with flat arrays indexed by token number. Each
// loop returns a number that depends on every row, so that the compiler cannot leave work out.
import { isSized, ROBUST_WINDOW, robustPrice } from '../../src/market/price.ts'
import type { BareBlock } from './tape.ts'

export type Loop = (blocks: Iterable<BareBlock>, tokens: number) => number

/** Lengths of the fast and the slow averages of the sweep. */
export const FASTS = [5, 10, 15, 20, 25, 30, 35, 40]
export const SLOWS = [50, 60, 70, 80, 90, 100, 110, 120]
const FAST = 20
const SLOW = 50
/** Number of doubles that are stored for a token: a ring of its last prints, then its robust price. */
const DOUBLES = 8
const PRICE = ROBUST_WINDOW

/** The robust price of each token after each trade, as Sluice computes it. */
class BarePrices {
  readonly #doubles: Float64Array
  readonly #counts: Uint32Array

  constructor(tokens: number) {
    this.#doubles = new Float64Array(tokens * DOUBLES)
    this.#counts = new Uint32Array(tokens)
  }

  /** Adds a trade. Returns false if the trade is too small to count for the robust price. */
  fold(token: number, amount: number, size: number): boolean {
    const print = amount / size
    if (!isSized(amount, print)) return false
    const doubles = this.#doubles
    const at = token * DOUBLES
    const count = (this.#counts[token] as number) + 1
    doubles[at + ((count - 1) % ROBUST_WINDOW)] = print
    this.#counts[token] = count
    doubles[at + PRICE] = robustPrice(doubles, Math.min(count, ROBUST_WINDOW), at) ?? 0
    return true
  }

  /** The price; 0 before the third print. */
  at(token: number): number {
    return this.#doubles[token * DOUBLES + PRICE] as number
  }
}

/** Reads each trade, without the robust price. */
const columns: Loop = (blocks) => {
  let sum = 0
  for (const { kind, token, time, price, amount, size } of blocks)
    for (let row = 0; row < token.length; row++)
      if ((price[row] as number) > 0)
        sum +=
          (time[row] as number) +
          (kind[row] as number) +
          (token[row] as number) * (amount[row] as number) +
          (size[row] as number)
  return sum
}

/** Reads each trade and computes the robust price. */
const trivial: Loop = (blocks, tokens) => {
  const prices = new BarePrices(tokens)
  let sum = 0
  for (const { kind, token, time, price, amount, size } of blocks)
    for (let row = 0; row < token.length; row++) {
      const number = token[row] as number
      prices.fold(number, amount[row] as number, size[row] as number)
      if ((price[row] as number) > 0) sum += (time[row] as number) + (kind[row] as number) + prices.at(number)
    }
  return sum
}

/** Counts how often the average of the last 20 robust prices of a token crosses the average of its last 50. */
const sma: Loop = (blocks, tokens) => {
  const prices = new BarePrices(tokens)
  const rings = new Float64Array(tokens * SLOW)
  const counts = new Uint32Array(tokens)
  const sums = new Float64Array(tokens * 2)
  const isAbove = new Uint8Array(tokens)
  let crossings = 0
  for (const { token, amount, size } of blocks)
    for (let row = 0; row < token.length; row++) {
      const number = token[row] as number
      if (!prices.fold(number, amount[row] as number, size[row] as number)) continue
      const close = prices.at(number)
      if (close === 0) continue
      const count = counts[number] as number
      const ring = number * SLOW
      const fast =
        (sums[number * 2] as number) + close - (count >= FAST ? (rings[ring + ((count - FAST) % SLOW)] as number) : 0)
      const slow =
        (sums[number * 2 + 1] as number) + close - (count >= SLOW ? (rings[ring + (count % SLOW)] as number) : 0)
      rings[ring + (count % SLOW)] = close
      sums[number * 2] = fast
      sums[number * 2 + 1] = slow
      counts[number] = count + 1
      if (count + 1 < SLOW) continue
      const above = +(fast * (SLOW / FAST) > slow)
      if (above === isAbove[number]) continue
      isAbove[number] = above
      crossings++
    }
  return crossings
}

/** Counts, for each pair of a length in `fasts` and one in `slows`, how often the average of the last robust prices of
 *  a token with the first length crosses the one with the second length. Computes each average once. */
export function crossings(
  blocks: Iterable<BareBlock>,
  tokens: number,
  fasts: readonly number[],
  slows: readonly number[],
): number {
  const prices = new BarePrices(tokens)
  const lengths = Uint32Array.from([...fasts, ...slows])
  const room = 2 ** Math.ceil(Math.log2(Math.max(...lengths) + 1))
  const rings = new Float64Array(tokens * room)
  const counts = new Uint32Array(tokens)
  const sums = new Float64Array(tokens * lengths.length)
  const means = new Float64Array(lengths.length)
  const isAbove = new Uint8Array(tokens * fasts.length * slows.length)
  let found = 0
  for (const { token, amount, size } of blocks)
    for (let row = 0; row < token.length; row++) {
      const number = token[row] as number
      if (!prices.fold(number, amount[row] as number, size[row] as number)) continue
      const close = prices.at(number)
      if (close === 0) continue
      const count = counts[number] as number
      counts[number] = count + 1
      const ring = number * room
      rings[ring + (count & (room - 1))] = close
      for (let index = 0; index < lengths.length; index++) {
        const length = lengths[index] as number
        const at = number * lengths.length + index
        const oldest = count >= length ? (rings[ring + ((count - length) & (room - 1))] as number) : 0
        const sum = (sums[at] as number) + close - oldest
        sums[at] = sum
        means[index] = count + 1 >= length ? sum / length : Number.NaN
      }
      let set = number * fasts.length * slows.length
      for (let slow = fasts.length; slow < lengths.length; slow++)
        for (let fast = 0; fast < fasts.length; fast++) {
          const above = +((means[fast] as number) > (means[slow] as number))
          if (above !== isAbove[set]) {
            isAbove[set] = above
            found++
          }
          set++
        }
    }
  return found
}

/** Counts the falls of a token's robust price, in the same way as the strategy dip-buyer. */
const dip: Loop = (blocks, tokens) => dips(blocks, tokens, [DROP])

/** A fall of 101 percent, which no price can reach. With it, every row is examined, but no row triggers an action. */
export const DROP = 101

/** Counts, for each value of `drops`, the falls of at least this many percent, as one bot of dip-buyer for each value
 *  would do. */
export function dips(blocks: Iterable<BareBlock>, tokens: number, drops: readonly number[]): number {
  const prices = new BarePrices(tokens)
  const sets = drops.length
  const least = Float64Array.from(drops)
  const highs = new Float64Array(tokens * sets)
  let falls = 0
  for (const { token, amount, size } of blocks)
    for (let row = 0; row < token.length; row++) {
      const number = token[row] as number
      prices.fold(number, amount[row] as number, size[row] as number)
      const price = prices.at(number)
      if (price === 0) continue
      for (let set = 0; set < sets; set++) {
        const at = number * sets + set
        const high = Math.max(highs[at] as number, price)
        highs[at] = high
        if ((1 - price / high) * 100 < (least[set] as number)) continue
        highs[at] = price
        falls++
      }
    }
  let sum = falls
  for (const high of highs) sum += high
  return sum
}

export const loops = { columns, trivial, sma, dip } satisfies Record<string, Loop>
