import { mintRefusal } from './mint-check.ts'
import type { Veto } from './risk.ts'
import type { Session } from './session.ts'
import type { BotSettings } from './settings.ts'

/** Why this bot may buy nothing of this mint with its account's wallet. */
export function custodyVeto(
  { book, gates, mintFacts }: Session,
  { account, tokenChecks }: Pick<BotSettings, 'account' | 'tokenChecks'>,
  mint: string,
): Veto | undefined {
  const { foreign = [], quarantined = [], breached = false } = book.accounts.get(account.id) ?? {}
  const facts = account.mode === 'live' ? mintFacts.get(mint) : undefined
  const closed = gates.veto(account.id)
  if (closed !== undefined) return closed
  if (foreign.length > 0) return { code: 'FOREIGN_TX', reason: `no order here made ${foreign.join(', ')}` }
  if (breached) return { code: 'UNEXPECTED_FILL', reason: 'the wallet executed what no order was waiting for' }
  if (quarantined.includes(mint)) return { code: 'QUARANTINED', reason: 'the wallet holds less of it than was booked' }
  return facts && mintRefusal(facts, tokenChecks)
}
