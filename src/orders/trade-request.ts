import type { Lamports, TokenAmount } from '../base/units.ts'
import type { Outcome } from './ports.ts'

/** Terms of a request to the service: the fields of its body, and the side of the trade. */
export type AskedTrade = AskedBuy | AskedSell

interface Terms {
  readonly wallet: string
  readonly mint: string
  readonly slippagePercent: number
  /** null if the service chooses the fee. */
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

/** Amount of a sale: everything, a percentage with at most two decimals, or a number of tokens in the service's unit,
 *  as a plain decimal. */
export type SellAmount =
  | { readonly kind: 'all' }
  | { readonly kind: 'percent'; readonly percent: number }
  | { readonly kind: 'number'; readonly decimal: string }

/** Result of a request to build: the unsigned transaction for an attempt, with the terms of the request, or the reason
 *  why there is none. An unsigned transaction cannot execute. */
export type Built =
  | {
      readonly kind: 'built'
      readonly asked: AskedTrade
      readonly bytes: Uint8Array
      /** Last valid height, as the builder claims it. It is compared with the height of our own node, and never relied
       *  on. */
      readonly lastValidBlockHeight: number | undefined
    }
  | Extract<Outcome, { kind: 'refused' | 'unsent' }>

/** Unit of the number in a sale's request. A number in the wrong unit is wrong by a factor of 10^decimals, so no number
 *  is sent while the unit is unproved. */
export type SellUnit = 'tokens' | 'base' | 'unproved'

/** The amount sold may differ by one part in a million, because services compute in floating point. */
const TOLERANCE = 1_000_000n

/** Whether the amount sold is the amount asked for, in base units. A wrong unit would change the amount by powers of
 *  ten. */
export function isAsAsked(sold: TokenAmount, asked: TokenAmount): boolean {
  const off = sold > asked ? sold - asked : asked - sold
  return off <= 1n || off * TOLERANCE <= asked
}
