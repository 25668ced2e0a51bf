import type { Cancel, Clock } from '../../base/machine.ts'
import type { Attempt } from '../../orders/attempt.ts'
import type { Outcome } from '../../orders/ports.ts'
import { readFill } from '../landed/fill.ts'
import { HIGHEST_TRANSACTION_VERSION } from '../landed/landed-transaction.ts'
import type { Rpc } from '../rpc/rpc.ts'
import { RPC_UNSUPPORTED_VERSION } from '../rpc/rpc-errors.ts'

export interface FollowerParts {
  readonly rpc: Rpc
  readonly clock: Clock
  /** Public key of the wallet. */
  readonly wallet: string
}

/** Poll interval. HUNT_MS applies while a recent signature is unseen, otherwise WATCH_MS. */
const HUNT_MS = 500
const WATCH_MS = 2_000
/** Age in ms from which an unseen signature is polled less often, and the node's history is searched for it. The node
 *  keeps a status in its cache for a short time only, and the connection may have been down during that time. */
export const YOUNG_MS = 60_000
/** Maximum number of signatures per getSignatureStatuses call. */
const BATCH = 256

interface Followed {
  readonly signature: string
  readonly attempt: Attempt
  readonly done: (outcome: Outcome) => void
  /** Solana slot in which the transaction was seen at `confirmed`; null if it was not seen yet. A fork may move the
   *  transaction to another slot. */
  slot: number | null
  isOver: boolean
}

interface Status {
  readonly slot: number
  readonly confirmationStatus: 'processed' | 'confirmed' | 'finalized'
}

/** Follows signatures. It makes one batched status call for all signatures, and a getTransaction call for each
 *  transaction that landed, at `confirmed` and again at `finalized`. It never reports absence, because a status of null
 *  proves nothing. */
export class Follower {
  readonly #parts: FollowerParts
  #followed: Followed[] = []
  #cancelTimer: Cancel | undefined
  #isPolling = false

  constructor(parts: FollowerParts) {
    this.#parts = parts
  }

  /** Follows a signature until its outcome is final. Returns a function that stops this earlier. Reports `filled` or
   *  `reverted` first as provisional, then as final. Reports `unknown` if the transaction does not belong to the
   *  attempt or cannot be read. */
  readonly follow = (signature: string, attempt: Attempt, done: (outcome: Outcome) => void): Cancel => {
    const one: Followed = { signature, attempt, done, slot: null, isOver: false }
    this.#followed.push(one)
    this.#schedule(0)
    return () => this.#end(one)
  }

  stop(): void {
    this.#followed = []
    this.#cancelTimer?.()
  }

  #end(one: Followed): void {
    one.isOver = true
    this.#followed = this.#followed.filter((other) => other !== one)
  }

  /** Schedules the next poll, to run in at most `ms`. */
  #schedule(ms: number): void {
    if (this.#isPolling || this.#followed.length === 0) return
    this.#cancelTimer?.()
    this.#cancelTimer = this.#parts.clock.after(ms, () => {
      this.#isPolling = true
      void this.#poll().finally(() => {
        this.#isPolling = false
        this.#schedule(this.#followed.some((one) => this.#isHunted(one)) ? HUNT_MS : WATCH_MS)
      })
    })
  }

  #isHunted(one: Followed): boolean {
    return one.slot === null && this.#isYoung(one)
  }

  #isYoung({ attempt }: Followed): boolean {
    return this.#parts.clock.now() - attempt.armedAt < YOUNG_MS
  }

  async #poll(): Promise<void> {
    const all = [...this.#followed]
    for (let from = 0; from < all.length; from += BATCH) await this.#pollBatch(all.slice(from, from + BATCH))
  }

  async #pollBatch(batch: readonly Followed[]): Promise<void> {
    const searchTransactionHistory = batch.some((one) => !this.#isYoung(one))
    const signatures = batch.map(({ signature }) => signature)
    const result = await this.#parts.rpc('getSignatureStatuses', [signatures, { searchTransactionHistory }])
    if (!result.ok) return
    const statuses = statusesOf(result.value)
    await Promise.all(
      batch.map(async (one, index) => {
        const status = statuses[index]
        if (status === undefined || status.confirmationStatus === 'processed' || one.isOver) return
        const isFinal = status.confirmationStatus === 'finalized'
        if (isFinal || status.slot !== one.slot) await this.#read(one, status.slot, isFinal)
      }),
    )
  }

  async #read(one: Followed, slot: number, final: boolean): Promise<void> {
    const { rpc, clock, wallet } = this.#parts
    const result = await rpc('getTransaction', [
      one.signature,
      {
        commitment: final ? 'finalized' : 'confirmed',
        encoding: 'json',
        maxSupportedTransactionVersion: HIGHEST_TRANSACTION_VERSION,
      },
    ])
    const isUnreadable = !result.ok && result.code === RPC_UNSUPPORTED_VERSION
    const answer = result.ok ? result.value : null
    // A node may know the status some moments before it has the transaction itself. The next poll requests the
    // transaction again.
    if (one.isOver || (answer === null && !isUnreadable)) return
    one.slot = slot
    const reading = readFill(answer, wallet, one.attempt, clock.now(), final)
    if (final) this.#end(one)
    const { signature } = one
    if (reading.kind === 'filled') one.done({ kind: 'filled', fill: reading.fill, final })
    else if (reading.kind === 'other') one.done({ kind: 'unknown', reason: reading.reason, signature })
    else one.done({ ...reading, signature, final })
  }
}

/** Returns the statuses in the order of the signatures; undefined for a signature that the node has not seen. */
function statusesOf(value: unknown): (Status | undefined)[] {
  const rows = (value as { value?: unknown } | null)?.value
  if (!Array.isArray(rows)) return []
  return rows.map((row: Partial<Status> | null) => {
    if (row === null || typeof row !== 'object' || !Number.isSafeInteger(row.slot)) return undefined
    const { slot, confirmationStatus } = row
    // Old nodes omit the commitment. `processed` is assumed, which is safe because a status with this commitment is
    // ignored.
    return { slot: slot as number, confirmationStatus: confirmationStatus ?? 'processed' }
  })
}
