import { lamports, type TokenAmount } from '../../base/units.ts'
import type { TransactionClass, WalletCosts, WalletTransaction } from '../../orders/audit-records.ts'
import type { Listed } from '../rpc/read.ts'
import type { LandedTransaction, TokenBalance } from './landed-transaction.ts'

/** Effect of a transaction on a wallet. It is computed from the balances before and after, so no program needs to be
 *  known. */
export interface WalletChange {
  readonly signed: boolean
  /** Lamports that the wallet's own account gained; negative if it lost SOL. */
  readonly lamports: number
  /** Lamports that the wallet's own account and its token accounts gained together. Rent and wrapped SOL in token
   *  accounts still belong to the wallet. */
  readonly netLamports: number
  /** Base units gained, by mint; negative if the wallet lost tokens. Unchanged mints are omitted. */
  readonly tokens: ReadonlyMap<string, TokenAmount>
}

export function changeOf(transaction: LandedTransaction, wallet: string): WalletChange {
  const index = transaction.accounts.indexOf(wallet)
  const lamports = index < 0 ? 0 : balanceChange(transaction, index)
  const tokens = new Map<string, TokenAmount>()
  for (const { owner, mint } of [...transaction.before, ...transaction.after]) {
    const change = owner === wallet ? tokenChange(transaction, wallet, mint) : 0n
    if (change !== 0n) tokens.set(mint, change)
  }
  const signed = index >= 0 && index < transaction.signers
  return { signed, lamports, netLamports: lamports + ownAccountsChange(transaction, wallet, index), tokens }
}

export function tokenChange(transaction: LandedTransaction, wallet: string, mint: string): TokenAmount {
  return tokenChanges(transaction, mint).get(wallet) ?? 0n
}

/** Sums the tokens of a mint in all accounts of a wallet. */
export function tokensOf(balances: readonly TokenBalance[], wallet: string, mint: string): TokenAmount {
  return balances.reduce((total, one) => (one.owner === wallet && one.mint === mint ? total + one.tokens : total), 0n)
}

/** Sums the lamport changes of the wallet's token accounts that exist before or after the transaction. An account that
 *  existed only within the transaction has 0 lamports both before and after. */
function ownAccountsChange(transaction: LandedTransaction, wallet: string, walletIndex: number): number {
  const own = new Set<number>()
  for (const { owner, account } of [...transaction.before, ...transaction.after]) if (owner === wallet) own.add(account)
  own.delete(walletIndex)
  let change = 0
  for (const account of own) change += balanceChange(transaction, account)
  return change
}

export function balanceChange({ lamportsBefore, lamportsAfter }: LandedTransaction, account: number): number {
  return (lamportsAfter[account] ?? 0) - (lamportsBefore[account] ?? 0)
}

/** Changes of the tokens of a mint, by owner. The key '' collects accounts without a reported owner. */
export function tokenChanges({ before, after }: LandedTransaction, mint: string): Map<string, TokenAmount> {
  const changes = new Map<string, TokenAmount>()
  const add = (owner: string, tokens: bigint) => changes.set(owner, (changes.get(owner) ?? 0n) + tokens)
  for (const one of before) if (one.mint === mint) add(one.owner, -one.tokens)
  for (const one of after) if (one.mint === mint) add(one.owner, one.tokens)
  return changes
}

/** A transaction without an order counts as housekeeping, such as tips, rent and wrapping SOL, if it costs at most this
 *  number of lamports. */
const MOST_HOUSEKEEPING = 3000000

/** Classifies a transaction of the wallet. `attemptId`: the attempt that made the transaction, or ''. `isTracked`:
 *  returns whether a bot holds a mint or has an order for it. */
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

/** Creates the journal row for a transaction that the node lists but that cannot be read. */
export function opaque(account: string, { signature, slot, failed, time }: Listed, change: number): WalletTransaction {
  const common = { account, signature, slot, attemptId: '', time, failed, after: slot - 1 }
  return { ...common, class: 'opaque', lamports: lamports(change) }
}

/** Creates the journal row for a change of the wallet's balance that happened between two audits and that no listed
 *  transaction explains. */
export function unlisted(account: string, after: number, slot: number, change: number): WalletTransaction {
  const common = { account, signature: `?${slot}`, slot, attemptId: '', time: null, failed: false, after }
  return { ...common, class: 'opaque', lamports: lamports(change) }
}
