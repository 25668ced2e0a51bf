import type { TokenAmount } from '../core/units.ts'
import type { LandedTransaction, TokenBalance } from './transaction.ts'

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
