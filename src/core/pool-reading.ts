import type { Refusal } from './errors.ts'
import { type Millis, wholeTokens } from './units.ts'

/** Both sides of a mint's pool as the chain had them at one slot: what its price is made of, virtual reserves included. */
export interface PoolReading {
  readonly slot: number
  /** Of that slot, by the chain's own clock. */
  readonly time: Millis
  readonly lamports: bigint
  /** Base units. */
  readonly tokens: bigint
  readonly decimals: number
}

/** What came of asking for it. */
export type PoolAnswer = PoolReading | Refusal

/** SOL a token, fees aside. */
export function poolPrice({ lamports, tokens, decimals }: PoolReading): number {
  return Number(lamports) / 1e9 / wholeTokens(tokens, decimals)
}
