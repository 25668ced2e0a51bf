import { PROGRAMS } from '../core/programs.ts'
import { closeCall, openCall, transferCall } from './calls.ts'
import type { Curve } from './curve.ts'
import type { Market } from './market.ts'
import type { Call } from './message.ts'
import { poolInstruction } from './pool-program.ts'
import type { TransferData } from './program.ts'
import type { Builder } from './runtime-ledger.ts'
import type { TokenPrograms } from './token-programs.ts'
import { SERVICE_FEES, serviceFee, type TradeData } from './trade-program.ts'

/** Beyond what anything costs or brings. */
const IMPOSSIBLE = 2n ** 64n - 1n

/** A trade of a customer whose key the service holds, as the instructions of one transaction. */
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

/** Lamports that the trade moves at the present price, the curve's fee included. */
export function movedLamports(
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

/** Moves SOL; for tests of inflows and of transfers that are not the bot's. */
export const transferBuilder: Builder<TransferData> = {
  calls: ({ from, to, lamports }): Call[] => [transferCall(from, to, BigInt(lamports))],
}
