import { NO_RESULTS } from './money.ts'
import type { Session } from './session.ts'
import type { BotSettings } from './settings.ts'
import { dayOf } from './units.ts'

/** The accounts of these bots: those that the journal does not know begin here. */
export function openAccounts(session: Session, bots: readonly BotSettings[]): void {
  const { accounts } = session.book
  // A halt is the operator's word for all of it, so what joins later is halted too.
  const halted = [...accounts.values()].some((account) => account.halted)
  for (const { account, paperLamports } of bots) {
    if (account.mode === 'live') session.gates.take({ kind: 'gate', account: account.id, open: false })
    if (accounts.has(account.id)) continue
    const lamports = account.mode === 'live' ? null : paperLamports
    const results = { ...NO_RESULTS, day: dayOf(session.now) }
    const money = { account: account.id, lamports, slot: 0, halted, results }
    accounts.set(account.id, money)
    session.emitAccount(money)
  }
}
