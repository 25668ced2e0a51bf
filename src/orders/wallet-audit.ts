import type { Lamports, Millis } from '../base/units.ts'
import type { FillCosts } from '../engine/accounting/fill-costs.ts'
import type { Attempt } from './attempt.ts'

/** How far the audit of a wallet has come: each transaction up to `slot` is classified, and together they make
 *  `lamports`. */
export interface WalletCursor {
  readonly account: string
  /** Genesis hash of the chain that it was read from. */
  readonly genesis: string
  /** Finalized. */
  readonly slot: number
  /** Blocks up to `slot`, or a little fewer. */
  readonly height: number
  readonly lamports: Lamports
  /** The newest transaction up to there; '' where there is none. */
  readonly signature: string
}

/** ours: an attempt of ours made it. inflow: the wallet did not sign. housekeeping: it signed, moved no tracked token,
 *  and cost next to nothing. foreign: anything else that it signed. opaque: cannot be read; what it did is known by the
 *  balances around it. */
export type TransactionClass = 'ours' | 'inflow' | 'housekeeping' | 'foreign' | 'opaque'

/** A finalized transaction that touched a wallet, classified once. */
export interface WalletTransaction {
  readonly account: string
  /** Of an opaque one that no node lists: `?` and its slot. */
  readonly signature: string
  readonly slot: number
  readonly class: TransactionClass
  /** '' unless ours. */
  readonly attemptId: string
  /** What it changed in the wallet. */
  readonly lamports: Lamports
  readonly time: Millis | null
  /** It landed after this slot: one below `slot`, except for an opaque one that no node lists. */
  readonly after: number
  /** It changed nothing but the fee. */
  readonly failed: boolean
  /** What of `lamports` the wallet paid whatever the transaction was for; absent where that could not be read. */
  readonly costs?: WalletCosts
}

/** Fees, rent and wrapping: what a wallet pays in any transaction, be it a trade or not. As in `FillCosts`: what was
 *  paid is positive. */
export type WalletCosts = Pick<
  FillCosts,
  | 'baseFeeLamports'
  | 'priorityFeeLamports'
  | 'tipLamports'
  | 'rentPaidLamports'
  | 'rentReturnedLamports'
  | 'wrappedLamports'
>

/** What these took out of the wallet. */
export function walletCostsSum(costs: WalletCosts): number {
  const { baseFeeLamports, priorityFeeLamports, tipLamports } = costs
  const { rentPaidLamports, rentReturnedLamports, wrappedLamports } = costs
  return baseFeeLamports + priorityFeeLamports + tipLamports + rentPaidLamports - rentReturnedLamports + wrappedLamports
}

/** An attempt that may still turn out to have executed, or to have executed once more, and what is known of it. */
export interface Watch {
  readonly attempt: Attempt
  /** It executed, or is thought not to have: whatever comes now is late. */
  readonly ended: boolean
  /** The wait for a late execution of a lost request, as far as it began; times of another boot can not be compared
   *  with ours. */
  readonly lostAt: { readonly boot: string; readonly monotonicMs: number } | null
  /** Once the chain is final above this height, it can not execute any more. */
  readonly bound: number | null
  /** The first finalized slot that lay past the bound. */
  readonly boundSlot: number | null
  /** All of its transactions that were seen. */
  readonly signatures: readonly string[]
  /** What we signed and send, base64; absent where the service signed, and once it has ended. */
  readonly bytes?: string
  /** For people: how far its proof is; '' where it has ended. */
  readonly progress: string
}
