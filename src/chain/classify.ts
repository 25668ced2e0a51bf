import { lamports } from '../core/units.ts'
import type { TransactionClass, WalletCosts, WalletTransaction } from '../core/wallet.ts'
import type { WalletChange } from './change.ts'
import type { Listed } from './read.ts'
import type { LandedTransaction } from './transaction.ts'

/** What a transaction that no order of ours made may cost and still count as a fee: tips, rent, wrapping. */
const MOST_HOUSEKEEPING = 3_000_000

/** `attemptId`: the attempt that made it, '' where none did. `isTracked`: a mint that a bot holds or orders. */
export function classOf(
  { signed, netLamports, tokens }: WalletChange,
  attemptId: string,
  isTracked: (mint: string) => boolean,
): TransactionClass {
  if (attemptId !== '') return 'ours'
  if (!signed) return 'inflow'
  const movesTracked = [...tokens.keys()].some(isTracked)
  return movesTracked || -netLamports > MOST_HOUSEKEEPING ? 'foreign' : 'housekeeping'
}

export function classified(
  account: string,
  transaction: LandedTransaction,
  change: WalletChange,
  costs: WalletCosts | undefined,
  attemptId: string,
  isTracked: (mint: string) => boolean,
): WalletTransaction {
  const { signature, slot, time, error } = transaction
  return {
    account,
    signature,
    slot,
    class: classOf(change, attemptId, isTracked),
    attemptId,
    lamports: lamports(change.lamports),
    time,
    after: slot - 1,
    failed: error !== null,
    ...(costs !== undefined && { costs }),
  }
}

/** One that is listed and that nobody can read. */
export function opaque(account: string, { signature, slot, failed, time }: Listed, change: number): WalletTransaction {
  const common = { account, signature, slot, attemptId: '', time, failed, after: slot - 1 }
  return { ...common, class: 'opaque', lamports: lamports(change) }
}

/** What happened between two readings and that no node lists. */
export function unlisted(account: string, after: number, slot: number, change: number): WalletTransaction {
  const common = { account, signature: `?${slot}`, slot, attemptId: '', time: null, failed: false, after }
  return { ...common, class: 'opaque', lamports: lamports(change) }
}
