import { PROGRAMS } from '../core/programs.ts'
import { solToLamports } from '../core/units.ts'
import { namedAddress } from './addresses.ts'
import { budgetCalls, closeCall, openCall, transferCall } from './calls.ts'
import type { Curve } from './curve.ts'
import type { Dialect } from './dialect.ts'
import type { Call, Draft, Table } from './message.ts'
import { poolInstruction } from './pool-program.ts'
import type { TokenPrograms } from './token-programs.ts'
import { movedLamports } from './trade-builder.ts'
import { SERVICE_FEES, serviceFee, type TradeData } from './trade-program.ts'

/** Who takes tips for landing a transaction. */
export const TIP_ACCOUNT = namedAddress('tips')
export const TIP_LAMPORTS = 50_000
/** What the co-signer gives where there is nothing to open, so that it signs for something. */
const GIFT_LAMPORTS = 5_000n
const UNIT_LIMIT = 150_000
/** Limits differ, so that the same request twice is not the same bytes. */
const UNIT_LIMITS = 50_000

export interface DraftParts {
  dialect: Dialect
  tokenPrograms: TokenPrograms
  curve: Curve
  table: Table
  coSigner: string
  blockhash: string
  /** Of what has been built so far. */
  number: number
}

/** An honest transaction for a trade, as the dialect builds it. */
export function draftOf(trade: Omit<TradeData, 'fails'>, parts: DraftParts): Draft {
  const { dialect, tokenPrograms, curve, table, coSigner, blockhash, number } = parts
  const { wallet, mint, side, exact, tokens, opens, closes, priorityFeeSol, serviceFeeBps } = trade
  const tokenProgram = PROGRAMS[tokenPrograms(mint)]
  const isCoSigned = dialect.builtCoSigner === 'yes'
  const fee = serviceFee(movedLamports(trade, curve), serviceFeeBps)
  const calls: Call[] = [
    ...budgetCalls(UNIT_LIMIT + (number % UNIT_LIMITS), solToLamports(priorityFeeSol)),
    ...(opens ? [openCall(isCoSigned ? coSigner : wallet, wallet, mint, tokenProgram)] : []),
    poolInstruction(wallet, mint, { side, exact, lamports: BigInt(trade.lamports), tokens }, tokenProgram),
    ...(fee > 0n ? [transferCall(wallet, SERVICE_FEES, fee)] : []),
    ...(dialect.builtTip === 'yes' ? [transferCall(wallet, TIP_ACCOUNT, BigInt(TIP_LAMPORTS))] : []),
    ...(isCoSigned && !opens ? [transferCall(coSigner, wallet, GIFT_LAMPORTS)] : []),
    ...(closes ? [closeCall(wallet, mint, tokenProgram)] : []),
  ]
  return {
    payer: wallet,
    blockhash,
    calls,
    version: dialect.builtVersion === 'legacy' ? 'legacy' : 0,
    tables: dialect.builtVersion === 'v0 with a table' ? [table] : [],
  }
}
