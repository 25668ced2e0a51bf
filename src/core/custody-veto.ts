import type { Veto } from './risk.ts'
import type { Session } from './session.ts'

/** Why nothing may be bought of this mint with this account's wallet. */
export function custodyVeto({ book, unread }: Session, account: string, mint: string): Veto | undefined {
  const { foreign = [], quarantined = [] } = book.accounts.get(account) ?? {}
  if (unread.has(account)) return { code: 'CHAIN_UNREAD', reason: 'the chain has not been read up to now' }
  if (foreign.length > 0) return { code: 'FOREIGN_TX', reason: `somebody else used the wallet: ${foreign.join(', ')}` }
  if (quarantined.includes(mint)) return { code: 'QUARANTINED', reason: 'the wallet holds less of it than was booked' }
  return undefined
}
