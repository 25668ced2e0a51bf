import type { ErrorCode } from '../../base/errors.ts'
import { type Lamports, lamports, type Millis, type TokenAmount } from '../../base/units.ts'
import { type FillCosts, networkFee, tradeOf } from '../../engine/accounting/fill-costs.ts'
import type { Fill } from '../../engine/order.ts'
import type { TradeSide } from '../../market/block.ts'
import type { Attempt } from '../../orders/attempt.ts'
import { walletCostsSum } from '../../orders/wallet-audit.ts'
import { PROGRAMS, WSOL_MINT } from '../../solana/programs.ts'
import { type Call, type LandedTransaction, readTransaction } from './landed-transaction.ts'
import { balanceChange, tokenChange, tokenChanges } from './wallet-change.ts'
import { isTip, ownPartOf, tokenMove, total } from './wallet-costs.ts'

/** What a landed transaction says of an attempt. */
export type Reading =
  | { kind: 'filled'; fill: Fill }
  | { kind: 'reverted'; feeLamports: Lamports; code: ErrorCode }
  /** It is not what the attempt would have done, or cannot be read. */
  | { kind: 'other'; reason: string }

/** Custom error numbers with which the programs that launch and trade such tokens say that the price moved: pump.fun
 *  6002, 6003 and 6042, PumpSwap 6004 and 6040, Jupiter 6001, Raydium CPMM 6005. The number alone is read: the retry
 *  that it allows is harmless where it is another program's. */
const SLIPPAGE_ERRORS = new Set([6001, 6002, 6003, 6004, 6005, 6040, 6042])

/** Reads our execution from the answer of getTransaction: tokens by owner and mint, so that Token and Token-2022 count
 *  alike and what a transfer fee kept back does not; SOL by `fillCosts`. `seenAt` stands in where the block has no
 *  time. */
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
  if (!isOurs) return { kind: 'other', reason: `the transaction is no ${attempt.side} of this mint` }
  try {
    return { kind: 'filled', fill: fillOf(transaction, { wallet, index, attempt, change, seenAt, final }) }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return { kind: 'other', reason: 'the transaction moves more SOL than there is' }
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
  return {
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
}

function decimalsOf({ before, after }: LandedTransaction, mint: string): number {
  return [...after, ...before].find((one) => one.mint === mint)?.decimals ?? 0
}

/** `error`: as in {InstructionError: [2, {Custom: 6002}]}. */
export function codeOf(error: unknown): ErrorCode {
  const custom = /"Custom":(\d+)/.exec(errorText(error))?.[1]
  return custom !== undefined && SLIPPAGE_ERRORS.has(Number(custom)) ? 'SLIPPAGE_EXCEEDED' : 'REVERTED'
}

/** As JSON; what a stranger has nested too deep for that has no text. */
export function errorText(error: unknown): string {
  try {
    return JSON.stringify(error) ?? ''
  } catch (problem) {
    if (!(problem instanceof RangeError)) throw problem
    return ''
  }
}

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

/** What of a token nobody has any more: its transfer fee is kept back in the account that it arrives in, apart from its
 *  balance. */
function withheldOf(transaction: LandedTransaction, mint: string): TokenAmount {
  const sum = [...tokenChanges(transaction, mint).values()].reduce((all, change) => all + change, 0n)
  return sum < 0n ? -sum : 0n
}

function isWithin(call: Call, frames: ReadonlySet<Call>): boolean {
  for (let one: Call | undefined = call; one !== undefined; one = one.parent) if (frames.has(one)) return true
  return false
}

/** Solana's own programs: none of them is a venue. */
const NATIVE: readonly string[] = [
  ...[PROGRAMS.system, PROGRAMS.token, PROGRAMS.token2022, PROGRAMS.associatedToken, PROGRAMS.computeBudget],
  ...[PROGRAMS.memo, PROGRAMS.memo1],
]

/** Whoever has less of the token after a buy, more after a sale, and their change of SOL; wrapped SOL of a pool lies in
 *  an account that it owns. */
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

/** The calls of the program that moved the tokens, and all that it was called with. Where nobody saw tokens move, as
 *  when a program keeps its own book, the message's calls that name our account: whose fee is whose is not to be seen
 *  then. */
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
