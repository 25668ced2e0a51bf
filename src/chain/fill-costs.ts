import type { FillCosts } from '../core/fill-costs.ts'
import type { TradeSide } from '../core/order.ts'
import { lamports, type TokenAmount } from '../core/units.ts'
import { walletCostsSum } from '../core/wallet.ts'
import type { Call } from './calls.ts'
import { balanceChange, tokenChanges } from './change.ts'
import { poolsOf, venueOf } from './pools.ts'
import type { LandedTransaction } from './transaction.ts'
import { isTip, ownPartOf, total } from './wallet-costs.ts'

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
  const { costs, own, gain, rentTo, paid } = ownPartOf(transaction, wallet)
  const isStranger = (key: string): boolean => key !== wallet && !own.has(key)

  const pools = poolsOf(transaction, wallet, mint, side)
  const venue = venueOf(transaction, own, mint)
  const isPools = (key: string): boolean => pools.accounts.has(key)
  const services = paid(({ to, call }) => !isTip(to) && !isPools(to) && !isWithin(call, venue.frames))
  const venueGain = [...venue.accounts]
    .filter((key) => isStranger(key) && !isPools(key) && !isTip(key))
    .reduce((sum, key) => sum + gain(key) - rentTo(key) - (services.get(key) ?? 0), 0)

  const came = balanceChange(transaction, transaction.accounts.indexOf(wallet)) + walletCostsSum(costs)
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
    ...costs,
    remainderLamports: lamports(isSeen ? fees - venueFee - service : 0),
    withheldTokens: withheldOf(transaction, mint),
    unknown: isSeen ? (venue.movedTokens ? [] : ['serviceFee']) : ['venueFee', 'serviceFee'],
  }
}

/** What of a token nobody has any more: its transfer fee is kept back in the account that it arrives in, apart from its balance. */
function withheldOf(transaction: LandedTransaction, mint: string): TokenAmount {
  const sum = [...tokenChanges(transaction, mint).values()].reduce((all, change) => all + change, 0n)
  return sum < 0n ? -sum : 0n
}

function isWithin(call: Call, frames: ReadonlySet<Call>): boolean {
  for (let one: Call | undefined = call; one !== undefined; one = one.parent) if (frames.has(one)) return true
  return false
}
