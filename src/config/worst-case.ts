import { VENUE_FEE } from '../core/curve.ts'
import { BASE_FEE, LEAST_BUY, TOKEN_ACCOUNT_RENT, worstCost } from '../core/risk.ts'
import { type Lamports, lamports, solToLamports } from '../core/units.ts'
import type { BotConfig, ServiceConfig } from './config.ts'

/** What a bot's limits let happen, every slippage, fee and rent in; null where nothing bounds it. */
export interface WorstCase {
  /** The largest buy it may ask for. */
  readonly largestBuy: Lamports
  /** The most that one buy takes out of the wallet. */
  readonly perOrder: Lamports
  readonly perHour: Lamports | null
  /** SOL asked for everything it may hold at once. */
  readonly exposure: Lamports | null
  /** What it loses when all of that goes to zero. */
  readonly loss: Lamports | null
}

/** What the service takes from a key whose plan names no other maximum. */
const MOST_BUY = solToLamports(100)
/** What services pay when the fee is theirs to choose: the usual, where `worstCost` counts the most. */
const USUAL_PRIORITY_FEE = solToLamports(0.0005)

/** Hours are counted in buys of the largest size: the same money in smaller ones costs more fees. */
export function worstCaseOf(bot: BotConfig, plan: ServiceConfig['plan']): WorstCase {
  const { maxLamportsPerHour: hour, maxLamportsPerMint: mint, maxLamportsPerOrder: order } = bot.limits
  const mostBuy = typeof plan === 'string' ? MOST_BUY : plan.maxBuyLamports
  const largestBuy = least(order, hour, mint, mostBuy) ?? mostBuy
  const cost = (asked: Lamports | null) => (asked === null ? null : costOf(asked, largestBuy, bot))
  const exposure = exposureOf(bot, largestBuy)
  return {
    largestBuy,
    perOrder: worstCost(largestBuy, bot.orders.slippagePercent, bot.orders.priorityFeeLamports),
    perHour: cost(hour),
    exposure,
    loss: cost(exposure),
  }
}

/** Bounded by the positions and their size; and by the hour, since nothing is kept longer than maxHoldSeconds. */
function exposureOf({ limits, exits }: BotConfig, largestBuy: Lamports): Lamports | null {
  const { maxOpenPositions, maxLamportsPerMint, maxLamportsPerHour } = limits
  const bySize = maxOpenPositions === null ? null : maxOpenPositions * (maxLamportsPerMint ?? largestBuy)
  const hours = exits.maxHoldSeconds === undefined ? null : Math.ceil(exits.maxHoldSeconds / 3600)
  const byTime = hours === null || maxLamportsPerHour === null ? null : hours * maxLamportsPerHour
  return least(bySize, byTime)
}

function costOf(asked: Lamports, largestBuy: Lamports, { orders }: BotConfig): Lamports {
  const cost = (amount: Lamports) => worstCost(amount, orders.slippagePercent, orders.priorityFeeLamports)
  const whole = Math.floor(asked / largestBuy)
  const rest = lamports(asked - whole * largestBuy)
  return lamports(whole * cost(largestBuy) + (rest >= LEAST_BUY ? cost(rest) : 0))
}

/** The buy by which fees are judged: the strategy's own `sizeSol`, as strategies call it, else the largest that a limit allows. */
export function usualBuyOf(bot: BotConfig, { largestBuy }: WorstCase): Lamports | null {
  const { params } = bot
  const size = typeof params === 'object' && params !== null && 'sizeSol' in params ? params.sizeSol : undefined
  if (typeof size === 'number' && size > 0) return least(solToLamports(size), largestBuy)
  return bot.limits.maxLamportsPerOrder === null ? null : largestBuy
}

/** How far a price has to rise, in percent, until selling brings back what the buy has cost: the venue's fee both ways, base and priority
 *  fee of both transactions, and the rent of the token account, which stays in it. Slippage and the order's own impact come on top. */
export function breakEvenPercent(buy: Lamports, priorityFee: Lamports | null): number {
  const fee = BASE_FEE + (priorityFee ?? USUAL_PRIORITY_FEE)
  const toGetBack = buy + 2 * fee + TOKEN_ACCOUNT_RENT
  const tokensPaid = buy / (1 + VENUE_FEE)
  return (toGetBack / (tokensPaid * (1 - VENUE_FEE)) - 1) * 100
}

function least(...bounds: (number | null)[]): Lamports | null {
  const there = bounds.filter((bound) => bound !== null)
  return there.length === 0 ? null : lamports(Math.min(...there))
}
