import PQueue from 'p-queue'
import type { Pace } from './pacing.ts'

/** Bounds how much I/O is under way at once; never in the way of an order whose slot is free, as long as `concurrency` exceeds the plan's
 *  slots that can be under way. */
export class IoQueue {
  readonly #queue: PQueue

  constructor(concurrency: number) {
    this.#queue = new PQueue({ concurrency })
  }

  run<T>(priority: Pace, io: () => Promise<T>): Promise<T> {
    return this.#queue.add(io, { priority: -priority })
  }

  /** When nothing is under way or waits. */
  async idle(): Promise<void> {
    await this.#queue.onIdle()
  }
}
