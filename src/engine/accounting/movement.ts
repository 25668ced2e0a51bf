import type { Lamports, Millis, TokenAmount } from '../../base/units.ts'
import type { TradeSide } from '../../market/block.ts'
import type { Fill } from '../order.ts'

/** A change of the tokens that a wallet holds, or the fee of a failed transaction. */
export type Movement =
  | {
      readonly kind: 'fill'
      readonly fill: Fill
      /** Reason of the order; '' if unknown. */
      readonly reason?: string
    }
  /** Tokens from outside that a bot took over, with their value at that time as the cost. */
  | (Holder & {
      readonly kind: 'adopted'
      readonly time: Millis
      readonly tokens: TokenAmount
      readonly decimals: number
      readonly costLamports: Lamports
    })
  /** Tokens that left the wallet without an order of ours. `left` base units remain. */
  | (Holder & { readonly kind: 'lost'; readonly time: Millis; readonly left: TokenAmount })
  | Failed

/** A transaction of ours that landed and failed, so that the wallet paid only its fee. */
export interface Failed extends Holder {
  readonly kind: 'failed'
  readonly orderId: string
  readonly side: TradeSide
  readonly time: Millis
  readonly feeLamports: number
}

/** A movement of tokens. */
export type TokenMovement = Exclude<Movement, { kind: 'failed' }>

/** The bot that holds the tokens of a wallet and mint. The tokens belong to one bot at a time. */
export interface Holder {
  readonly account: string
  readonly bot: string
  readonly mint: string
}

export function holderOf(movement: Movement): Holder {
  return movement.kind === 'fill' ? movement.fill : movement
}

/** Sorts the movements of one wallet and mint in their order on the chain: by Solana slot, and within a slot buys
 *  before sales, because a sale may sell tokens of a buy in the same slot. A movement without a slot is placed by its
 *  time. Failed transactions come last. A failed transaction may be older than the fill of its order, but its fee
 *  belongs to the same round trip as the fill. */
export function inOrder(movements: readonly Movement[]): Movement[] {
  const fills = movements.flatMap((one) => (one.kind === 'fill' ? [one] : []))
  fills.sort((a, b) => a.fill.slot - b.fill.slot || rankOf(a.fill) - rankOf(b.fill) || compare(a.fill, b.fill))
  const others = movements.flatMap((one) => (one.kind === 'adopted' || one.kind === 'lost' ? [one] : []))
  others.sort((a, b) => a.time - b.time)
  const ordered: Movement[] = []
  for (const one of fills) {
    while (others[0] !== undefined && others[0].time < one.fill.time) ordered.push(others.shift() as Movement)
    ordered.push(one)
  }
  return [...ordered, ...others, ...movements.filter(({ kind }) => kind === 'failed')]
}

function rankOf({ side }: Fill): number {
  return side === 'buy' ? 0 : 1
}

function compare(a: Fill, b: Fill): number {
  return a.time - b.time || (a.signature < b.signature ? -1 : 1)
}
