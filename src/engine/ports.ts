import type { Stop } from '../base/machine.ts'
import type { Millis, Seq } from '../base/units.ts'
import type { Block } from '../market/block.ts'
import type { Input, Output } from './messages.ts'

/** What every part of the engine may know of the moment, and where it says what it decided. */
export interface Stage {
  readonly now: Millis
  /** Strategies are being shown the past: nothing that is decided counts. */
  readonly warming: boolean
  emit(output: Output): void
}

/** All bots and accounts of one process under one seq. Pure: no clock, no I/O, nothing shared with the gateway but
 *  messages, so it may sit on the main thread or in one worker. `outputs` is drained and reused by the runner: empty
 *  for nearly every row. */
export interface EnginePort {
  readonly outputs: Output[]
  /** Returns the next row not taken: it stops after a row with outputs. A row's time is the block's, and never
   *  falls. */
  rows(firstSeq: Seq, block: Block, from: number, to: number): number
  input(seq: Seq, time: Millis, input: Input): void
  /** Strategies see it, their requests are discarded, money is untouched. */
  warm(block: Block, row: number): void
}

/** The runner's one door. */
export interface Sink {
  /** Returns the next row not taken: it stops after a row with outputs, so that the driver can look at the clock. */
  rows(block: Block, from: number, to: number): number
  post(input: Input): void
}

/** Where market rows come from: service/feed, or simulation/tape which drives the simulated clock between rows. */
export interface Source {
  start(sink: Sink): Stop
  /** The subscription keys wanted from now on; the whole set. */
  want(keys: readonly string[]): void
}
