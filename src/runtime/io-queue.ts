import PQueue from 'p-queue'

/** What goes first when more wants out than may be under way; larger is sooner. */
export const IoPriority = { exit: 6, send: 5, status: 4, fill: 3, audit: 2, history: 1 } as const
export type IoPriority = (typeof IoPriority)[keyof typeof IoPriority]

/** Bounds how much I/O is under way at once; never in the way of an order whose slot is free, as long as `concurrency` exceeds the plan's
 *  slots that can be under way. */
export class IoQueue {
  readonly #queue: PQueue

  constructor(concurrency: number) {
    this.#queue = new PQueue({ concurrency })
  }

  run<T>(priority: IoPriority, io: () => Promise<T>): Promise<T> {
    return this.#queue.add(io, { priority })
  }

  /** When nothing is under way or waits. */
  async idle(): Promise<void> {
    await this.#queue.onIdle()
  }
}
