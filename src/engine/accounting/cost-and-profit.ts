import { type Lamports, lamports, solToLamports, type TokenAmount, wholeTokens, ZERO } from '../../base/units.ts'
import type { Fill } from '../order.ts'
import type { Position } from './position.ts'

// A position is valued at the average cost of its tokens, so the cost of a sale is a share of that cost. Tax exports
// use the cost of each lot instead (`tax-lots.ts`).

/** Books a buy. Returns the profit, which is 0. */
export function addTokens(position: Position, fill: Fill): Lamports {
  const opens = position.tokens === 0n
  const { bought = position.tokens, oversold = 0n } = position
  // If all tokens were sold while this buy was on its way, the take-profit steps restart. They do not restart if tokens
  // were oversold, because then a fork changed the order of the fills.
  const isAnew = opens && bought > 0n && oversold === 0n
  if (isAnew) delete position.steps
  position.bought = isAnew ? fill.tokens : bought + fill.tokens
  const share = putIn(position, fill.tokens)
  position.decimals = fill.decimals
  setCost(position, position.costLamports + Math.round(fill.tradeLamports * share))
  if (position.tokens > 0n)
    position.averagePrice = position.costLamports / 1e9 / wholeTokens(position.tokens, position.decimals)
  if (opens) {
    position.openedAt = fill.time
    position.highPrice = position.averagePrice
  }
  return ZERO
}

/** Books a sale and returns its profit. If it sold more than was held, all its proceeds are booked, and the cost does
 *  not fall below 0. */
export function removeTokens(position: Position, fill: Fill): Lamports {
  const share = position.tokens === 0n ? 1 : Math.min(1, Number(fill.tokens) / Number(position.tokens))
  const cost = Math.round(position.costLamports * share)
  takeOut(position, fill.tokens)
  setCost(position, position.tokens === 0n ? 0 : position.costLamports - cost)
  return earn(position, fill.tradeLamports - cost)
}

/** Reverses a buy. Returns the profit, which is 0. */
export function undoBuy(position: Position, fill: Fill): Lamports {
  const { bought = position.tokens } = position
  position.bought = bought > fill.tokens ? bought - fill.tokens : 0n
  takeOut(position, fill.tokens)
  setCost(position, position.tokens === 0n ? 0 : position.costLamports - fill.tradeLamports)
  return ZERO
}

/** Reverses a sale and returns the negated profit. The tokens return at the average price of the position or, if that
 *  is unknown, at the price of the sale. */
export function undoSale(position: Position, fill: Fill): Lamports {
  const average = solToLamports(position.averagePrice * wholeTokens(fill.tokens, fill.decimals))
  const cost = position.averagePrice > 0 ? average : fill.tradeLamports
  const share = putIn(position, fill.tokens)
  position.decimals = fill.decimals
  setCost(position, position.costLamports + Math.round(cost * share))
  if (position.averagePrice === 0 && position.tokens > 0n)
    position.averagePrice = position.costLamports / 1e9 / wholeTokens(position.tokens, position.decimals)
  position.highPrice = Math.max(position.highPrice, position.averagePrice)
  return earn(position, cost - fill.tradeLamports)
}

/** Adds the tokens of a buy. If tokens were oversold before, that many tokens of the buy count as sold and are not
 *  added. Returns the share of the tokens that was added, 0 to 1. */
function putIn(position: Position, tokens: TokenAmount): number {
  const { oversold = 0n } = position
  const owed = oversold < tokens ? oversold : tokens
  if (owed > 0n) position.oversold = oversold - owed
  position.tokens += tokens - owed
  return owed === 0n ? 1 : Number(tokens - owed) / Number(tokens)
}

function takeOut(position: Position, tokens: TokenAmount): void {
  const left = position.tokens - tokens
  position.tokens = left < 0n ? 0n : left
  if (left < 0n) position.oversold = (position.oversold ?? 0n) - left
}

function setCost(position: Position, cost: number): void {
  position.costLamports = lamports(Math.max(0, cost))
}

function earn(position: Position, profit: number): Lamports {
  position.realizedLamports = lamports(position.realizedLamports + profit)
  return lamports(profit)
}
