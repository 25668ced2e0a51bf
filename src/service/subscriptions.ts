/** Keys in one subscribe message. */
const BATCH = 100
/** A key that three confirmations of its batch left out is given up. */
const MOST_MISSES = 3

/** Which keys are wanted, confirmed, given up or being asked for. The wanted ones are the truth: after each connect they are compared with
 *  what was confirmed and the rest is asked again. One batch is asked at a time, because a refusal names no key. No I/O. */
export class Subscriptions {
  #wanted = new Set<string>()
  readonly #confirmed = new Set<string>()
  readonly #dropped = new Set<string>()
  /** Halves of refused batches: asked before anything else, so that a bad key stands alone soon. */
  #suspects: string[][] = []
  #asked: readonly string[] = []
  readonly #misses = new Map<string, number>()

  get wanted(): readonly string[] {
    return [...this.#wanted]
  }

  get confirmed(): readonly string[] {
    return [...this.#confirmed]
  }

  /** The batch that has not been answered yet. */
  get asked(): readonly string[] {
    return this.#asked
  }

  /** Every wanted key is confirmed or given up. */
  get isComplete(): boolean {
    for (const key of this.#wanted) if (this.#isMissing(key)) return false
    return true
  }

  /** The whole set from now on; returns the confirmed keys that are no longer in it. What was given up is asked for anew where somebody
   *  wants it again later. */
  want(keys: readonly string[]): string[] {
    this.#wanted = new Set(keys)
    for (const key of this.#dropped) if (!this.#wanted.has(key)) this.#dropped.delete(key)
    for (const key of this.#misses.keys()) if (!this.#wanted.has(key)) this.#misses.delete(key)
    const unwanted = this.confirmed.filter((key) => !this.#wanted.has(key))
    for (const key of unwanted) this.#confirmed.delete(key)
    return unwanted
  }

  /** The next batch to ask for; undefined while one is open, or nothing is missing. */
  next(): readonly string[] | undefined {
    if (this.#asked.length > 0) return undefined
    const batch = this.#nextSuspects() ?? this.wanted.filter((key) => this.#isMissing(key)).slice(0, BATCH)
    this.#asked = batch
    return batch.length > 0 ? batch : undefined
  }

  /** The service confirmed these keys; true when the open batch is answered with it. */
  confirm(keys: readonly string[]): boolean {
    for (const key of keys) {
      if (this.#wanted.has(key)) this.#confirmed.add(key)
      this.#misses.delete(key)
    }
    if (this.#asked.length === 0) return false
    // A key that nobody wants any more is answered as well: it must not hold up the others.
    const answered = new Set(keys)
    this.#asked = this.#asked.filter((key) => (this.#wanted.has(key) ? this.#isMissing(key) : !answered.has(key)))
    return this.#asked.length === 0
  }

  /** Of the open batch, what nobody wants any more and this answer confirms. */
  unwantedOf(keys: readonly string[]): string[] {
    return this.#asked.filter((key) => !this.#wanted.has(key) && keys.includes(key))
  }

  /** The service refused the open batch: it is halved until the bad key stands alone, and only that one is given up.
   *  Returns it. */
  refuse(): readonly string[] {
    const batch = this.#asked
    this.#asked = []
    if (batch.length <= 1) return this.#drop(batch)
    const middle = batch.length >> 1
    this.#suspects.push(batch.slice(0, middle), batch.slice(middle))
    return []
  }

  /** The open batch was answered in part, and the rest of it not in time. Returns the keys given up. */
  miss(): readonly string[] {
    const rest = this.#asked
    this.#asked = []
    for (const key of rest) if (this.#wanted.has(key)) this.#misses.set(key, (this.#misses.get(key) ?? 0) + 1)
    return this.#drop(rest.filter((key) => (this.#misses.get(key) ?? 0) >= MOST_MISSES))
  }

  /** The open batch is to be asked again, and it is nobody's fault. */
  retry(): void {
    this.#asked = []
  }

  /** The connection is gone, and every confirmation with it; suspects stay suspects. */
  disconnect(): void {
    this.#confirmed.clear()
    this.#asked = []
  }

  #nextSuspects(): readonly string[] | undefined {
    for (;;) {
      const batch = this.#suspects.shift()
      if (batch === undefined) return undefined
      const missing = batch.filter((key) => this.#wanted.has(key) && this.#isMissing(key))
      if (missing.length > 0) return missing
    }
  }

  #isMissing(key: string): boolean {
    return !this.#confirmed.has(key) && !this.#dropped.has(key)
  }

  #drop(keys: readonly string[]): readonly string[] {
    for (const key of keys) if (this.#wanted.has(key)) this.#dropped.add(key)
    return keys
  }
}
