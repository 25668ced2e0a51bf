import type { Cancel, Clock } from '../../base/machine.ts'
import type { Millis } from '../../base/units.ts'
import type { LandedTransaction } from '../landed/landed-transaction.ts'
import { type Listed, listSignatures, readLanded, Unread } from '../rpc/read.ts'
import type { Rpc } from '../rpc/rpc.ts'
import { YOUNG_MS } from './follower.ts'

export interface FinderParts {
  readonly rpc: Rpc
  readonly clock: Clock
  readonly wallet: string
  /** Age of the youngest attempt that is looked for, ms; undefined where there is none. */
  readonly hunted: () => number | undefined
  /** The newest finalized transaction that has been classified; '' where there is none. */
  readonly until: () => string
  readonly found: (transaction: LandedTransaction) => void
  /** It is an attempt's, and followed. */
  readonly isKnown: (signature: string) => boolean
  /** A look that began at that time has come to an end. */
  readonly looked: (since: Millis) => void
}

const SOON_MS = 1_000
const LATER_MS = 5_000
/** What is not found within this has most likely not been sent, or will be late. */
const MOST_ROWS = 100
const MOST_SEEN = 5_000
/** A second process acts on the same events as we do, so its transaction lands at about the time of ours. */
const BESIDE_MS = 5_000
/** Beside our own transactions so many of the newest are looked at, if they are not older than RECENT_MS. */
const NEWEST_ROWS = 20
export const RECENT_MS = 120_000

/** Looks through the newest transactions of the wallet at confirmed: at the start and around each of our own landings,
 *  for what others do with it, and while there is an attempt whose signature nobody has told. */
export class Finder {
  readonly #parts: FinderParts
  /** Looked at. A fork may change what one did: for that there is the audit. */
  readonly #seen = new Set<string>()
  #cancelTimer: Cancel | undefined
  #lookedAt = Number.NEGATIVE_INFINITY
  #besideUntil = Number.NEGATIVE_INFINITY
  #isStarted = false
  #hasLooked = false
  #isLooking = false
  #isStopped = false

  constructor(parts: FinderParts) {
    this.#parts = parts
  }

  /** Looks for the first time, whether an attempt is looked for or not. */
  start(): void {
    this.#isStarted = true
    this.wake()
  }

  wake(): void {
    if (this.#isLooking || this.#isStopped || !this.#isWanted()) return
    this.#cancelTimer?.()
    this.#isLooking = true
    this.#lookedAt = this.#parts.clock.now()
    void this.#look().then(() => {
      this.#isLooking = false
      if (this.#isWanted()) this.#wakeAfter(this.#pauseMs())
    })
  }

  /** Something landed: who else uses the wallet shows now, or within seconds. */
  lookBeside(): void {
    const now = this.#parts.clock.now()
    this.#besideUntil = now + BESIDE_MS
    if (!this.#isLooking && !this.#isStopped) this.#wakeAfter(this.#lookedAt + SOON_MS - now)
  }

  get hasLooked(): boolean {
    return this.#hasLooked
  }

  stop(): void {
    this.#isStopped = true
    this.#cancelTimer?.()
  }

  #isWanted(): boolean {
    const { clock, hunted } = this.#parts
    const isFirst = this.#isStarted && !this.#hasLooked
    return isFirst || clock.now() < this.#besideUntil || hunted() !== undefined
  }

  #pauseMs(): number {
    const { clock, hunted } = this.#parts
    if (!this.#hasLooked || clock.now() < this.#besideUntil) return SOON_MS
    return (hunted() ?? 0) < YOUNG_MS ? SOON_MS : LATER_MS
  }

  #wakeAfter(ms: number): void {
    if (this.#isStopped) return
    this.#cancelTimer?.()
    this.#cancelTimer = this.#parts.clock.after(Math.max(0, ms), () => this.wake())
  }

  async #look(): Promise<void> {
    const { rpc, clock, wallet, until, found, looked } = this.#parts
    const since = clock.now()
    try {
      const newest = until()
      const range = { limit: MOST_ROWS, until: newest === '' ? undefined : newest }
      const rows = await listSignatures(rpc, wallet, 'confirmed', range)
      for (const { signature } of this.#worthReading(rows).reverse()) {
        if (this.#seen.has(signature)) continue
        const transaction = await readLanded(rpc, signature, 'confirmed')
        if (transaction === null || this.#isStopped) continue // a node may know the signature before the rest
        this.#remember(signature)
        if (transaction !== 'unreadable') found(transaction)
      }
      if (this.#isStopped) return
      this.#hasLooked = true
      looked(since)
    } catch (error) {
      if (!(error instanceof Unread)) throw error
    }
  }

  /** All, where an attempt is looked for; else what may show that others use the wallet now. */
  #worthReading(rows: Listed[]): Listed[] {
    const { clock, hunted, isKnown } = this.#parts
    if (hunted() !== undefined) return rows
    const since = clock.now() - RECENT_MS
    return rows
      .slice(0, NEWEST_ROWS)
      .filter(({ signature, failed, time }) => !failed && !isKnown(signature) && (time ?? since) >= since)
  }

  #remember(signature: string): void {
    this.#seen.add(signature)
    for (const oldest of this.#seen) {
      if (this.#seen.size <= MOST_SEEN) return
      this.#seen.delete(oldest)
    }
  }
}
