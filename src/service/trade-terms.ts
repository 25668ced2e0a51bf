import type { AskedTrade } from '../core/asked-trade.ts'
import type { Attempt } from '../core/order.ts'
import type { Lamports, TokenAmount } from '../core/units.ts'
import { type Breach, checkBuy, checkSell } from './ranges.ts'
import { type SellUnit, sellAmountOf } from './sell-amount.ts'
import { buyBody, sellBody } from './wire/requests.ts'

/** What the terms of a request depend on beside the attempt. */
export interface TermParts {
  /** Public key of the wallet that trades. */
  readonly wallet: string
  /** Of the present plan. */
  readonly maxBuyLamports: () => Lamports
  /** What a sale's number counts, as far as that is proved for this service. */
  readonly sellUnit: () => SellUnit
  /** What the wallet holds of a mint; undefined where that is not known. */
  readonly holding: (mint: string) => TokenAmount | undefined
}

/** What the service is asked for, and the body of the request that asks it; or why it would not accept that. */
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
