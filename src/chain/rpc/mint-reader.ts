import type { Clock } from '../../base/machine.ts'
import { isPublicKey } from '../../solana/base58.ts'
import type { MintFacts } from '../../solana/mint.ts'
import { mintFactsOf } from '../../solana/mint.ts'
import { accountOf } from './accounts.ts'
import { record, Unread } from './read.ts'
import type { Rpc } from './rpc.ts'

export interface MintReaderParts {
  readonly rpc: Rpc
  readonly clock: Clock
  /** Called once for each mint that was read, before the callbacks of `read`. */
  readonly onFacts: (mint: string, facts: MintFacts) => void
}

/** Maximum time that a buy waits for a read. The time to live of the buy may end the wait earlier. */
const WAIT_MS = 5_000
/** Retry interval. A newly created mint may not have reached the node yet. */
const AGAIN_MS = 200
/** A read ends after this time. By then every waiting buy has timed out, and the next buy starts a new read. */
const LONGEST_MS = 30_000
const MOST_AHEAD = 4
const MOST_KEPT = 10_000

type OnFacts = (facts: MintFacts | undefined) => void

/** Reads the permissions of mints. Each mint is read only once. Its authorities can be revoked later, but never
 *  restored, so an old reading never shows too few permissions. */
export class MintReader {
  readonly #parts: MintReaderParts
  readonly #known = new Map<string, MintFacts>()
  /** Callbacks that wait for a read, by mint. */
  readonly #asked = new Map<string, Set<OnFacts>>()
  #isStopped = false

  constructor(parts: MintReaderParts) {
    this.#parts = parts
  }

  /** Reads a mint ahead of a likely buy. `key`: a subscription key. Only a few reads run at a time, because other calls
   *  share the RPC budget. */
  prepare(key: string): void {
    if (this.#asked.size >= MOST_AHEAD || this.#known.has(key) || this.#asked.has(key)) return
    if (isPublicKey(key)) this.#start(key)
  }

  /** Calls `onFacts` with the permissions of a mint: before `read` returns if the mint was read before, otherwise after
   *  the read. If the read does not finish within WAIT_MS, calls `onFacts` with undefined. */
  read(mint: string, onFacts: OnFacts): void {
    const known = this.#known.get(mint)
    if (known !== undefined) {
      onFacts(known)
      return
    }
    if (!this.#asked.has(mint)) this.#start(mint)
    const waiting = this.#asked.get(mint) as Set<OnFacts>
    const stop = this.#parts.clock.after(WAIT_MS, () => {
      waiting.delete(once)
      onFacts(undefined)
    })
    const once: OnFacts = (facts) => {
      stop()
      onFacts(facts)
    }
    waiting.add(once)
  }

  stop(): void {
    this.#isStopped = true
  }

  #start(mint: string): void {
    this.#asked.set(mint, new Set())
    void this.#ask(mint, this.#parts.clock.now() + LONGEST_MS)
  }

  async #ask(mint: string, until: number): Promise<void> {
    const { clock, onFacts } = this.#parts
    const facts = await this.#facts(mint)
    if (this.#isStopped) return
    if (facts === undefined && clock.now() < until) {
      clock.after(AGAIN_MS, () => void this.#ask(mint, until))
      return
    }
    const waiting = this.#asked.get(mint) ?? []
    this.#asked.delete(mint)
    if (facts !== undefined) {
      this.#keep(mint, facts)
      onFacts(mint, facts)
    }
    for (const one of waiting) one(facts)
  }

  /** Reads a mint at commitment `processed`, which shows its newest permissions. Returns undefined if it cannot be
   *  read. */
  async #facts(mint: string): Promise<MintFacts | undefined> {
    const how = { commitment: 'processed', encoding: 'base64' }
    const result = await this.#parts.rpc('getAccountInfo', [mint, how])
    if (!result.ok) return undefined
    try {
      const account = accountOf(record(result.value).value)
      return account === null ? undefined : mintFactsOf(account)
    } catch (error) {
      if (error instanceof Unread) return undefined
      throw error
    }
  }

  #keep(mint: string, facts: MintFacts): void {
    this.#known.set(mint, facts)
    if (this.#known.size > MOST_KEPT) this.#known.delete(this.#known.keys().next().value as string)
  }
}
