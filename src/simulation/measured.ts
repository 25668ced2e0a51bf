import type { ErrorCode } from '../core/errors.ts'
import type { Attempt } from '../core/order.ts'
import type { Lamports, TokenAmount } from '../core/units.ts'

/** What is known of an attempt from a run that really made it; what is absent is drawn and filled by the model. */
export interface Measured {
  /** From being sent until the engine was told, ms. */
  readonly toldAfterMs?: number
  /** `open`: the other run ended before it was told. */
  readonly landing?: 'filled' | 'reverted' | 'absent' | 'open' | 'refused' | 'unsent'
  /** Why it was refused. */
  readonly code?: ErrorCode
  readonly swap?: { readonly tokens: TokenAmount; readonly tradeLamports: Lamports }
  /** Base and priority fee; ... */
  readonly feeLamports?: Lamports
  /** ... and rent, negative for what came back. */
  readonly rentLamports?: Lamports
}

/** What is known of an attempt that is made now; undefined where nothing is. */
export type Measurements = (attempt: Attempt) => Measured | undefined
