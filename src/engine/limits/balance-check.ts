import { formatSol, type Lamports } from '../../base/units.ts'
import type { BuyRequest } from '../buy-and-sell-options.ts'
import type { EngineState } from '../engine-state.ts'
import { type BotSettings, walletSection } from '../settings.ts'
import { sellCost, type Veto, worstCost } from './order-bounds.ts'

/** Refuses a buy unless the free balance covers its worst-case cost and leaves enough SOL to sell every position. */
export function balanceVeto(
  { book }: Pick<EngineState, 'book'>,
  settings: BotSettings,
  mint: string,
  request: BuyRequest,
): Veto | undefined {
  const { account, walletLimits } = settings
  const balance = book.accounts.get(account.id)?.lamports ?? null
  if (balance === null) return { code: 'BALANCE_UNKNOWN', reason: 'the balance of the wallet has not been read yet' }
  const free = balance - book.reserved(account.id)
  const cost = reserveOf(request)
  if (free < cost)
    return {
      code: 'BALANCE_LOW',
      reason: `the order may cost ${formatSol(cost)} SOL, but only ${formatSol(free)} SOL are free`,
    }
  const floor = walletLimits.minBalanceLamports ?? exitFees(book, mint, settings, free - cost)
  if (free - cost >= floor) return undefined
  return {
    code: 'BALANCE_FLOOR',
    reason: `the order may cost ${formatSol(cost)} of ${formatSol(free)} free SOL, but ${formatSol(floor)} SOL must remain for the fees of exits (${walletSection(settings)}.minBalanceSol)`,
  }
}

/** Returns the lamports that a buy reserves until its outcome is known. */
export function reserveOf({ amount, orders }: BuyRequest): Lamports {
  return worstCost(amount, orders.slippagePercent, orders.priorityFeeLamports)
}

/** Returns the fees of one sale of each position, lamports, including the position that the buy opens. A position that
 *  is being sold is left out, because its fee is already reserved. Returns 0 if `left`, the balance after the buy,
 *  covers these fees in any case. */
function exitFees(
  book: EngineState['book'],
  mint: string,
  { account, orders, exitOrders }: Pick<BotSettings, 'account' | 'orders' | 'exitOrders'>,
  left: number,
): number {
  const cost = sellCost(exitOrders.priorityFeeLadder.at(-1) ?? orders.priorityFeeLamports)
  const held = book.positions.of(account.id)
  if ((held.size + 1) * cost <= left) return 0
  let positions = 1
  for (const position of held.values()) if (position.state !== 'closing' && position.mint !== mint) positions++
  return positions * cost
}
