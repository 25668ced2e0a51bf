import type { Cancel, Clock, Rpc } from '../core/ports.ts'
import { listSignatures, readLanded, Unread } from './read.ts'
import type { LandedTransaction } from './transaction.ts'

export interface FinderParts {
  readonly rpc: Rpc
  readonly clock: Clock
  readonly wallet: string
  /** Age of the youngest attempt that is looked for, ms; undefined where there is none. */
  readonly hunted: () => number | undefined
  /** The newest finalized transaction that has been classified; '' where there is none. */
  readonly until: () => string
  readonly found: (transaction: LandedTransaction) => void
}

const SOON_MS = 1_000
const LATER_MS = 5_000
/** What is not found within this has most likely not been sent, or will be late. */
const YOUNG_MS = 60_000
const MOST_ROWS = 100
const MOST_SEEN = 5_000

/** Looks through the newest transactions of the wallet at confirmed, while there is an attempt whose signature nobody has told. */
export class Finder {
  readonly #parts: FinderParts
  /** Looked at. A fork may change what one did: for that there is the audit. */
  readonly #seen = new Set<string>()
  #cancelTimer: Cancel | undefined
  #isLooking = false
  #isStopped = false

  constructor(parts: FinderParts) {
    this.#parts = parts
  }

  wake(): void {
    if (this.#isLooking || this.#isStopped || this.#parts.hunted() === undefined) return
    this.#cancelTimer?.()
    this.#isLooking = true
    void this.#look().then(() => {
      this.#isLooking = false
      const ageMs = this.#parts.hunted()
      if (ageMs === undefined || this.#isStopped) return
      this.#cancelTimer = this.#parts.clock.after(ageMs < YOUNG_MS ? SOON_MS : LATER_MS, () => this.wake())
    })
  }

  stop(): void {
    this.#isStopped = true
    this.#cancelTimer?.()
  }

  async #look(): Promise<void> {
    const { rpc, wallet, until, found } = this.#parts
    try {
      const newest = until()
      const range = { limit: MOST_ROWS, until: newest === '' ? undefined : newest }
      const rows = await listSignatures(rpc, wallet, 'confirmed', range)
      for (const { signature } of rows.reverse()) {
        if (this.#seen.has(signature)) continue
        const transaction = await readLanded(rpc, signature, 'confirmed')
        if (transaction === null || this.#isStopped) continue // a node may know the signature before the rest
        this.#remember(signature)
        if (transaction !== 'unreadable') found(transaction)
      }
    } catch (error) {
      if (!(error instanceof Unread)) throw error
    }
  }

  #remember(signature: string): void {
    this.#seen.add(signature)
    for (const oldest of this.#seen) {
      if (this.#seen.size <= MOST_SEEN) return
      this.#seen.delete(oldest)
    }
  }
}
