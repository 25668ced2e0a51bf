import type { Millis } from '../base/units.ts'
import type { Bar } from '../market/bar.ts'
import type { BarWidth } from '../market/bar-width.ts'
import type { TradeSide } from '../market/block.ts'
import { isSized } from '../market/price.ts'

/** A bar that a test adds. Every field has a default. */
export interface TestBar {
  /** Robust price after the last print, SOL per whole token; default: the price before the bar. The first bar of a
   *  token needs one. */
  readonly close?: number
  /** Robust price after the first print, SOL per whole token; default: the price before the bar, or `close` if there is
   *  none. */
  readonly open?: number
  /** Highest robust price, SOL per whole token; default: the higher of `open` and `close`. */
  readonly high?: number
  /** Lowest robust price, SOL per whole token; default: the lower of `open` and `close`. */
  readonly low?: number
  /** SOL of all prints together; default: 1 SOL per print, or the bar's width if the width is a volume. */
  readonly volumeSol?: number
  /** Number of buys; default 10, or half of the bar's width if the width is a number of trades. @unitless */
  readonly buys?: number
  /** Number of sells; default 10, or the trades that are not buys if the width is a number of trades. @unitless */
  readonly sells?: number
  /** Duration of the bar, seconds, if the bar's width is a number of trades or a volume; default: one second per
   *  print. */
  readonly seconds?: number
  /** Mint of the token; default `MINT`. */
  readonly mint?: string
}

/** A print of a bar. */
export interface BarPrint {
  /** Time after the beginning of the bar, ms. */
  readonly after: Millis
  readonly price: number
  readonly sol: number
  readonly side: TradeSide
}

/** A bar with all fields. */
interface WholeBar extends Required<Pick<Bar, 'open' | 'high' | 'low' | 'close' | 'volumeSol' | 'buys' | 'sells'>> {}

const EACH_SIDE = 10
/** Number of prints after which the median of the last five changes. */
const TO_MOVE = 3

/** Returns a bar with all fields. `price`: the price before the bar, undefined if there is none. Throws RangeError for
 *  values that no bar can have. */
export function wholeBar(width: BarWidth, bar: TestBar, price: number | undefined): WholeBar {
  const close = bar.close ?? price
  if (close === undefined) throw new RangeError('close: the first bar of a token needs a price, SOL per token')
  const { open = price ?? close } = bar
  const { high = Math.max(open, close), low = Math.min(open, close) } = bar
  for (const [name, value] of Object.entries({ open, high, low, close }))
    if (!(value > 0 && value < 1e9))
      throw new RangeError(`${name}: expected a price above 0, SOL per token, got ${value}`)
  for (const [name, value] of Object.entries({ low, open, close })) {
    if (value > high) throw new RangeError(`high: ${high} is below ${name}, ${value}`)
    if (value < low) throw new RangeError(`low: ${low} is above ${name}, ${value}`)
  }
  const { buys, sells } = countsOf(width, bar)
  const isOfVolume = width.volumeSol < Number.POSITIVE_INFINITY
  const { volumeSol = isOfVolume ? width.volumeSol : buys + sells } = bar
  const sol = volumeSol / (buys + sells)
  if (!isSized(sol, close))
    throw new RangeError(
      `volumeSol: ${volumeSol} in ${buys + sells} prints is ${sol} a print; only prints of 0.01 to 100,000 SOL count`,
    )
  if (isOfVolume && !(volumeSol >= width.volumeSol && volumeSol - sol < width.volumeSol))
    throw new RangeError(
      `volumeSol: a bar of ${width.name} ends with the print that reaches this volume, so a bar of ${buys + sells} prints cannot have ${volumeSol} SOL`,
    )
  return { open, high, low, close, volumeSol, buys, sells }
}

function countsOf({ name, trades }: BarWidth, bar: TestBar): { readonly buys: number; readonly sells: number } {
  const isOfTrades = trades < Number.POSITIVE_INFINITY
  const half = isOfTrades ? trades - (bar.sells ?? Math.floor(trades / 2)) : EACH_SIDE
  const { buys = half } = bar
  const { sells = isOfTrades ? trades - buys : EACH_SIDE } = bar
  for (const [side, count] of Object.entries({ buys, sells }))
    if (!(Number.isSafeInteger(count) && count >= 0 && count <= 1e6))
      throw new RangeError(`${side}: expected a whole number from 0 to 1,000,000, got ${count}`)
  if (buys + sells === 0) throw new RangeError('buys, sells: a bar has at least one print')
  if (isOfTrades && buys + sells !== trades)
    throw new RangeError(`buys, sells: a bar of ${name} has ${trades} prints, got ${buys + sells}`)
  return { buys, sells }
}

/** Returns the prints of a bar that lasts `ms`. The robust price goes from open to low, high and close; in a falling
 *  bar from open to high, low and close. Throws RangeError if the bar has too few prints for this. */
export function printsOf(width: BarWidth, bar: WholeBar, ms: Millis, price: number | undefined): BarPrint[] {
  const { open, high, low, close, buys, sells } = bar
  const count = buys + sells
  const turns = (close >= open ? [low, high, close] : [high, low, close]).filter(
    (turn, index, all) => turn !== (all[index - 1] ?? open),
  )
  const prices = [open, ...turns].flatMap((turn, index) =>
    Array<number>(index === 0 && turn === price ? 1 : TO_MOVE).fill(turn),
  )
  if (prices.length > count)
    throw new RangeError(
      `buys, sells: this bar needs at least ${prices.length} prints, got ${count}, because the robust price is the median of five prints and changes only with the third print`,
    )
  const sol = solOfEach(width, bar)
  // A time bar ends after its last print, because its end belongs to the next bar. Any other bar ends with its last
  // print.
  const first = width.everyMs < Number.POSITIVE_INFINITY ? 0 : 1
  return Array.from({ length: count }, (_, index) => {
    const at = prices[index] ?? close
    const isBuy = Math.ceil(((index + 1) * buys) / count) > Math.ceil((index * buys) / count)
    const after = Math.floor(((index + first) * ms) / count)
    return { after, price: at, sol: exactSol(at, sol), side: isBuy ? 'buy' : 'sell' }
  })
}

/** Returns the size of each print of a bar, SOL. For a bar of a volume, the sum of the sizes reaches this volume
 *  exactly with the last print, despite rounding. */
function solOfEach({ volumeSol: least }: BarWidth, { volumeSol, buys, sells }: WholeBar): number {
  const count = buys + sells
  return (volumeSol / count) * (least < Number.POSITIVE_INFINITY ? 1 + count * Number.EPSILON : 1)
}

/** Returns a size near `sol` with which a print has exactly this price. A print contains an amount and a number of
 *  tokens, so its price is a quotient, which rounding can change. Equal prices must stay equal at any volume. */
function exactSol(price: number, sol: number): number {
  let exact = sol
  for (let step = 1; exact / (exact / price) !== price && step < 1000; step++) exact = sol * (1 + step * 1e-13)
  return exact
}

const COMPARED = ['open', 'high', 'low', 'close', 'volumeSol', 'buys', 'sells'] as const
const ROUNDING = 1e-9

/** Text about the first field in which a bar differs from the one that the test requested; undefined if there is no
 *  difference. */
export function difference(asked: WholeBar, found: Bar): string | undefined {
  const field = COMPARED.find((name) => Math.abs(found[name] - asked[name]) > ROUNDING * asked[name])
  return field && `${field} is ${found[field]} instead of ${asked[field]}`
}
