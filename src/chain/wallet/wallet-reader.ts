import type { Cancel, Clock } from '../../base/machine.ts'
import type { Lamports } from '../../base/units.ts'
import type { Rpc } from '../rpc/rpc.ts'

export interface WalletParts {
  readonly rpc: Rpc
  readonly clock: Clock
  /** Public key of the wallet. */
  readonly wallet: string
  /** Receives the balance at commitment `confirmed`, and its slot. The balance includes all transactions up to that
   *  slot. */
  readonly read: (lamports: Lamports, slot: number) => void
}

const EVERY_MS = 30_000
/** Retry interval after a failure. */
const AGAIN_MS = 2_000

/** Reads the wallet's SOL from the chain at the start, after each transaction that landed, and every 30 s. */
export class WalletReader {
  readonly #parts: WalletParts
  #slot = -1
  #cancelTimer: Cancel | undefined
  #isReading = false
  /** Whether a transaction landed during the current read, so that the balance must be read again. */
  #isStale = false
  #isStopped = false

  constructor(parts: WalletParts) {
    this.#parts = parts
  }

  start(): void {
    this.refresh()
  }

  stop(): void {
    this.#isStopped = true
    this.#cancelTimer?.()
  }

  /** Reads the balance again, because a transaction of the wallet landed. */
  refresh(): void {
    this.#isStale = true
    if (this.#isReading || this.#isStopped) return
    this.#isReading = true
    this.#isStale = false
    this.#cancelTimer?.()
    void this.#read().then((ok) => {
      this.#isReading = false
      if (this.#isStopped) return
      if (this.#isStale) this.refresh()
      else this.#cancelTimer = this.#parts.clock.after(ok ? EVERY_MS : AGAIN_MS, () => this.refresh())
    })
  }

  async #read(): Promise<boolean> {
    const { rpc, wallet, read } = this.#parts
    const result = await rpc('getBalance', [wallet, { commitment: 'confirmed' }])
    const reading = result.ok ? readingOf(result.value) : undefined
    if (reading === undefined || this.#isStopped) return false
    // If this provider is behind the provider that answered before, its balance is outdated.
    if (reading.slot < this.#slot) return false
    this.#slot = reading.slot
    read(reading.lamports, reading.slot)
    return true
  }
}

function readingOf(value: unknown): { lamports: Lamports; slot: number } | undefined {
  const answer = value as { context?: { slot?: unknown }; value?: unknown } | null
  const slot = answer?.context?.slot
  const lamports = answer?.value
  if (!Number.isSafeInteger(slot) || !Number.isSafeInteger(lamports) || (lamports as number) < 0) return undefined
  return { lamports: lamports as Lamports, slot: slot as number }
}
