import { LAMPORTS_PER_SOL, type Lamports, lamports, solToLamports } from '../base/units.ts'
import type { Limits } from '../engine/limits/limit-rules.ts'
import { LEAST_BUY, worstCostOf } from '../engine/limits/order-bounds.ts'
import { MOST_SLIPPAGE } from '../engine/setting-bounds.ts'
import { BASE_FEE, TOKEN_ACCOUNT_RENT } from '../solana/constants.ts'
import { VENUE_FEE } from '../solana/pool-depth.ts'
import type { BotConfig, ServiceConfig } from './config.ts'

/** Worst case that the limits allow, including slippage, fees and rent, but not the fees of sales. null: the amount is
 *  not limited, or the limit exceeds any wallet (`BOUNDLESS`). */
export interface WorstCase {
  /** Largest buy that a strategy may request, before slippage and fees. */
  readonly largestBuy: Lamports
  /** Largest number of lamports that one buy takes out of the wallet. */
  readonly perOrder: Lamports
  /** Largest number of lamports that buys take out of the wallet in any 60 minutes (`perHour`) and in a UTC day
   *  (`perDay`). Includes fees, and assumes buys of the smallest size, because many small buys pay more fees than few
   *  large ones. */
  readonly perHour: Lamports | null
  readonly perDay: Lamports | null
  /** Sum of the buys, before slippage and fees, of all positions that may be open at once. */
  readonly exposure: Lamports | null
  /** Loss if all positions of `exposure` become worthless, including slippage and fees. */
  readonly loss: Lamports | null
}

/** An amount that exceeds the balance of any wallet. If a product or a sum of limits is larger, it counts as no limit.
 *  The amount is small enough to remain a safe integer when fees are added. */
const BOUNDLESS = solToLamports(500_000)
/** Largest buy that the service accepts, unless the plan names another amount. */
const MOST_BUY = solToLamports(100)
/** Typical priority fee if the service chooses the fee. `worstCost` uses the maximum instead. */
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

/** Returns the worst case of one bot under its own limits and those of its wallet. */
export function worstCaseOf(bot: Pick<BotConfig, 'limits'>, wallet: Limits, plan: ServiceConfig['plan']): WorstCase {
  return worstOf(boundsOf(bot.limits, wallet), plan)
}

/** Returns the worst case of all given bots together, which share one wallet. There must be at least one. */
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

/** Returns the worst case of several wallets together. `wallets` must not be empty. */
export function worstSum(wallets: readonly WorstCase[]): WorstCase {
  const sum = (key: 'perHour' | 'perDay' | 'exposure' | 'loss') => {
    const all = total(wallets.map((one) => one[key]))
    return all === null || all > Number.MAX_SAFE_INTEGER ? null : lamports(all)
  }
  const most = (key: 'largestBuy' | 'perOrder') => lamports(Math.max(...wallets.map((one) => one[key])))
  return {
    ...{ largestBuy: most('largestBuy'), perOrder: most('perOrder') },
    ...{ perHour: sum('perHour'), perDay: sum('perDay'), exposure: sum('exposure'), loss: sum('loss') },
  }
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

/** For each limit, returns the stricter one of the values of the bot and of its wallet. */
function boundsOf(bot: Limits, wallet: Limits): Bounds {
  const both = (key: keyof Bounds) => least(bot[key], wallet[key])
  const smallest = Math.max(bot.minLamportsPerOrder ?? LEAST_BUY, wallet.minLamportsPerOrder ?? LEAST_BUY)
  const slippages = [bot.maxSlippagePercent, wallet.maxSlippagePercent].filter((slippage) => slippage !== null)
  return {
    minLamportsPerOrder: lamports(smallest),
    maxSlippagePercent: slippages.length === 0 ? null : Math.min(...slippages),
    // The limits per mint and per creator also limit each single buy.
    maxLamportsPerOrder: least(
      ...[bot, wallet].flatMap((one) => [one.maxLamportsPerOrder, one.maxLamportsPerMint, one.maxLamportsPerCreator]),
    ),
    ...inTime(both('maxLamportsPerHour'), both('maxLamportsPerDay')),
    maxExposureLamports: least(exposureOf(bot), exposureOf(wallet)),
  }
}

/** Returns the limits per hour and per day that follow from both given limits. A limit per hour also limits the sum of
 *  the 24 hours of a day. A limit per day also limits an hour, but only to twice its amount, because an hour that
 *  contains midnight UTC belongs to two days. */
function inTime(hour: number | null, day: number | null): Pick<Bounds, 'maxLamportsPerHour' | 'maxLamportsPerDay'> {
  return {
    maxLamportsPerHour: least(hour, day === null ? null : 2 * day),
    maxLamportsPerDay: least(day, hour === null ? null : 24 * hour),
  }
}

/** Returns the maximum exposure. The limit on the number of positions limits the exposure only together with the limit
 *  on their size, because a strategy may add to a position. */
function exposureOf({ maxOpenPositions, maxLamportsPerMint, maxExposureLamports }: Limits): Lamports | null {
  const bySize = maxOpenPositions === null || maxLamportsPerMint === null ? null : maxOpenPositions * maxLamportsPerMint
  return least(bySize, maxExposureLamports)
}

function total(amounts: readonly (number | null)[]): number | null {
  return amounts.includes(null) ? null : amounts.reduce<number>((sum, amount) => sum + (amount ?? 0), 0)
}

/** Returns the size of a typical buy, to which fees are compared: the param `sizeSol` of the strategy, otherwise the
 *  largest buy that a limit allows; null if neither exists. */
export function usualBuyOf(bot: BotConfig, { largestBuy }: WorstCase): Lamports | null {
  const { params } = bot
  const size = typeof params === 'object' && params !== null && 'sizeSol' in params ? params.sizeSol : undefined
  if (typeof size === 'number' && size > 0)
    return lamports(Math.round(Math.min(Math.max(size * LAMPORTS_PER_SOL, LEAST_BUY), largestBuy)))
  return bot.limits.maxLamportsPerOrder === null ? null : largestBuy
}

/** Returns the price increase, in percent, at which a sale returns the cost of its buy: the venue's fee on both trades,
 *  base and priority fees of both transactions, and the rent of the token account. Slippage and impact are not
 *  included. */
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
