import type { Clock, Rpc } from '../core/ports.ts'
import { type Head, readBlockTime, readHead, Unread } from './read.ts'

/** A block older than this is not the head of the chain: the node lags, or the chain stands still. The bounds that are counted from a head
 *  have room for 50 blocks. Slots are becoming shorter: 400 ms once, about 214 ms measured in October 2026, 200 ms where they are to end;
 *  50 blocks are 10 s then, less 2 s for a clock of ours that is behind the validators'. Block times are cut to whole seconds, which makes a
 *  block seem older, never younger. */
const OLDEST_MS = 8_000
const AGAIN_MS = 2_000

export interface FreshHeadParts {
  readonly rpc: Rpc
  readonly clock: Clock
  /** Why there is none. */
  readonly waits: (reason: string) => void
}

/** Tells the head of the chain to whoever needs one that is not older than his question: a bound counted from an old one would be too low. */
export class FreshHead {
  readonly #parts: FreshHeadParts
  #asked: ((head: Head) => void)[] = []
  #isReading = false
  #isStopped = false

  constructor(parts: FreshHeadParts) {
    this.#parts = parts
  }

  /** `told` is called once, later; for as long as no node is fresh, not at all. */
  ask(told: (head: Head) => void): void {
    this.#asked.push(told)
    if (!this.#isReading) this.#read()
  }

  stop(): void {
    this.#isStopped = true
  }

  #read(): void {
    if (this.#isStopped || this.#asked.length === 0) return
    this.#isReading = true
    // Who asks from now on asks for a later one.
    const asked = this.#asked.splice(0)
    void this.#head().then((head) => {
      this.#isReading = false
      if (this.#isStopped) return
      if (head !== undefined) {
        for (const told of asked) told(head)
        this.#read()
        return
      }
      this.#asked.unshift(...asked)
      this.#isReading = true
      this.#parts.clock.after(AGAIN_MS, () => this.#read())
    })
  }

  async #head(): Promise<Head | undefined> {
    const { rpc, clock, waits } = this.#parts
    try {
      const head = await readHead(rpc, 'confirmed')
      const ageMs = clock.now() - (await readBlockTime(rpc, head.slot))
      if (ageMs <= OLDEST_MS) return head
      if (!this.#isStopped)
        waits(`the newest block that the RPC knows is ${Math.round(ageMs / 1_000)} s old by this machine's clock`)
    } catch (error) {
      if (!(error instanceof Unread)) throw error
      if (!this.#isStopped) waits(error.message)
    }
    return undefined
  }
}
