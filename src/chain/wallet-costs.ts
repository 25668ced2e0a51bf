import { JITO_TIPS } from '../core/builder-policy.ts'
import { WSOL_MINT } from '../core/programs.ts'
import { lamports } from '../core/units.ts'
import type { WalletCosts } from '../core/wallet.ts'
import { balanceChange } from './change.ts'
import { networkFeeOf } from './network-fee.ts'
import { ownTokenAccounts, type Payment, paymentsOf } from './payments.ts'
import type { LandedTransaction, TokenBalance } from './transaction.ts'

/** What a wallet paid in a transaction whatever it was for, and the accounts that this was read from. */
export interface OwnPart {
  readonly costs: WalletCosts
  /** Token accounts of the wallet, with their mint. */
  readonly own: ReadonlyMap<string, string>
  /** What an account gained; 0 where it lost. */
  readonly gain: (key: string) => number
  /** Of that, what opened it. */
  readonly rentTo: (key: string) => number
  /** What the wallet paid by transfers of this kind, by account. */
  readonly paid: (which: (payment: Payment) => boolean) => Map<string, number>
}

/** Amounts are changes of balances; instructions only say whose each one is. Throws RangeError where a number passes 2^53. */
export function ownPartOf(transaction: LandedTransaction, wallet: string): OwnPart {
  const own = ownTokenAccounts(transaction, wallet)
  const deltas = new Map(transaction.accounts.map((key, index) => [key, balanceChange(transaction, index)]))
  const payments = paymentsOf(transaction, wallet, own).filter(({ to }) => to !== wallet && !own.has(to))
  const opened = sumBy(payments.filter(({ opens, to }) => opens && isNew(transaction, to)))
  // Whatever an instruction says, nobody was paid more than he got.
  const gain = (key: string): number => Math.max(0, deltas.get(key) ?? 0)
  const rentTo = (key: string): number => Math.min(opened.get(key) ?? 0, gain(key))
  const paid = (which: (payment: Payment) => boolean): Map<string, number> => {
    const sums = sumBy(payments.filter((payment) => !payment.opens && which(payment)))
    return new Map([...sums].map(([to, sum]) => [to, Math.min(sum, gain(to) - rentTo(to))]))
  }
  const network = transaction.accounts[0] === wallet ? networkFeeOf(transaction) : { base: 0, priority: 0 }
  const kept = keptOf(transaction, wallet, own)
  const costs: WalletCosts = {
    baseFeeLamports: lamports(network.base),
    priorityFeeLamports: lamports(network.priority),
    tipLamports: lamports(total(paid(({ to }) => isTip(to)).values())),
    rentPaidLamports: lamports(kept.rentPaid + total([...opened.keys()].map(rentTo))),
    rentReturnedLamports: lamports(kept.rentReturned),
    wrappedLamports: lamports(kept.wrapped),
  }
  return { costs, own, gain, rentTo, paid }
}

/** undefined where its numbers are more than there is SOL. */
export function walletCostsOf(transaction: LandedTransaction, wallet: string): WalletCosts | undefined {
  try {
    return ownPartOf(transaction, wallet).costs
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return undefined
  }
}

/** What is still the wallet's afterwards, but not in its own account. */
function keptOf(
  transaction: LandedTransaction,
  wallet: string,
  own: ReadonlyMap<string, string>,
): { wrapped: number; rentPaid: number; rentReturned: number } {
  const sums = { wrapped: 0, rentPaid: 0, rentReturned: 0 }
  for (const [key, mint] of own) {
    const place = transaction.accounts.indexOf(key)
    if (key === wallet || place < 0) continue
    const amount = (balances: readonly TokenBalance[]): number =>
      Number(balances.find(({ account, owner }) => account === place && owner === wallet)?.tokens ?? 0n)
    const wrapped = mint === WSOL_MINT ? amount(transaction.after) - amount(transaction.before) : 0
    const rent = balanceChange(transaction, place) - wrapped
    sums.wrapped += wrapped
    if (rent > 0) sums.rentPaid += rent
    else sums.rentReturned -= rent
  }
  return sums
}

export function isTip(key: string): boolean {
  return (JITO_TIPS as readonly string[]).includes(key)
}

export function total(values: Iterable<number>): number {
  let sum = 0
  for (const value of values) sum += value
  return sum
}

function isNew({ accounts, lamportsBefore }: LandedTransaction, key: string): boolean {
  return lamportsBefore[accounts.indexOf(key)] === 0
}

function sumBy(payments: readonly Payment[]): Map<string, number> {
  const sums = new Map<string, number>()
  for (const { to, lamports: paid } of payments) sums.set(to, (sums.get(to) ?? 0) + paid)
  return sums
}
