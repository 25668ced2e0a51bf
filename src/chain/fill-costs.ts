import { JITO_TIPS } from '../core/builder-policy.ts'
import type { FillCosts } from '../core/fill-costs.ts'
import type { TradeSide } from '../core/order.ts'
import { WSOL_MINT } from '../core/programs.ts'
import { type Lamports, lamports, type TokenAmount } from '../core/units.ts'
import type { Call } from './calls.ts'
import { balanceChange, tokenChanges } from './change.ts'
import { networkFeeOf } from './network-fee.ts'
import { ownTokenAccounts, type Payment, paymentsOf } from './payments.ts'
import { poolsOf, venueOf } from './pools.ts'
import type { LandedTransaction, TokenBalance } from './transaction.ts'

/**
 * Takes apart what a landed trade changed in a wallet. Amounts are changes of balances, so that no program needs to be known and nobody's
 * numbers are believed; instructions only say whose each one is:
 *
 *   trade        what came into, or went out of, whoever gave or took the tokens: a pool is the owner of both of its vaults
 *   venue fee    what other accounts got that the program which moved the tokens was called with
 *   service fee  what the wallet paid beside that program: by the message itself, or by a program that stands above the venue
 *   rent         what is in the wallet's own token accounts and in records opened at its cost; a wrapped SOL is no rent
 *   remainder    what is left
 *
 * Where the pool is not seen, or the node does not tell what was called from inside, the fees stay inside the trade and are named unknown.
 * Throws RangeError where a number passes 2^53.
 */
export function fillCosts(transaction: LandedTransaction, wallet: string, mint: string, side: TradeSide): FillCosts {
  const own = ownTokenAccounts(transaction, wallet)
  const deltas = new Map(transaction.accounts.map((key, index) => [key, balanceChange(transaction, index)]))
  const isStranger = (key: string): boolean => key !== wallet && !own.has(key)
  const payments = paymentsOf(transaction, wallet, own).filter(({ to }) => isStranger(to))
  const opened = sumBy(payments.filter(({ opens, to }) => opens && isNew(transaction, to)))
  // Whatever an instruction says, nobody was paid more than he got.
  const gain = (key: string): number => Math.max(0, deltas.get(key) ?? 0)
  const rentTo = (key: string): number => Math.min(opened.get(key) ?? 0, gain(key))
  const paid = (which: (payment: Payment) => boolean): Map<string, number> => {
    const sums = sumBy(payments.filter((payment) => !payment.opens && which(payment)))
    return new Map([...sums].map(([to, sum]) => [to, Math.min(sum, gain(to) - rentTo(to))]))
  }
  const tips = paid(({ to }) => isTip(to))

  const pools = poolsOf(transaction, wallet, mint, side)
  const venue = venueOf(transaction, own, mint)
  const isPools = (key: string): boolean => pools.accounts.has(key)
  const services = paid(({ to, call }) => !isTip(to) && !isPools(to) && !isWithin(call, venue.frames))
  const venueGain = [...venue.accounts]
    .filter((key) => isStranger(key) && !isPools(key) && !isTip(key))
    .reduce((sum, key) => sum + gain(key) - rentTo(key) - (services.get(key) ?? 0), 0)

  const network = transaction.accounts[0] === wallet ? networkFeeOf(transaction) : { base: 0, priority: 0 }
  const tip = total(tips.values())
  const kept = keptOf(transaction, wallet, own)
  const rentPaid = kept.rentPaid + total([...opened.keys()].map(rentTo))
  const costs = network.base + network.priority + tip + kept.wrapped + rentPaid - kept.rentReturned
  const came = (deltas.get(wallet) ?? 0) + costs
  const gross = side === 'buy' ? 0 - came : came

  const service = total(services.values())
  const alone = pools.lamports - total([...pools.accounts].map(rentTo))
  const fees = side === 'buy' ? gross - alone : alone - gross
  const isSeen = alone > 0 && fees >= service && transaction.calls?.hasInner === true && venue.accounts.size > 0
  const venueFee = Math.min(venueGain, fees - service)
  const parts = isSeen ? { alone, venueFee, service } : { alone: gross, venueFee: 0, service: 0 }
  return {
    tradeLamports: lamports(parts.alone),
    venueFeeLamports: lamports(parts.venueFee),
    serviceFeeLamports: lamports(parts.service),
    baseFeeLamports: lamports(network.base),
    priorityFeeLamports: lamports(network.priority),
    tipLamports: lamports(tip),
    rentPaidLamports: lamports(rentPaid),
    rentReturnedLamports: lamports(kept.rentReturned),
    wrappedLamports: lamports(kept.wrapped),
    remainderLamports: lamports(isSeen ? fees - venueFee - service : 0),
    withheldTokens: withheldOf(transaction, mint),
    unknown: isSeen ? (venue.movedTokens ? [] : ['serviceFee']) : ['venueFee', 'serviceFee'],
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

/** What of a token nobody has any more: its transfer fee is kept back in the account that it arrives in, apart from its balance. */
function withheldOf(transaction: LandedTransaction, mint: string): TokenAmount {
  const sum = [...tokenChanges(transaction, mint).values()].reduce((all, change) => all + change, 0n)
  return sum < 0n ? -sum : 0n
}

function isNew({ accounts, lamportsBefore }: LandedTransaction, key: string): boolean {
  return lamportsBefore[accounts.indexOf(key)] === 0
}

function isTip(key: string): boolean {
  return (JITO_TIPS as readonly string[]).includes(key)
}

function isWithin(call: Call, frames: ReadonlySet<Call>): boolean {
  for (let one: Call | undefined = call; one !== undefined; one = one.parent) if (frames.has(one)) return true
  return false
}

function sumBy(payments: readonly Payment[]): Map<string, number> {
  const sums = new Map<string, number>()
  for (const { to, lamports: paid } of payments) sums.set(to, (sums.get(to) ?? 0) + paid)
  return sums
}

function total(values: Iterable<number>): Lamports {
  let sum = 0
  for (const value of values) sum += value
  return lamports(sum)
}
