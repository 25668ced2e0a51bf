import type { Lamports, Millis } from '../base/units.ts'
import type { FillCosts } from '../engine/accounting/fill-costs.ts'
import type { Attempt } from './attempt.ts'

/** Position of the audit of a wallet: every transaction up to `slot` is classified, and their sum is `lamports`. */
export interface WalletCursor {
  readonly account: string
  /** Genesis hash of the chain. */
  readonly genesis: string
  /** Finalized. */
  readonly slot: number
  /** Block height at `slot`, or slightly lower. */
  readonly height: number
  readonly lamports: Lamports
  /** The newest transaction up to `slot`; '' if the wallet has none. */
  readonly signature: string
}

/** ours: made by an attempt. inflow: not signed by the wallet. housekeeping: signed, moved no tracked token, and cost
 *  almost nothing. foreign: signed, anything else. opaque: unreadable; its effect is known from the balances around
 *  it. */
export type TransactionClass = 'ours' | 'inflow' | 'housekeeping' | 'foreign' | 'opaque'

/** A finalized transaction that touched a wallet, classified once. */
export interface WalletTransaction {
  readonly account: string
  /** `?` and the slot for an opaque transaction that no node lists. */
  readonly signature: string
  readonly slot: number
  readonly class: TransactionClass
  /** Attempt that made the transaction; '' unless the class is `ours`. */
  readonly attemptId: string
  /** Change of the wallet's balance. */
  readonly lamports: Lamports
  readonly time: Millis | null
  /** The transaction landed after this slot: `slot` - 1, except for an opaque one that no node lists. */
  readonly after: number
  /** The transaction failed, and cost only the fee. */
  readonly failed: boolean
  /** Fees, rent and wrapping within `lamports`; absent if they could not be read. */
  readonly costs?: WalletCosts
}

/** Fees, rent and wrapping, which any transaction may cost, trade or not. Payments are positive, as in `FillCosts`. */
export type WalletCosts = Pick<
  FillCosts,
  | 'baseFeeLamports'
  | 'priorityFeeLamports'
  | 'tipLamports'
  | 'rentPaidLamports'
  | 'rentReturnedLamports'
  | 'wrappedLamports'
>

/** Lamports that these costs took out of the wallet. */
export function walletCostsSum(costs: WalletCosts): number {
  const { baseFeeLamports, priorityFeeLamports, tipLamports } = costs
  const { rentPaidLamports, rentReturnedLamports, wrappedLamports } = costs
  return baseFeeLamports + priorityFeeLamports + tipLamports + rentPaidLamports - rentReturnedLamports + wrappedLamports
}

/** An attempt that may still turn out to have executed, or to have executed twice, with the evidence about it. */
export interface Watch {
  readonly attempt: Attempt
  /** The attempt has ended: any execution found from now on is late. */
  readonly ended: boolean
  /** Start of the wait for a late execution of a lost request; null if it has not begun. Times of another boot cannot
   *  be compared with this one's. */
  readonly lostAt: { readonly boot: string; readonly monotonicMs: number } | null
  /** Once the chain is final above this height, the attempt cannot execute any more. */
  readonly bound: number | null
  /** The first finalized slot past the bound. */
  readonly boundSlot: number | null
  /** Signatures of its transactions that were seen. */
  readonly signatures: readonly string[]
  /** The locally signed transaction, base64; absent if the service signed, and after the end. */
  readonly bytes?: string
  /** Progress of the proof that the attempt did not execute, for display; '' after the end. */
  readonly progress: string
}
