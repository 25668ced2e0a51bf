import { LAMPORTS_PER_SOL, type Lamports, lamports, solToLamports } from '../base/units.ts'
import { MOST_SLIPPAGE } from '../engine/bounds.ts'
import type { Limits } from '../engine/limits/limit-rows.ts'
import { LEAST_BUY, worstCostOf } from '../engine/limits/order-bounds.ts'
import { BASE_FEE, TOKEN_ACCOUNT_RENT } from '../solana/constants.ts'
import { VENUE_FEE } from '../solana/pool-depth.ts'
import type { BotConfig, ServiceConfig } from './config.ts'

/** What limits let happen at the worst: every slippage, fee and rent that a strategy may ask for is in; null where
 *  nothing bounds it, or only a number beyond any wallet (`BOUNDLESS`). What sales pay comes on top. */
export interface WorstCase {
  /** The largest buy that may be asked for. */
  readonly largestBuy: Lamports
  /** The most that one buy takes out of the wallet. */
  readonly perOrder: Lamports
  /** In any 60 minutes, and in a UTC day: in buys of the smallest size, because each of them pays its fees. */
  readonly perHour: Lamports | null
  readonly perDay: Lamports | null
  /** SOL asked for everything that may be held at once. */
  readonly exposure: Lamports | null
  /** What is lost when all of that goes to zero. */
  readonly loss: Lamports | null
}

/** More than any wallet holds: limits that multiply or add up to more bound nothing. With every fee on top it is still
 *  a whole number. */
const BOUNDLESS = solToLamports(500_000)
/** What the service takes from a key whose plan names no other maximum. */
const MOST_BUY = solToLamports(100)
/** What services pay when the fee is theirs to choose: the usual, where `worstCost` counts the most. */
const USUAL_PRIORITY_FEE = solToLamports(0.0005)

type Bounds = Pick<
  Limits,
  | 'minLamportsPerOrder'
  | 'maxLamportsPerOrder'
  | 'maxSlippagePercent'
  | 'maxLamportsPerHour'
  | 'maxLamportsPerDay'
  | 'maxExposureLamports'
>

/** Of one bot, whose wallet has limits, too. */
export function worstCaseOf(bot: Pick<BotConfig, 'limits'>, wallet: Limits, plan: ServiceConfig['plan']): WorstCase {
  return worstOf(boundsOf(bot.limits, wallet), plan)
}

/** Of all these bots, at least one, on one wallet. */
export function worstTogether(
  bots: readonly Pick<BotConfig, 'limits'>[],
  wallet: Limits,
  plan: ServiceConfig['plan'],
): WorstCase {
  const all = bots.map(({ limits }) => boundsOf(limits, wallet))
  const sum = (key: keyof Bounds) => total(all.map((bounds) => bounds[key]))
  const most = (key: keyof Bounds) => {
    const values = all.map((bounds) => bounds[key])
    return values.some((value) => value === null) ? null : Math.max(...(values as number[]))
  }
  const smallest = Math.min(...all.map(({ minLamportsPerOrder }) => minLamportsPerOrder ?? LEAST_BUY))
  return worstOf(
    {
      minLamportsPerOrder: lamports(smallest),
      maxLamportsPerOrder: most('maxLamportsPerOrder') as Lamports | null,
      maxSlippagePercent: most('maxSlippagePercent'),
      ...inTime(
        least(sum('maxLamportsPerHour'), wallet.maxLamportsPerHour),
        least(sum('maxLamportsPerDay'), wallet.maxLamportsPerDay),
      ),
      maxExposureLamports: least(sum('maxExposureLamports'), exposureOf(wallet)),
    },
    plan,
  )
}

function worstOf(bounds: Bounds, plan: ServiceConfig['plan']): WorstCase {
  const { maxLamportsPerHour: hour, maxLamportsPerDay: day, maxExposureLamports: exposure } = bounds
  const mostBuy = typeof plan === 'string' ? MOST_BUY : plan.maxBuyLamports
  const largestBuy = least(bounds.maxLamportsPerOrder, hour, day, exposure, mostBuy) ?? mostBuy
  const slippage = bounds.maxSlippagePercent ?? MOST_SLIPPAGE
  const smallestBuy = Math.max(LEAST_BUY, bounds.minLamportsPerOrder ?? LEAST_BUY)
  const cost = (asked: number | null) =>
    asked === null ? null : worstCostOf(asked, slippage, Math.floor(asked / smallestBuy))
  return {
    largestBuy,
    perOrder: worstCostOf(largestBuy, slippage, 1),
    perHour: cost(hour),
    perDay: cost(day),
    exposure,
    loss: cost(exposure),
  }
}

/** The tighter of what a bot and its wallet may. */
function boundsOf(bot: Limits, wallet: Limits): Bounds {
  const both = (key: keyof Bounds) => least(bot[key], wallet[key])
  const smallest = Math.max(bot.minLamportsPerOrder ?? LEAST_BUY, wallet.minLamportsPerOrder ?? LEAST_BUY)
  const slippages = [bot.maxSlippagePercent, wallet.maxSlippagePercent].filter((slippage) => slippage !== null)
  return {
    minLamportsPerOrder: lamports(smallest),
    maxSlippagePercent: slippages.length === 0 ? null : Math.min(...slippages),
    // No single buy is larger than what one of its kind may come to.
    maxLamportsPerOrder: least(
      ...[bot, wallet].flatMap((one) => [one.maxLamportsPerOrder, one.maxLamportsPerMint, one.maxLamportsPerCreator]),
    ),
    ...inTime(both('maxLamportsPerHour'), both('maxLamportsPerDay')),
    maxExposureLamports: least(exposureOf(bot), exposureOf(wallet)),
  }
}

/** Each bounds the other: a day holds 24 hours, and an hour across midnight UTC holds parts of two days. */
function inTime(hour: number | null, day: number | null): Pick<Bounds, 'maxLamportsPerHour' | 'maxLamportsPerDay'> {
  return {
    maxLamportsPerHour: least(hour, day === null ? null : 2 * day),
    maxLamportsPerDay: least(day, hour === null ? null : 24 * hour),
  }
}

/** How many positions there are says nothing of their size: a strategy may add to each. */
function exposureOf({ maxOpenPositions, maxLamportsPerMint, maxExposureLamports }: Limits): Lamports | null {
  const bySize = maxOpenPositions === null || maxLamportsPerMint === null ? null : maxOpenPositions * maxLamportsPerMint
  return least(bySize, maxExposureLamports)
}

function total(amounts: readonly (number | null)[]): number | null {
  return amounts.includes(null) ? null : amounts.reduce<number>((sum, amount) => sum + (amount ?? 0), 0)
}

/** The buy by which fees are judged: the strategy's own `sizeSol`, as strategies call it, else the largest that a limit
 *  allows. */
export function usualBuyOf(bot: BotConfig, { largestBuy }: WorstCase): Lamports | null {
  const { params } = bot
  const size = typeof params === 'object' && params !== null && 'sizeSol' in params ? params.sizeSol : undefined
  if (typeof size === 'number' && size > 0)
    return lamports(Math.round(Math.min(Math.max(size * LAMPORTS_PER_SOL, LEAST_BUY), largestBuy)))
  return bot.limits.maxLamportsPerOrder === null ? null : largestBuy
}

/** How far a price has to rise, in percent, until selling brings back what the buy has cost: the venue's fee both ways,
 *  base and priority fee of both transactions, and the rent of the token account, which stays in it. Slippage and the
 *  order's own impact come on top. */
export function breakEvenPercent(buy: Lamports, priorityFee: Lamports | null): number {
  const fee = BASE_FEE + (priorityFee ?? USUAL_PRIORITY_FEE)
  const toGetBack = buy + 2 * fee + TOKEN_ACCOUNT_RENT
  const tokensPaid = buy / (1 + VENUE_FEE)
  return (toGetBack / (tokensPaid * (1 - VENUE_FEE)) - 1) * 100
}

function least(...bounds: (number | null)[]): Lamports | null {
  const there = bounds.filter((bound) => bound !== null && bound <= BOUNDLESS) as number[]
  return there.length === 0 ? null : lamports(Math.min(...there))
}
