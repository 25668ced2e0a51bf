import { inOrder, type Movement } from '../core/lots.ts'
import { type Lamports, ZERO } from '../core/units.ts'
import { TripLog } from './trip.ts'

/** A transaction that landed and moved nothing but its fee. */
export interface FailedTransaction {
  readonly account: string
  readonly bot: string
  readonly mint: string
  readonly feeLamports: Lamports
}

/** What one bot has traded in one account, as the journal's books have it. */
export interface RecordedTrades {
  readonly account: string
  readonly bot: string
  readonly log: TripLog
}

/** The trades of a run by bot, in the order in which they began: what a fork took back never was. `reasonOf`: of an order, by its id. */
export function recordedTrades(
  movements: readonly Movement[],
  failed: readonly FailedTransaction[],
  reasonOf: (orderId: string) => string,
): RecordedTrades[] {
  const bots = new Map<string, RecordedTrades>()
  const logOf = ({ account, bot }: Pick<RecordedTrades, 'account' | 'bot'>): TripLog => {
    const key = `${account}\n${bot}`
    const known = bots.get(key) ?? { account, bot, log: new TripLog() }
    bots.set(key, known)
    return known.log
  }
  for (const one of inOrder(movements)) {
    if (one.kind === 'fill') logOf(one.fill).filled(one.fill, reasonOf(one.fill.orderId))
    else if (one.kind === 'lost') logOf(one).lost(one.mint, one.time, one.left)
    else logOf(one).filled({ ...one, ...BROUGHT, tradeLamports: one.costLamports }, 'adopted')
  }
  for (const one of failed) logOf(one).failed(one.mint, one.feeLamports)
  return [...bots.values()]
}

const BROUGHT = { side: 'buy', feeLamports: ZERO, rentLamports: ZERO } as const
