import type { Lamports } from './units.ts'

/** Which tokens a bot may buy. Lists are named by the path of their file, as it was written. */
export interface EntryFilters {
  /** SOL in its pool at least, as its price tells. */
  readonly minLiquidityLamports: Lamports | null
  /** Since it was announced, or since the bot first saw it. */
  readonly minAgeMs: number | null
  /** Of that SOL, a buy at most. */
  readonly maxPoolSharePercent: number | null
  readonly allowMints: string | null
  readonly denyMints: string | null
  readonly allowCreators: string | null
  readonly denyCreators: string | null
  /** What a list of creators says of a token that nobody saw announced. */
  readonly unknownCreators: 'refuse' | 'allow'
}

export const NO_FILTERS: EntryFilters = {
  ...{ minLiquidityLamports: null, minAgeMs: null, maxPoolSharePercent: null },
  ...{ allowMints: null, denyMints: null, allowCreators: null, denyCreators: null, unknownCreators: 'refuse' },
}
