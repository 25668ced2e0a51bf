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
  /** Told once a mint, before those who wait for it. */
  readonly told: (mint: string, facts: MintFacts) => void
}

/** A buy waits no longer, and no longer than its time to live. */
const WAIT_MS = 5_000
/** A mint that was made a moment ago may not have come to our node yet. */
const AGAIN_MS = 200
/** Then nobody waits any more, and the next buy asks anew. */
const LONGEST_MS = 30_000
const MOST_AHEAD = 4
const MOST_KEPT = 10_000

type Told = (facts: MintFacts | undefined) => void

/** Reads what mints allow, each once: an authority may be given up later, and is never taken back. */
export class MintReader {
  readonly #parts: MintReaderParts
  readonly #known = new Map<string, MintFacts>()
  /** Being read: who waits for it. */
  readonly #asked = new Map<string, Set<Told>>()
  #isStopped = false

  constructor(parts: MintReaderParts) {
    this.#parts = parts
  }

  /** A subscription key: of a mint, somebody may soon buy it. A few at a time: the budget of an RPC is for other things
   *  too. */
  prepare(key: string): void {
    if (this.#asked.size >= MOST_AHEAD || this.#known.has(key) || this.#asked.has(key)) return
    if (isPublicKey(key)) this.#start(key)
  }

  /** Tells at once where it is known; undefined where nobody could say in time. */
  read(mint: string, told: Told): void {
    const known = this.#known.get(mint)
    if (known !== undefined) {
      told(known)
      return
    }
    if (!this.#asked.has(mint)) this.#start(mint)
    const waiting = this.#asked.get(mint) as Set<Told>
    const stop = this.#parts.clock.after(WAIT_MS, () => {
      waiting.delete(once)
      told(undefined)
    })
    const once: Told = (facts) => {
      stop()
      told(facts)
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
    const { clock, told } = this.#parts
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
      told(mint, facts)
    }
    for (const one of waiting) one(facts)
  }

  /** At the newest that the node has: what counts is what the mint allows now. */
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
