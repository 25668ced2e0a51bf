import type { Lamports, TokenAmount } from '../base/units.ts'
import type { Outcome } from './ports.ts'

/** Terms of a request to the service: its body, and the side. */
export type AskedTrade = AskedBuy | AskedSell

interface Terms {
  readonly wallet: string
  readonly mint: string
  readonly slippagePercent: number
  /** null: the service chooses. */
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

/** Everything; a percentage with at most two decimals; or a number of tokens in the service's unit, as a plain
 *  decimal. */
export type SellAmount =
  | { readonly kind: 'all' }
  | { readonly kind: 'percent'; readonly percent: number }
  | { readonly kind: 'number'; readonly decimal: string }

/** The unsigned transaction that the service built for an attempt, with the terms of the request; or why it built none.
 *  It cannot execute before it is signed. */
export type Built =
  | {
      readonly kind: 'built'
      readonly asked: AskedTrade
      readonly bytes: Uint8Array
      /** The builder's claim: compared with our own node's height, never relied on. */
      readonly lastValidBlockHeight: number | undefined
    }
  | Extract<Outcome, { kind: 'refused' | 'unsent' }>

/** Unit of the number in a sale's request. A wrong unit is wrong by 10^decimals, so a number is not sent while the unit
 *  is unproved. */
export type SellUnit = 'tokens' | 'base' | 'unproved'

/** Services compute in floating point: the amount sold may differ by one part in a million. */
const TOLERANCE = 1_000_000n

/** Whether the amount sold is the amount asked for, base units. A wrong unit is off by powers of ten. */
export function isAsAsked(sold: TokenAmount, asked: TokenAmount): boolean {
  const off = sold > asked ? sold - asked : asked - sold
  return off <= 1n || off * TOLERANCE <= asked
}
