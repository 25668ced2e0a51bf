import { isPublicKey } from '../core/base58.ts'
import type { ErrorCode } from '../core/errors.ts'
import { type Lamports, lamports, solToLamports } from '../core/units.ts'
import type { BuyRequest, SellRequest } from './wire/requests.ts'

/** The document's bounds of a buy. A sell has none of them: they are not shown, and an exit must not fail on a guess. */
const LEAST_BUY = solToLamports(0.001)
const LEAST_FEE = lamports(10_000)
const MOST_FEE = lamports(10_000_000)
const LEAST_SLIPPAGE = 0.1
const MOST_SLIPPAGE = 50

export interface Breach {
  readonly code: ErrorCode
  readonly reason: string
}

/** What the service would not accept of a buy; undefined where nothing is wrong. */
export function checkBuy(request: BuyRequest, maxBuyLamports: Lamports): Breach | undefined {
  const { lamports: amount, slippagePercent, priorityFeeLamports: fee } = request
  if (!(amount >= LEAST_BUY && amount <= maxBuyLamports))
    return { code: 'AMOUNT_RANGE', reason: `${amount} lamports is outside ${LEAST_BUY} to ${maxBuyLamports}` }
  if (!(slippagePercent >= LEAST_SLIPPAGE && slippagePercent <= MOST_SLIPPAGE))
    return { code: 'SLIPPAGE_RANGE', reason: `${slippagePercent} % is outside ${LEAST_SLIPPAGE} to ${MOST_SLIPPAGE}` }
  if (fee !== null && !(fee >= LEAST_FEE && fee <= MOST_FEE))
    return { code: 'FEE_RANGE', reason: `${fee} lamports is outside ${LEAST_FEE} to ${MOST_FEE}` }
  return checkKeys(request)
}

/** What cannot mean anything in a sell. */
export function checkSell(request: SellRequest): Breach | undefined {
  const { amount, slippagePercent, priorityFeeLamports: fee } = request
  if (amount.kind === 'percent' && !isShare(amount.percent))
    return { code: 'AMOUNT_RANGE', reason: `${amount.percent} % is not above 0, up to 100, with two decimals` }
  if (amount.kind === 'number' && !/[1-9]/.test(amount.decimal))
    return { code: 'AMOUNT_RANGE', reason: 'nothing would be sold' }
  if (!(slippagePercent > 0 && slippagePercent <= 100))
    return { code: 'SLIPPAGE_RANGE', reason: `${slippagePercent} % is no slippage` }
  if (fee !== null && !(fee >= 0)) return { code: 'FEE_RANGE', reason: `${fee} lamports is no fee` }
  return checkKeys(request)
}

function isShare(percent: number): boolean {
  return percent > 0 && percent <= 100 && Math.abs(percent * 100 - Math.round(percent * 100)) < 1e-6
}

function checkKeys({ mint, publicKey }: { mint: string; publicKey: string }): Breach | undefined {
  if (!isPublicKey(mint)) return { code: 'MINT_INVALID', reason: 'the mint is not a key of 32 bytes' }
  if (!isPublicKey(publicKey)) return { code: 'INVALID_PARAMETERS', reason: 'the wallet is not a key of 32 bytes' }
  return undefined
}
