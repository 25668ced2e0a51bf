import type { SetResult } from './set-result.ts'
import type { Range } from './sweep-space.ts'

/** A sweep and what came of it. */
export interface Sweep {
  readonly bot: string
  readonly strategy: string
  readonly ranges: readonly Range[]
  /** Points that the strategy's schema does not take. */
  readonly refused: number
  readonly rows: number
  readonly holdOutPercent: number
  readonly lacks: readonly string[]
  /** As `ranked` has them. */
  readonly results: readonly SetResult[]
}
