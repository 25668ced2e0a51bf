import type { Lamports, TokenAmount } from '../base/units.ts'
import type { Outcome } from './ports.ts'

/** What the service was asked for: the body of one of its requests, with the side. */
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

/** Everything; a share, at most two decimals; or a number of tokens in the service's unit, written as a plain
 *  decimal. */
export type SellAmount =
  | { readonly kind: 'all' }
  | { readonly kind: 'percent'; readonly percent: number }
  | { readonly kind: 'number'; readonly decimal: string }

/** What the service built for an attempt, with what it was asked for; or why there is nothing. Nothing of it can
 *  execute: nobody has signed. */
export type Built =
  | {
      readonly kind: 'built'
      readonly asked: AskedTrade
      readonly bytes: Uint8Array
      /** As the builder says: to be compared, never to be relied on. */
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
