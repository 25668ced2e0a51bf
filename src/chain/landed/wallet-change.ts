import { lamports, type TokenAmount } from '../../base/units.ts'
import type { TransactionClass, WalletCosts, WalletTransaction } from '../../orders/wallet-audit.ts'
import type { Listed } from '../rpc/read.ts'
import type { LandedTransaction, TokenBalance } from './landed-transaction.ts'

/** What a transaction did to a wallet; all from the balances before and after, so that no program needs to be known. */
export interface WalletChange {
  readonly signed: boolean
  /** Of the wallet's own account: what its balance tells. */
  readonly lamports: number
  /** With what lies in its token accounts: rent and wrapped SOL, which are still its own. */
  readonly netLamports: number
  /** By mint; those that did not change are left out. */
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

/** In all accounts of a wallet together. */
export function tokensOf(balances: readonly TokenBalance[], wallet: string, mint: string): TokenAmount {
  return balances.reduce((total, one) => (one.owner === wallet && one.mint === mint ? total + one.tokens : total), 0n)
}

/** Accounts of the wallet that exist before or after; one that lived within the transaction only has 0 at both ends. */
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

/** Of a mint, by owner; '' for accounts of which the node does not say whose they are. */
export function tokenChanges({ before, after }: LandedTransaction, mint: string): Map<string, TokenAmount> {
  const changes = new Map<string, TokenAmount>()
  const add = (owner: string, tokens: bigint) => changes.set(owner, (changes.get(owner) ?? 0n) + tokens)
  for (const one of before) if (one.mint === mint) add(one.owner, -one.tokens)
  for (const one of after) if (one.mint === mint) add(one.owner, one.tokens)
  return changes
}

/** What a transaction that no order of ours made may cost and still count as a fee: tips, rent, wrapping. */
const MOST_HOUSEKEEPING = 3000000

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
