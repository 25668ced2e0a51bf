import type { Stop } from '../base/machine.ts'
import type { Millis, Seq } from '../base/units.ts'
import type { Block } from '../market/block.ts'
import type { Input, Output } from './messages.ts'

/** The parts of the engine use this interface to read the current time and to emit decisions. */
export interface Stage {
  readonly now: Millis
  /** Whether the strategies are warming up. Decisions are discarded then. */
  readonly warming: boolean
  emit(output: Output): void
}

/** The engine of all bots and accounts of one process. It is pure: it has no clock and does no I/O. Engine and gateway
 *  exchange only messages, so the engine may run on the main thread or in a worker. The runner takes the decisions out
 *  of `outputs` after each call; for nearly every row there are none. */
export interface EnginePort {
  readonly outputs: Output[]
  /** Handles the market rows `from` to `to` (exclusive) of a block. Row `from` has the sequence number `firstSeq`.
   *  Stops after a row with outputs, and returns the next row to handle. Throws if time runs backwards. */
  rows(firstSeq: Seq, block: Block, from: number, to: number): number
  input(seq: Seq, time: Millis, input: Input): void
  /** Shows a row of the warm-up to the strategies. Their requests are discarded and positions do not change. */
  warm(block: Block, row: number): void
}

/** The input side of the runner: all market rows and all inputs pass through it. */
export interface Sink {
  /** Handles the market rows `from` to `to` (exclusive) of a block. Stops after a row with outputs, so that the caller
   *  can look at the clock, and returns the next row to handle. */
  rows(block: Block, from: number, to: number): number
  post(input: Input): void
}

/** A source of market rows: the feed of a venue, or a tape. A tape also advances the simulated clock between rows. */
export interface Source {
  start(sink: Sink): Stop
  /** Replaces the set of subscription keys. */
  want(keys: readonly string[]): void
}
