import type { Cancel, Clock } from '../../base/machine.ts'
import type { Millis } from '../../base/units.ts'
import type { LandedTransaction } from '../landed/landed-transaction.ts'
import { type Listed, listSignatures, readLanded, Unread } from '../rpc/read.ts'
import type { Rpc } from '../rpc/rpc.ts'
import { YOUNG_MS } from './signature-follower.ts'

export interface FinderParts {
  readonly rpc: Rpc
  readonly clock: Clock
  readonly wallet: string
  /** Returns the age in ms of the most recent attempt whose transaction is searched for in the wallet; undefined if
   *  there is no such attempt. */
  readonly hunted: () => number | undefined
  /** Returns the signature of the newest finalized transaction that the audit has classified; '' if there is none. */
  readonly until: () => string
  readonly found: (transaction: LandedTransaction) => void
  /** Whether an attempt owns this signature; the signature is then already followed. */
  readonly isKnown: (signature: string) => boolean
  /** Called after a completed search that started at `since`. */
  readonly looked: (since: Millis) => void
}

const SOON_MS = 1_000
const LATER_MS = 5_000
/** Number of the wallet's newest transactions that a search lists. If the transaction of an attempt is not among them,
 *  it was most likely never sent, or will land late. */
const MOST_ROWS = 100
const MOST_SEEN = 5_000
/** After an order lands, the search for transactions of other processes continues for this long. A second process would
 *  react to the same events, so its transactions would land at about the same time. */
const BESIDE_MS = 5_000
/** Maximum number of the wallet's newest transactions that are read while no attempt is searched for. Transactions
 *  older than RECENT_MS are not read. */
const NEWEST_ROWS = 20
export const RECENT_MS = 120_000

/** Searches the newest transactions of the wallet at commitment `confirmed`. It searches at the start and after each
 *  order that landed, to detect other processes that use the wallet. It also searches while an attempt has no known
 *  signature. */
export class Finder {
  readonly #parts: FinderParts
  /** Signatures of transactions that this search has read and does not read again. If a fork changes such a
   *  transaction, the audit of the wallet notices it. */
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

  /** Starts the first search, even if no attempt needs one. */
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

  /** Starts a search for transactions of other processes after an order landed. Such transactions are visible now or
   *  within seconds. */
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
        if (transaction === null || this.#isStopped) continue // the node may not have the transaction yet
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

  /** Returns all listed transactions while an attempt is searched for; otherwise only those that may be from another
   *  process. */
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
