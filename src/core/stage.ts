import type { Output } from './messages.ts'
import type { Millis } from './units.ts'

/** What every part of the engine may know of the moment, and where it says what it decided. */
export interface Stage {
  readonly now: Millis
  /** Strategies are being shown the past: nothing that is decided counts. */
  readonly warming: boolean
  emit(output: Output): void
}
