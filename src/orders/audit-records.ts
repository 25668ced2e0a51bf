import type { Lamports, Millis } from '../base/units.ts'
import type { FillCosts } from '../engine/accounting/fill-costs.ts'
import type { Attempt } from './attempt.ts'

/** Progress of a wallet's audit. Every transaction up to `slot` is classified; `lamports` is the sum of their changes
 *  of the balance. */
export interface WalletCursor {
  readonly account: string
  /** Genesis hash of the chain. */
  readonly genesis: string
  /** Finalized slot. */
  readonly slot: number
  /** Block height at `slot`, or slightly lower. */
  readonly height: number
  readonly lamports: Lamports
  /** Signature of the newest transaction up to `slot`; '' if the wallet has none. */
  readonly signature: string
}

/** ours: an attempt made the transaction. inflow: the wallet did not sign it. housekeeping: the wallet signed it, but
 *  it moved no tracked token and cost almost nothing. foreign: the wallet signed it, and it is in no other class.
 *  opaque: it could not be read; its effect is known from the balances before and after it. */
export type TransactionClass = 'ours' | 'inflow' | 'housekeeping' | 'foreign' | 'opaque'

/** A finalized transaction that touched a wallet, classified once. */
export interface WalletTransaction {
  readonly account: string
  /** Signature, or `?` and the slot for an opaque transaction that no node lists. */
  readonly signature: string
  readonly slot: number
  readonly class: TransactionClass
  /** Id of the attempt that made the transaction; '' unless the class is `ours`. */
  readonly attemptId: string
  /** Change of the wallet's balance by the transaction. */
  readonly lamports: Lamports
  readonly time: Millis | null
  /** The transaction landed after this slot. The number is `slot` - 1, except for an opaque transaction that no node
   *  lists. */
  readonly after: number
  /** Whether the transaction failed, so that it cost only the fee. */
  readonly failed: boolean
  /** Fees, rent and wrapping, which `lamports` includes; absent if they could not be read. */
  readonly costs?: WalletCosts
}

/** Fees, rent and wrapping. Any transaction may have these costs, even if it is not a trade. Payments are positive, as
 *  in `FillCosts`. */
export type WalletCosts = Pick<
  FillCosts,
  | 'baseFeeLamports'
  | 'priorityFeeLamports'
  | 'tipLamports'
  | 'rentPaidLamports'
  | 'rentReturnedLamports'
  | 'wrappedLamports'
>

/** Returns the lamports that these costs took out of the wallet. */
export function walletCostsSum(costs: WalletCosts): number {
  const { baseFeeLamports, priorityFeeLamports, tipLamports } = costs
  const { rentPaidLamports, rentReturnedLamports, wrappedLamports } = costs
  return baseFeeLamports + priorityFeeLamports + tipLamports + rentPaidLamports - rentReturnedLamports + wrappedLamports
}

/** An attempt that may still turn out to have executed, once or twice, with the evidence about it. */
export interface Watch {
  readonly attempt: Attempt
  /** Whether the attempt has ended. Any execution that is found from then on is late. */
  readonly ended: boolean
  /** Start of the wait for a late execution of a lost request; null if the wait has not begun. It names the boot of the
   *  machine, because monotonic times of different boots cannot be compared. */
  readonly lostAt: { readonly boot: string; readonly monotonicMs: number } | null
  /** Block height after which the attempt can no longer execute, once a higher block is final. */
  readonly bound: number | null
  /** First finalized slot above the height `bound`. */
  readonly boundSlot: number | null
  /** Signatures of the attempt's transactions that were seen. */
  readonly signatures: readonly string[]
  /** The locally signed transaction, base64; absent if the service signed, and after the end. */
  readonly bytes?: string
  /** Progress of the proof that the attempt did not execute, for display; '' after the end. */
  readonly progress: string
  /** Number of blocks that have passed since the baseline, and the number that the proof needs. Absent while the height
   *  `bound` is unknown, after the chain has passed it, and in records of older versions. */
  readonly blocks?: ProofBlocks
}

export interface ProofBlocks {
  readonly passed: number
  readonly needed: number
}
