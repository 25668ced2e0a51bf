import type { ErrorCode } from '../../base/errors.ts'
import type { Lamports, TokenAmount } from '../../base/units.ts'
import { LEAST_BUY, LEAST_PRIORITY_FEE, MOST_PRIORITY_FEE } from '../../engine/limits/order-bounds.ts'
import type { Size } from '../../engine/order.ts'
import { LEAST_SLIPPAGE, MOST_SLIPPAGE } from '../../engine/setting-bounds.ts'
import type { Attempt } from '../../orders/attempt.ts'
import type { AskedTrade, SellAmount, SellUnit } from '../../orders/trade-request.ts'
import { isPublicKey } from '../../solana/base58.ts'
import type { TermParts } from '../venue.ts'
import { type BuyRequest, buyBody, type SellRequest, sellBody, tokenDecimal } from './wire/requests.ts'

/** Returns the trade that an attempt asks for and the body of its request, or the reason why the service would refuse
 *  the request. */
export function termsOf(attempt: Attempt, parts: TermParts): { asked: AskedTrade; body: string } | Breach {
  const { wallet, maxBuyLamports, sellUnit, holding } = parts
  const { mint, slippagePercent, priorityFeeLamports, size } = attempt
  const terms = { mint, slippagePercent, priorityFeeLamports }
  const common = { publicKey: wallet, ...terms }
  if (size.kind === 'sol') {
    const buy = { ...common, lamports: size.lamports }
    const asked: AskedTrade = { ...terms, wallet, side: 'buy', lamports: size.lamports }
    return checkBuy(buy, maxBuyLamports()) ?? { asked, body: buyBody(buy) }
  }
  const amount = sellAmountOf(size, sellUnit(), holding(mint))
  if ('code' in amount) return amount
  const sell = { ...common, amount }
  return checkSell(sell) ?? { asked: { ...terms, wallet, side: 'sell', amount }, body: sellBody(sell) }
}

const HUNDREDTHS = 10000n

/** Returns the amount of a sale as the service expects it. A share is rounded down to two decimals of a percent.
 *  `holding` is the wallet's balance in base units. */
export function sellAmountOf(
  size: Exclude<Size, { kind: 'sol' }>,
  unit: SellUnit,
  holding: TokenAmount | undefined,
): SellAmount | Breach {
  if (size.kind === 'all') return { kind: 'all' }
  if (size.kind === 'percent') return percent(Math.floor(size.percent * 100 + 1e-6))
  if (holding !== undefined && size.tokens >= holding) return { kind: 'all' }
  if (unit === 'base') return { kind: 'number', decimal: size.tokens.toString() }
  if (unit === 'tokens') return { kind: 'number', decimal: tokenDecimal(size.tokens, size.decimals) }
  if (holding === undefined)
    return {
      code: 'BALANCE_UNKNOWN',
      reason: 'the balance of the wallet is unknown, so the amount cannot be expressed as a share of it',
    }
  return percent(Number((size.tokens * HUNDREDTHS) / holding))
}

function percent(hundredths: number): SellAmount {
  return hundredths === 10000 ? { kind: 'all' } : { kind: 'percent', percent: hundredths / 100 }
}

export interface Breach {
  readonly code: ErrorCode
  readonly reason: string
}

/** Returns the reason why the service would refuse a buy; undefined if it would accept it. Only buys are checked
 *  against the documented limits, because a wrong limit must not stop an exit. */
export function checkBuy(request: BuyRequest, maxBuyLamports: Lamports): Breach | undefined {
  const { lamports: amount, slippagePercent, priorityFeeLamports: fee } = request
  if (!(amount >= LEAST_BUY && amount <= maxBuyLamports))
    return {
      code: 'AMOUNT_RANGE',
      reason: `${amount} lamports is outside the accepted range of ${LEAST_BUY} to ${maxBuyLamports} lamports`,
    }
  if (!(slippagePercent >= LEAST_SLIPPAGE && slippagePercent <= MOST_SLIPPAGE))
    return {
      code: 'SLIPPAGE_RANGE',
      reason: `${slippagePercent} % slippage is outside the accepted range of ${LEAST_SLIPPAGE} to ${MOST_SLIPPAGE} %`,
    }
  if (fee !== null && !(fee >= LEAST_PRIORITY_FEE && fee <= MOST_PRIORITY_FEE))
    return {
      code: 'FEE_RANGE',
      reason: `a priority fee of ${fee} lamports is outside the accepted range of ${LEAST_PRIORITY_FEE} to ${MOST_PRIORITY_FEE} lamports`,
    }
  return checkKeys(request)
}

/** Returns the reason why a sale is certainly invalid; undefined if the service may accept it. */
export function checkSell(request: SellRequest): Breach | undefined {
  const { amount, slippagePercent, priorityFeeLamports: fee } = request
  if (amount.kind === 'percent' && !isShare(amount.percent))
    return {
      code: 'AMOUNT_RANGE',
      reason: `${amount.percent} % is not a percentage above 0 and up to 100 with at most two decimals`,
    }
  if (amount.kind === 'number' && !/[1-9]/.test(amount.decimal))
    return { code: 'AMOUNT_RANGE', reason: 'the amount to sell is zero' }
  if (!(slippagePercent > 0 && slippagePercent <= 100))
    return { code: 'SLIPPAGE_RANGE', reason: `${slippagePercent} % slippage is not above 0 and up to 100 %` }
  if (fee !== null && !(fee >= 0))
    return { code: 'FEE_RANGE', reason: `a priority fee of ${fee} lamports is negative or not a number` }
  return checkKeys(request)
}

function isShare(percent: number): boolean {
  return percent > 0 && percent <= 100 && Math.abs(percent * 100 - Math.round(percent * 100)) < 1e-6
}

function checkKeys({ mint, publicKey }: { mint: string; publicKey: string }): Breach | undefined {
  if (!isPublicKey(mint)) return { code: 'MINT_INVALID', reason: 'the mint is not a base58 public key of 32 bytes' }
  if (!isPublicKey(publicKey))
    return { code: 'INVALID_PARAMETERS', reason: 'the wallet is not a base58 public key of 32 bytes' }
  return undefined
}
