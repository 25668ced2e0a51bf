import type { Millis } from '../../src/base/units.ts'
import type { Attempt } from '../../src/orders/attempt.ts'
import { DisplacedPool, type ExactPool } from './exact-pool.ts'

/** Buys that the model refused for their slippage, and their results in the exact pools. A model that refuses losing
 *  buys overstates the bot's result, although each of its fills is exact. */
export interface RefusedBuys {
  readonly refused: number
  /** Number of these buys that the exact pool would have filled within the slippage. */
  readonly fillable: number
  /** Result of the fillable buys if they are sold after a fixed time, before network fees; lamports. */
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

/** Whether this is the last state of a buy that landed and failed for its slippage. */
export function isRefusedBuy({ side, state, code }: Attempt): boolean {
  return side === 'buy' && state === 'reverted' && code === 'SLIPPAGE_EXCEEDED'
}

/** Returns the result of a buy that the pool quotes at the time of sending, as a service does, and executes at the
 *  landing; undefined if the price moved by more than the slippage. */
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
