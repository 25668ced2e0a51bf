import type { Millis } from '../../src/base/units.ts'
import type { Attempt } from '../../src/orders/attempt.ts'
import { DisplacedPool, type ExactPool } from './exact-pool.ts'

/** Buys that the fill model refused because of slippage, and their results in the exact pools. If these buys would have
 *  lost money, the model overstates the bot's result, even if each of its fills is right. */
export interface RefusedBuys {
  readonly refused: number
  /** Number of refused buys that the exact pool would have filled within the slippage. */
  readonly fillable: number
  /** Result of the fillable buys, lamports, if their tokens are sold after a fixed time; without network fees. */
  readonly resultLamports: number
}

interface Terms {
  readonly holdMs: Millis
  readonly serviceFeePercent: number
}

export function refusedBuys(
  pools: ReadonlyMap<string, ExactPool>,
  attempts: Iterable<Attempt>,
  terms: Terms,
): RefusedBuys {
  const results = [...attempts].map((attempt) => resultOf(pools.get(attempt.mint) as ExactPool, attempt, terms))
  const filled = results.filter((result) => result !== undefined)
  return {
    refused: results.length,
    fillable: filled.length,
    resultLamports: filled.reduce((sum, result) => sum + result, 0),
  }
}

/** Whether this is the last state of a buy that landed and failed because of slippage. */
export function isRefusedBuy({ side, state, code }: Attempt): boolean {
  return side === 'buy' && state === 'reverted' && code === 'SLIPPAGE_EXCEEDED'
}

/** Returns the result of a refused buy in the exact pool, lamports. The pool quotes it at the time of sending, as a
 *  service does, and executes it at the landing. Returns undefined if the price moved by more than the slippage in
 *  between. */
function resultOf(pool: ExactPool, attempt: Attempt, { holdMs, serviceFeePercent }: Terms): number | undefined {
  const { size, armedAt, slippagePercent, trail } = attempt
  const landedAt = trail?.findLast(({ state }) => state === 'landed' || state === 'reverted')?.at
  if (size.kind !== 'sol' || landedAt === undefined) return undefined
  const share = 1 - serviceFeePercent / 100
  const toVenue = BigInt(Math.floor(size.lamports * share))
  const quoted = new DisplacedPool(pool, armedAt).buy(toVenue)
  const there = new DisplacedPool(pool, landedAt)
  const { tokens } = there.buy(toVenue)
  if (Number(tokens) * (1 + slippagePercent / 100) < Number(quoted.tokens)) return undefined
  there.advance(landedAt + holdMs)
  const sold = there.sell(tokens)
  return (sold === undefined ? 0 : Math.floor(Number(sold.sol - sold.fee) * share)) - size.lamports
}
