import type { ErrorCode } from '../../base/errors.ts'
import { type Lamports, lamports, type Millis, type TokenAmount } from '../../base/units.ts'
import { type FillCosts, networkFee, tradeOf } from '../../engine/accounting/fill-costs.ts'
import { type Fill, withTag } from '../../engine/order.ts'
import type { TradeSide } from '../../market/block.ts'
import type { Attempt } from '../../orders/attempt.ts'
import { walletCostsSum } from '../../orders/audit-records.ts'
import { PROGRAMS, WSOL_MINT } from '../../solana/programs.ts'
import { type Call, type LandedTransaction, readTransaction } from './landed-transaction.ts'
import { balanceChange, tokenChange, tokenChanges } from './wallet-change.ts'
import { isTip, ownPartOf, tokenMove, total } from './wallet-costs.ts'

/** Result of reading a landed transaction for an attempt. */
export type Reading =
  | { kind: 'filled'; fill: Fill }
  | { kind: 'reverted'; feeLamports: Lamports; code: ErrorCode }
  /** The transaction does not fit the attempt, or cannot be read. */
  | { kind: 'other'; reason: string }

/** Custom error numbers for slippage in common launch and trading programs: pump.fun 6002, 6003 and 6042, PumpSwap 6004
 *  and 6040, Jupiter 6001, Raydium CPMM 6005. The program that failed is not checked, because a wrong match would only
 *  cause a harmless retry. */
const SLIPPAGE_ERRORS = new Set([6001, 6002, 6003, 6004, 6005, 6040, 6042])

/** Reads an execution from an answer of getTransaction. Tokens are summed by owner and mint, so Token and Token-2022
 *  accounts count alike. Withheld transfer fees do not count as received tokens. `fillCosts` splits the SOL into trade
 *  and costs. `seenAt` is the time of the fill if the node reports no block time. */
export function readFill(answer: unknown, wallet: string, attempt: Attempt, seenAt: Millis, final: boolean): Reading {
  const transaction = readTransaction(answer)
  if (transaction === undefined) return { kind: 'other', reason: 'the transaction cannot be read' }
  return fillFrom(transaction, wallet, attempt, seenAt, final)
}

export function fillFrom(
  transaction: LandedTransaction,
  wallet: string,
  attempt: Attempt,
  seenAt: Millis,
  final: boolean,
): Reading {
  const index = transaction.accounts.indexOf(wallet)
  if (index < 0 || index >= transaction.signers)
    return { kind: 'other', reason: 'the wallet did not sign this transaction' }
  const feeLamports = lamports(index === 0 ? transaction.feeLamports : 0)
  if (transaction.error !== null) return { kind: 'reverted', feeLamports, code: codeOf(transaction.error) }
  const change = tokenChange(transaction, wallet, attempt.mint)
  const isOurs = attempt.side === 'buy' ? change > 0n : change < 0n
  if (!isOurs) return { kind: 'other', reason: `the transaction is not a ${attempt.side} of this mint` }
  try {
    return { kind: 'filled', fill: fillOf(transaction, { wallet, index, attempt, change, seenAt, final }) }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return { kind: 'other', reason: 'an amount of the transaction exceeds the supply of SOL' }
  }
}

interface Found {
  readonly wallet: string
  readonly index: number
  readonly attempt: Attempt
  readonly change: TokenAmount
  readonly seenAt: Millis
  readonly final: boolean
}

function fillOf(transaction: LandedTransaction, found: Found): Fill {
  const { wallet, index, attempt, change, seenAt, final } = found
  const costs = fillCosts(transaction, wallet, attempt.mint, attempt.side)
  const fill: Fill = {
    signature: transaction.signature,
    orderId: attempt.orderId,
    attemptId: attempt.id,
    account: attempt.account,
    bot: attempt.bot,
    mint: attempt.mint,
    side: attempt.side,
    slot: transaction.slot,
    time: transaction.time ?? seenAt,
    tokens: change < 0n ? -change : change,
    decimals: decimalsOf(transaction, attempt.mint),
    tradeLamports: tradeOf(attempt.side, costs),
    feeLamports: networkFee(costs),
    rentLamports: lamports(costs.rentPaidLamports - costs.rentReturnedLamports),
    walletLamports: lamports(balanceChange(transaction, index)),
    costs,
    final,
  }
  return withTag(fill, attempt.tag)
}

function decimalsOf({ before, after }: LandedTransaction, mint: string): number {
  return [...after, ...before].find((one) => one.mint === mint)?.decimals ?? 0
}

/** Returns the error code for a failed transaction. `error` is the error as the node reports it, for example
 *  {InstructionError: [2, {Custom: 6002}]}. */
export function codeOf(error: unknown): ErrorCode {
  const custom = /"Custom":(\d+)/.exec(errorText(error))?.[1]
  return custom !== undefined && SLIPPAGE_ERRORS.has(Number(custom)) ? 'SLIPPAGE_EXCEEDED' : 'REVERTED'
}

/** Returns an error as JSON; '' if it is nested too deeply to serialize. */
export function errorText(error: unknown): string {
  try {
    return JSON.stringify(error) ?? ''
  } catch (problem) {
    if (!(problem instanceof RangeError)) throw problem
    return ''
  }
}

/** Splits the wallet's change of SOL in a landed trade into its parts. All amounts are differences of balances, so no
 *  program needs to be known and no reported number is trusted. The instructions only show to which part an amount
 *  belongs:
 *  - trade: the SOL that the counterparty of the tokens received or paid. The counterparty is usually a pool, which
 *  owns two vaults.
 *  - venue fee: the SOL that other accounts received that were passed to the program that moved the tokens.
 *  - service fee: the SOL that the wallet paid outside of that program, by a top-level instruction or by a program that
 *  called the venue.
 *  - rent: the SOL in the wallet's own token accounts, and in records that the wallet paid for; without wrapped SOL.
 *  - remainder: the rest of the change.
 *  If the pool cannot be identified, or the node does not report inner instructions, the fees stay part of the trade
 *  and are listed in `unknown`. Throws RangeError if a number exceeds 2^53. */
function fillCosts(transaction: LandedTransaction, wallet: string, mint: string, side: TradeSide): FillCosts {
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

/** Returns the tokens that Token-2022 withheld as transfer fees. They stay in the receiving account, but are not part
 *  of its balance. */
function withheldOf(transaction: LandedTransaction, mint: string): TokenAmount {
  const sum = [...tokenChanges(transaction, mint).values()].reduce((all, change) => all + change, 0n)
  return sum < 0n ? -sum : 0n
}

function isWithin(call: Call, frames: ReadonlySet<Call>): boolean {
  for (let one: Call | undefined = call; one !== undefined; one = one.parent) if (frames.has(one)) return true
  return false
}

/** Solana's own programs. None of them counts as the venue of a trade. */
const NATIVE: readonly string[] = [
  ...[PROGRAMS.system, PROGRAMS.token, PROGRAMS.token2022, PROGRAMS.associatedToken, PROGRAMS.computeBudget],
  ...[PROGRAMS.memo, PROGRAMS.memo1],
]

/** Finds the counterparties of the trade: the owners that have fewer tokens after a buy, or more tokens after a sale.
 *  `accounts`: these owners and their wrapped SOL accounts, because a pool keeps its wrapped SOL in an account that it
 *  owns. `lamports`: the SOL that these accounts received in a buy, or paid in a sale. */
function poolsOf(
  transaction: LandedTransaction,
  wallet: string,
  mint: string,
  side: TradeSide,
): { accounts: ReadonlySet<string>; lamports: number } {
  const { accounts, before, after } = transaction
  const changes = tokenChanges(transaction, mint)
  const owners = new Set(
    [...changes].flatMap(([owner, change]) =>
      owner !== wallet && owner !== '' && (side === 'buy' ? change < 0n : change > 0n) ? owner : [],
    ),
  )
  const places = new Set<number>()
  for (const owner of owners) places.add(accounts.indexOf(owner))
  for (const { owner, mint: held, account } of [...before, ...after])
    if (held === WSOL_MINT && owners.has(owner)) places.add(account)
  places.delete(-1)
  const change = [...places].reduce((sum, place) => sum + balanceChange(transaction, place), 0)
  return {
    accounts: new Set([...places].map((place) => accounts[place] as string)),
    lamports: side === 'buy' ? change : 0 - change,
  }
}

/** Finds the calls of the program that moved the tokens, and all accounts that were passed to it. Some programs keep
 *  their own ledger, so that no token transfer is visible. In that case, returns the top-level calls that name the
 *  wallet's token account, with `movedTokens` false, so that the fees stay part of the trade. */
function venueOf(
  { calls }: LandedTransaction,
  own: ReadonlyMap<string, string>,
  mint: string,
): { frames: ReadonlySet<Call>; accounts: ReadonlySet<string>; movedTokens: boolean } {
  const isOurs = (key: string): boolean => own.get(key) === mint
  const all = calls?.all ?? []
  const movers = new Set(
    all.flatMap((call) => {
      const move = tokenMove(call)
      return move !== undefined && call.parent !== undefined && (isOurs(move.from) || isOurs(move.to))
        ? call.parent
        : []
    }),
  )
  const around = all.filter(
    ({ program, accounts, parent }) => parent === undefined && !NATIVE.includes(program) && accounts.some(isOurs),
  )
  const frames = movers.size > 0 ? movers : new Set(around)
  const accounts = new Set([...frames].flatMap((call) => call.accounts))
  return { frames, accounts, movedTokens: movers.size > 0 }
}
