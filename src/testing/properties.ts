import { isOpen } from '../engine/order.ts'
import type { FillView } from '../engine/strategy.ts'
import type { TestOrder, TestPosition } from './run-log.ts'

/** The data of the bot that the function of a `Property` can read. */
export interface TestReadings {
  /** Time of the simulated clock, ms since the Unix epoch. */
  readonly now: number
  /** All orders so far, oldest first. */
  readonly orders: readonly TestOrder[]
  /** All fills so far, oldest first. */
  readonly fills: readonly FillView[]
  /** Positions that are not closed. */
  positions(): readonly TestPosition[]
}

/** A statement about a bot that must be true after every row. Returns true if the statement is true; otherwise false,
 *  or a text that describes the violation. */
export type Property = (at: { readonly bot: TestReadings }) => boolean | string

/** The bot never has more than `tokens` positions, and never more than `sol` SOL in positions (at cost) and open
 *  buys. */
export function holdsAtMost({
  tokens = Number.POSITIVE_INFINITY,
  sol = Number.POSITIVE_INFINITY,
}: {
  /** Largest number of positions at the same time; unlimited if absent. @unitless */
  tokens?: number
  /** Largest amount in positions and open buys, SOL; unlimited if absent. */
  sol?: number
}): Property {
  return ({ bot }) => {
    const held = bot.positions()
    if (held.length > tokens) return `the bot has ${held.length} positions, at most ${tokens} are allowed`
    const invested = held.reduce((sum, { costSol }) => sum + costSol, 0) + solOfOpenBuys(bot.orders)
    return (
      invested <= sol || `the bot has ${invested.toFixed(4)} SOL in positions and open buys, at most ${sol} are allowed`
    )
  }
}

function solOfOpenBuys(orders: readonly TestOrder[]): number {
  return orders.reduce((sum, { state, sol = 0 }) => (isOpen(state) ? sum + sol : sum), 0)
}

/** Every position is closed at most this many seconds after it opened. */
export function isOutWithin(seconds: number): Property {
  return ({ bot }) => {
    const late = bot
      .positions()
      .find(({ state, openedAt }) => state !== 'opening' && bot.now - openedAt > seconds * 1000)
    return late === undefined || `${late.mint} has been held for ${((bot.now - late.openedAt) / 1000).toFixed(1)} s`
  }
}

/** The bot buys no token twice. Buys that ended without a fill do not count. */
export function neverBuysTwice(): Property {
  return ({ bot }) => {
    const bought = new Set<string>()
    for (const { side, mint, state, reason } of bot.orders) {
      if (side !== 'buy' || !(isOpen(state) || state === 'filled')) continue
      if (bought.has(mint)) return `${mint} is bought a second time: ${reason}`
      bought.add(mint)
    }
    return true
  }
}
