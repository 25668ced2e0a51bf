import type { Lamports, Millis } from '../base/units.ts'
import type { FillCosts } from '../engine/accounting/fill-costs.ts'
import type { Attempt } from './attempt.ts'

/** Progress of a wallet's audit. Every transaction after the first reading of the wallet and up to the Solana slot
 *  `slot` is classified. `lamports`: the wallet's balance at `slot`. */
export interface WalletCursor {
  readonly account: string
  /** Genesis hash of the chain. */
  readonly genesis: string
  /** Finalized Solana slot. */
  readonly slot: number
  /** Block height at `slot`, or slightly lower. */
  readonly height: number
  readonly lamports: Lamports
  /** Signature of the newest transaction up to `slot`; '' if the wallet has none. */
  readonly signature: string
}

/** Class of a transaction. ours: an attempt made the transaction. inflow: the wallet did not sign it. housekeeping: the
 *  wallet signed it, but it moved no tracked token and cost almost nothing. foreign: the wallet signed it, and no other
 *  class applies. opaque: it could not be read; only the balances before and after it are known. */
export type TransactionClass = 'ours' | 'inflow' | 'housekeeping' | 'foreign' | 'opaque'

/** A finalized transaction that touched a wallet, classified once. */
export interface WalletTransaction {
  readonly account: string
  /** Signature; `?` and the Solana slot for an opaque transaction that no node lists. */
  readonly signature: string
  readonly slot: number
  readonly class: TransactionClass
  /** Id of the attempt that made the transaction; '' unless the class is `ours`. */
  readonly attemptId: string
  /** Change of the wallet's balance by the transaction. */
  readonly lamports: Lamports
  readonly time: Millis | null
  /** The transaction landed after this Solana slot. It is `slot` - 1 if the transaction's slot is known. For an opaque
   *  transaction that no node lists, it is the slot of the previous audit. */
  readonly after: number
  /** Whether the transaction failed, so that it cost only the fee. */
  readonly failed: boolean
  /** Fees, rent and wrapping, which `lamports` includes; absent if they could not be read. */
  readonly costs?: WalletCosts
}

/** Fees, rent and wrapping of SOL. Any transaction may have these costs, even if it is not a trade. Payments are
 *  positive, as in `FillCosts`. */
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

/** An attempt that may still turn out to have executed (even twice), with the evidence about it. */
export interface Watch {
  readonly attempt: Attempt
  /** Whether the attempt has ended. An execution that is found later is a late execution. */
  readonly ended: boolean
  /** Start of the wait for a late execution, which begins when the answer to the attempt's request is lost; null
   *  before. `boot` names the boot of the computer, because monotonic times of different boots cannot be compared. */
  readonly lostAt: { readonly boot: string; readonly monotonicMs: number } | null
  /** The highest block height at which the attempt can still execute. Once a higher block is final, the attempt can no
   *  longer execute. null while this height is unknown. */
  readonly bound: number | null
  /** The first finalized Solana slot whose block height is above `bound`; null while unknown. */
  readonly boundSlot: number | null
  /** Signatures of the attempt's transactions that were seen. */
  readonly signatures: readonly string[]
  /** The locally signed transaction, base64; absent if the service signed, and after the attempt has ended. */
  readonly bytes?: string
  /** Text about the progress of the proof that the attempt did not execute, for display; '' after the attempt has
   *  ended. */
  readonly progress: string
  /** Progress of the proof in blocks: `passed` since the attempt's baseline, and `needed` in all. Absent while `bound`
   *  is unknown, after the chain has passed `bound`, and in records of older versions. */
  readonly blocks?: ProofBlocks
}

export interface ProofBlocks {
  readonly passed: number
  readonly needed: number
}
