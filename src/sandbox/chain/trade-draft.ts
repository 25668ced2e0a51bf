import { solToLamports } from '../../base/units.ts'
import type { Curve } from '../../solana/bonding-curve.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import type { Dialect } from '../dialect.ts'
import { namedAddress } from '../keys.ts'
import type { Market } from '../market/market.ts'
import type { Call, Draft, Table } from './message.ts'
import { budgetCalls, closeCall, openCall, transferCall } from './message.ts'
import { poolInstruction } from './pool-program.ts'
import type { TokenPrograms, TransferData } from './program.ts'
import type { Builder } from './runtime-ledger.ts'
import { SERVICE_FEES, serviceFee, type TradeData } from './trade-program.ts'

/** Account that receives tips for landing a transaction. */
export const TIP_ACCOUNT = namedAddress('tips')
export const TIP_LAMPORTS = 50_000
/** Lamports that the co-signer transfers if it pays no rent. Because of the transfer, the transaction requires the
 *  co-signer's signature. */
const GIFT_LAMPORTS = 5_000n
const UNIT_LIMIT = 150_000
/** Number of different compute unit limits. The limit varies, so that two equal requests result in different bytes. */
const UNIT_LIMITS = 50_000

export interface DraftParts {
  dialect: Dialect
  tokenPrograms: TokenPrograms
  curve: Curve
  table: Table
  coSigner: string
  blockhash: string
  /** Number of transactions built so far. */
  number: number
}

/** Draft of an honest transaction for a trade, in the form that the dialect (variant of the protocol) defines. */
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

/** Amount that no trade can reach, so that a trade with it as the minimum fails. */
const IMPOSSIBLE = 2n ** 64n - 1n

/** Creates the instructions of a trade for a customer whose key the service holds. */
export function tradeBuilder(market: Market, tokenPrograms: TokenPrograms): Builder<TradeData> {
  return {
    calls(data) {
      const { wallet, mint, side, exact, opens, closes, fails, serviceFeeBps } = data
      const tokenProgram = PROGRAMS[tokenPrograms(mint)]
      const curve = market.token(mint)?.curve
      const terms = { side, exact, lamports: BigInt(data.lamports), tokens: data.tokens }
      const trade = poolInstruction(wallet, mint, fails ? failing(terms) : terms, tokenProgram)
      const fee = curve ? serviceFee(movedLamports(data, curve), serviceFeeBps) : 0n
      return [
        ...(opens ? [openCall(wallet, wallet, mint, tokenProgram)] : []),
        trade,
        ...(fee > 0n ? [transferCall(wallet, SERVICE_FEES, fee)] : []),
        ...(closes ? [closeCall(wallet, mint, tokenProgram)] : []),
      ]
    },
  }
}

/** Lamports that the trade pays or receives at the present price, including the curve's fee. */
function movedLamports(
  { side, exact, lamports, tokens }: Pick<TradeData, 'side' | 'exact' | 'lamports' | 'tokens'>,
  curve: Curve,
): bigint {
  if (side === 'sell') {
    const { sol, fee } = curve.quoteSell(tokens)
    return sol - fee
  }
  if (exact === 'in') return BigInt(lamports)
  const { sol, fee } = curve.quoteTokens(tokens)
  return sol + fee
}

function failing<Terms extends Pick<TradeData, 'side' | 'exact'>>(
  terms: Terms,
): Terms & { lamports?: bigint; tokens?: bigint } {
  if (terms.side === 'sell') return { ...terms, lamports: IMPOSSIBLE }
  return terms.exact === 'in' ? { ...terms, tokens: IMPOSSIBLE } : { ...terms, lamports: 0n }
}

/** Transfers SOL. Tests use it for deposits, and for transfers by other software that has the wallet's key. */
export const transferBuilder: Builder<TransferData> = {
  calls: ({ from, to, lamports }): Call[] => [transferCall(from, to, BigInt(lamports))],
}
