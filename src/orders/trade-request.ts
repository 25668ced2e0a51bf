import type { Lamports, TokenAmount } from '../base/units.ts'
import type { Outcome } from './ports.ts'

/** The terms of a trade in a request to the service: the fields of the request's body, and the side of the trade. */
export type AskedTrade = AskedBuy | AskedSell

interface Terms {
  readonly wallet: string
  readonly mint: string
  readonly slippagePercent: number
  /** Priority fee; null if the service chooses it. */
  readonly priorityFeeLamports: Lamports | null
}

export interface AskedBuy extends Terms {
  readonly side: 'buy'
  readonly lamports: Lamports
}

export interface AskedSell extends Terms {
  readonly side: 'sell'
  readonly amount: SellAmount
}

/** Amount in a request to sell: everything, a percentage with at most two decimals, or a number of tokens in the
 *  service's unit, as a decimal without an exponent. */
export type SellAmount =
  | { readonly kind: 'all' }
  | { readonly kind: 'percent'; readonly percent: number }
  | { readonly kind: 'number'; readonly decimal: string }

/** Answer of the service to a request to build a transaction: the unsigned transaction with the terms of the request,
 *  or the reason why there is none. An unsigned transaction cannot execute. */
export type Built =
  | {
      readonly kind: 'built'
      readonly asked: AskedTrade
      readonly bytes: Uint8Array
      /** Last valid block height, as the builder states it. It is only compared with the height of our own node. */
      readonly lastValidBlockHeight: number | undefined
    }
  | Extract<Outcome, { kind: 'refused' | 'unsent' }>

/** Unit of the number of tokens in a request to sell. A number in the wrong unit is wrong by a factor of 10^decimals,
 *  so no number is sent while the unit is unproved. */
export type SellUnit = 'tokens' | 'base' | 'unproved'

/** The sold amount may differ from the requested amount by one part in a million, because services compute in floating
 *  point. */
const TOLERANCE = 1_000_000n

/** Whether the sold amount is the requested amount, both in base units. With a wrong unit, they would differ by powers
 *  of ten. */
export function isAsAsked(sold: TokenAmount, asked: TokenAmount): boolean {
  const off = sold > asked ? sold - asked : asked - sold
  return off <= 1n || off * TOLERANCE <= asked
}
