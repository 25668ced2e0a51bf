import type { ErrorCode } from '../core/errors.ts'
import { networkFee, tradeOf } from '../core/fill-costs.ts'
import type { Attempt, Fill } from '../core/order.ts'
import { type Lamports, lamports, type Millis, type TokenAmount } from '../core/units.ts'
import { balanceChange, tokenChange } from './change.ts'
import { fillCosts } from './fill-costs.ts'
import { type LandedTransaction, readTransaction } from './transaction.ts'

/** What a landed transaction says of an attempt. */
export type Reading =
  | { kind: 'filled'; fill: Fill }
  | { kind: 'reverted'; feeLamports: Lamports; code: ErrorCode }
  /** It is not what the attempt would have done, or cannot be read. */
  | { kind: 'other'; reason: string }

/** Custom error numbers with which the programs that launch and trade such tokens say that the price moved: pump.fun 6002, 6003 and 6042,
 *  PumpSwap 6004 and 6040, Jupiter 6001, Raydium CPMM 6005. The number alone is read: the retry that it allows is harmless where it is
 *  another program's. */
const SLIPPAGE_ERRORS = new Set([6001, 6002, 6003, 6004, 6005, 6040, 6042])

/** Reads our execution from the answer of getTransaction: tokens by owner and mint, so that Token and Token-2022 count alike and what a
 *  transfer fee kept back does not; SOL by `fillCosts`. `seenAt` stands in where the block has no time. */
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
