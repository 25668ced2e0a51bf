import type { Lamports } from '../base/units.ts'
import { LEAST_PRIORITY_FEE } from '../engine/limits/order-bounds.ts'
import type { Attempt } from './attempt.ts'
import type { WorkingOrder } from './working-order.ts'

/** Raises the slippage of the next attempt to the value after the index `step` in the order's list of slippages, or to
 *  the last value of the list. Never lowers the slippage. */
export function raiseSlippage(working: WorkingOrder, step: number): void {
  const last = working.order.slippagePercents.length - 1
  working.slippageStep = Math.min(Math.max(working.slippageStep, step + 1), last)
}

/** Returns the priority fee that the order sets for its present slippage; null if the service chooses it. */
function ownFee({ order, slippageStep }: WorkingOrder): Lamports | null {
  const { priorityFeeLamports, priorityFeeLadder } = order
  if (priorityFeeLadder.length === 0) return priorityFeeLamports
  return priorityFeeLadder[Math.min(slippageStep, priorityFeeLadder.length - 1)] as Lamports
}

/** Returns the priority fee of the next attempt after `refused` fees were refused. The fees are tried in this order:
 *  the fee that the order sets, the service's choice (null), and the lowest fee. The lowest fee comes last because the
 *  service's choice may be higher than the policy allows. */
export function feeAfter(working: WorkingOrder, refused: number): Lamports | null {
  const own = ownFee(working)
  if (refused === 0) return own
  return own === null || (own !== LEAST_PRIORITY_FEE && refused > 1) ? LEAST_PRIORITY_FEE : null
}

/** Returns the number of fees that `feeAfter` tries. */
function countFees(working: WorkingOrder): number {
  const own = ownFee(working)
  return own === null || own === LEAST_PRIORITY_FEE ? 2 : 3
}

/** Makes the next attempt use the fee after the one that was refused. */
export function skipFee(working: WorkingOrder, { priorityFeeLamports }: Attempt): void {
  for (let refused = working.refusedFees; refused < countFees(working); refused++)
    if (feeAfter(working, refused) === priorityFeeLamports) working.refusedFees = refused + 1
}

/** Whether a fee remains to be tried after the one of the latest attempt. */
export function hasOtherFee(working: WorkingOrder): boolean {
  return working.refusedFees + 1 < countFees(working)
}
