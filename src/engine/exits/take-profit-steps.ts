import type { TokenAmount } from '../../base/units.ts'
import { type Size, withTag } from '../order.ts'
import { type ExitRules, isAbove } from './exit-settings.ts'

// Take-profit steps sell parts of a position at rising profits.

/** The steps of a position that were reached, and the tokens that they sell. */
export interface StepState {
  /** Number of take-profit steps that were reached. */
  readonly taken: number
  /** Base units that the reached steps sell in total. */
  readonly tokens: TokenAmount
  /** Reason of the last step that was reached. */
  readonly reason: string
  /** Tag of the last step; absent if it has none. */
  readonly tag?: string
}

/** The fields of a position that decide how many tokens its steps sell. `Position` describes them. */
interface SteppedPosition {
  readonly tokens: TokenAmount
  readonly exiting: string
  bought?: TokenAmount
  steps?: StepState
}

/** Smallest part of a position that can be sold, percent. The size of a sale is a percentage with two decimals, so a
 *  take-profit step may leave a remainder. A remainder up to this size counts as sold. */
export const LEAST_PART_PERCENT = 0.1
const STEP_REMAINDER = 1_000n

/** Returns the number of take-profit steps reached at `price`. `taken` of them were reached before. */
export function stepsReached(
  { takeProfitSteps = [] }: ExitRules,
  taken: number,
  averagePrice: number,
  price: number,
): number {
  let reached = taken
  for (let step = takeProfitSteps[reached]; step !== undefined; step = takeProfitSteps[reached]) {
    if (!(averagePrice > 0) || !isAbove(price, averagePrice, step.atPercent)) break
    reached++
  }
  return reached
}

/** Records that the first `taken` steps are reached at `price`, and that their share is due for sale. */
export function takeSteps(
  position: SteppedPosition & { readonly exits: ExitRules; readonly averagePrice: number },
  taken: number,
  price: number,
): void {
  const { exits, averagePrice, bought = position.tokens } = position
  position.bought = bought
  const steps = exits.takeProfitSteps ?? []
  const percent = steps.slice(0, taken).reduce((sum, { sellPercent }) => sum + sellPercent, 0)
  const before = steps.slice(0, position.steps?.taken ?? 0).reduce((sum, { sellPercent }) => sum + sellPercent, 0)
  const tokens = (position.steps?.tokens ?? 0n) + shareOf(bought, percent - before)
  const rise = ((price / averagePrice - 1) * 100).toFixed(1)
  const reason = `take-profit step ${taken} of ${steps.length}: +${rise} % from the average price`
  position.steps = { taken, tokens, reason }
}

/** Records that a share of the held tokens is due for sale, in addition to the reached steps. */
export function addPart(
  position: SteppedPosition,
  percent: number,
  { reason, tag }: { readonly reason: string; readonly tag?: string | undefined },
): void {
  const { tokens, bought = tokens, steps } = position
  const sold = bought > tokens ? bought - tokens : 0n
  const asked = steps === undefined || steps.tokens < sold ? sold : steps.tokens
  position.bought = bought
  const next: StepState = { taken: steps?.taken ?? 0, tokens: asked + shareOf(tokens, percent), reason }
  position.steps = withTag(next, tag)
}

/** Returns the base units that the reached take-profit steps still have to sell. Every sale of the position counts, so
 *  tokens are neither sold twice nor forgotten when a sale fails, arrives late or is reversed. */
export function stepTokensDue({ tokens, steps, bought = 0n, exiting }: SteppedPosition): TokenAmount {
  if (steps === undefined || exiting !== '') return 0n
  const sold = bought > tokens ? bought - tokens : 0n
  const due = steps.tokens - sold
  if (due * STEP_REMAINDER <= bought) return 0n
  return due > tokens ? tokens : due
}

/** Restarts the take-profit steps, so that their shares refer to the tokens held now. Tokens that are due for sale
 *  before the restart stay due. */
export function restartSteps(position: SteppedPosition): void {
  const due = stepTokensDue(position)
  const { steps } = position
  position.bought = position.tokens
  delete position.steps
  if (steps !== undefined && due > 0n) position.steps = { ...steps, taken: 0, tokens: due }
}

/** Returns the part of the held tokens that is due for sale, as a percentage. The order names a percentage, because a
 *  service could misread the unit of an amount of tokens. */
export function sizeOfStep(position: SteppedPosition): Size {
  const hundredths = Number((stepTokensDue(position) * 10_000n + position.tokens / 2n) / position.tokens)
  // A part of at least 99.9 % is sold as the whole position, because the remainder would be too small for a sale.
  return hundredths >= 9_990 ? { kind: 'all' } : { kind: 'percent', percent: Math.max(1, hundredths) / 100 }
}

function shareOf(tokens: bigint, percent: number): bigint {
  return (tokens * BigInt(Math.round(percent * 1e6))) / 100_000_000n
}
