import { seededRandom } from '../../src/base/random.ts'
import type { Block } from './markets.ts'
import { type Print, quantile } from './prints.ts'

const STOP_SHARE = 0.85
/** An exit is false if the price rises above the stop again within this number of prints. */
const BACK_WITHIN = 10
/** Index of the print at which the first simulated position opens. */
const FIRST = 21
/** Delay from a sale's decision to its landing, ms. */
const LANDING_MS = 1_500
/** A generated market contains one permanent fall of the price, the planted fall. The study measures the delay from
 *  this fall until a sale. A position that is sold later than this time after the fall, ms, or never, counts with this
 *  time. */
const MOST_DELAY_MS = 60_000
/** The delay after a planted fall is measured for positions that opened within this number of prints before the
 *  fall. */
const OPEN_BEFORE = 150
const DRAWS = 2_000

/** How often and how late a candidate sells on one token. */
export interface Loss {
  exits: number
  falseExits: number
  /** Number of exits for which the true price had not fallen to the stop. */
  noise: number
  readonly lateSeconds: number[]
  readonly latePrints: number[]
  /** Logarithms of the proceeds of the sales, relative to a sale at the stop's price. */
  readonly slips: number[]
  /** Delays of the sales after the planted fall, ms. */
  readonly delays: number[]
  open: number
  unsold: number
}

/** Index of the first exit of a position that opened at print `since`, and the highest price until then. `at` equals
 *  the number of prices if the position has no exit. */
function firstExit(prices: ArrayLike<number>, since: number): { at: number; high: number } {
  let high = 0
  for (let at = since; at < prices.length; at++) {
    const price = prices[at] as number
    if (price > high) high = price
    else if (price <= high * STOP_SHARE) return { at, high }
  }
  return { at: prices.length, high }
}

export function lossOn({ prints, truth, fallsAt }: Block, prices: ArrayLike<number>, step: number): Loss {
  const loss: Loss = {
    exits: 0,
    falseExits: 0,
    noise: 0,
    lateSeconds: [],
    latePrints: [],
    slips: [],
    delays: [],
    open: 0,
    unsold: 0,
  }
  const timeOf = (print: number): number => (prints[print] as Print).time
  for (let since = FIRST; since < prints.length; since += step) {
    const { at, high } = firstExit(prices, since)
    if (at === prints.length) continue
    loss.exits++
    const end = Math.min(prints.length - 1, at + BACK_WITHIN)
    for (let next = at + 1; next <= end; next++)
      if ((prices[next] as number) > high * STOP_SHARE) {
        loss.falseExits++
        break
      }
    const due = firstExit(truth, since)
    if (due.at > end) loss.noise++
    if (due.at === prints.length) continue
    loss.latePrints.push(at - due.at)
    loss.lateSeconds.push((timeOf(at) - timeOf(due.at)) / 1_000)
    let landed = at
    while (landed < prints.length - 1 && timeOf(landed) < timeOf(at) + LANDING_MS) landed++
    loss.slips.push(Math.log((truth[landed] as number) / (due.high * STOP_SHARE)))
  }
  if (fallsAt !== undefined) afterFall(loss, prices, fallsAt, timeOf)
  return loss
}

function afterFall(loss: Loss, prices: ArrayLike<number>, fallsAt: number, timeOf: (print: number) => number): void {
  for (let since = Math.max(FIRST, fallsAt - OPEN_BEFORE); since < fallsAt; since += 5) {
    const { at } = firstExit(prices, since)
    if (at < fallsAt) continue
    const delay = at === prices.length ? Number.POSITIVE_INFINITY : timeOf(at) - timeOf(fallsAt)
    loss.open++
    if (delay > MOST_DELAY_MS) loss.unsold++
    loss.delays.push(Math.min(delay, MOST_DELAY_MS))
  }
}

/** Figures of a rule on one data set. `falseBound`: upper end of the 95 % interval of the share of false exits, by a
 *  bootstrap over the tokens. */
export interface Summary {
  readonly exits: number
  readonly falseShare: number
  readonly falseBound: number
  readonly worstToken: number
  readonly noiseShare: number
  readonly lateSeconds: readonly number[]
  readonly latePrints: readonly number[]
  readonly slip: number
  readonly delaySeconds: number
  readonly delayP90: number
  readonly unsoldShare: number
}

const sum = (values: readonly number[]): number => values.reduce((total, one) => total + one, 0)

export function summarize(losses: readonly Loss[]): Summary {
  const exits = sum(losses.map((loss) => loss.exits))
  const parts = [0.1, 0.5, 0.9]
  const lateSeconds = losses.flatMap((loss) => loss.lateSeconds)
  const latePrints = losses.flatMap((loss) => loss.latePrints)
  const slips = losses.flatMap((loss) => loss.slips)
  const delays = losses.flatMap((loss) => loss.delays)
  const withExits = losses.filter((loss) => loss.exits > 0)
  return {
    exits,
    falseShare: sum(losses.map((loss) => loss.falseExits)) / exits,
    falseBound: upperBound(withExits),
    worstToken: Math.max(...withExits.map((loss) => loss.falseExits / loss.exits)),
    noiseShare: sum(losses.map((loss) => loss.noise)) / exits,
    lateSeconds: parts.map((part) => quantile(lateSeconds, part)),
    latePrints: parts.map((part) => quantile(latePrints, part)),
    slip: sum(slips) / slips.length,
    delaySeconds: sum(delays) / delays.length / 1_000,
    delayP90: quantile(delays, 0.9) / 1_000,
    unsoldShare: sum(losses.map((loss) => loss.unsold)) / sum(losses.map((loss) => loss.open)),
  }
}

function upperBound(losses: readonly Loss[]): number {
  const random = seededRandom(1)
  const shares = Array.from({ length: DRAWS }, () => {
    let exits = 0
    let falseExits = 0
    for (let draw = 0; draw < losses.length; draw++) {
      const loss = losses[random.integer(losses.length)] as Loss
      exits += loss.exits
      falseExits += loss.falseExits
    }
    return falseExits / exits
  })
  return quantile(shares, 0.95)
}
