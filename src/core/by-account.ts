/** What accounts have, each by a key of its own, in the order in which it came. What one account has is found without going through what
 *  the others have: a sweep runs many side by side. */
export class ByAccount<T> {
  readonly #parts = new Map<string, Map<string, T>>()

  get(account: string, key: string): T | undefined {
    return this.#parts.get(account)?.get(key)
  }

  /** Whoever's it is. There are few accounts, and what has to be found this way is rare. */
  find(key: string): T | undefined {
    for (const part of this.#parts.values()) {
      const item = part.get(key)
      if (item !== undefined) return item
    }
    return undefined
  }

  set(account: string, key: string, item: T): void {
    const part = this.#parts.get(account)
    if (part === undefined) this.#parts.set(account, new Map([[key, item]]))
    else part.set(key, item)
  }

  delete(account: string, key: string): void {
    this.#parts.get(account)?.delete(key)
  }

  /** What one account has, oldest first. */
  of(account: string): ReadonlyMap<string, T> {
    return this.#parts.get(account) ?? (NOTHING as ReadonlyMap<string, T>)
  }

  /** Drops the oldest of an account while it has more than `kept`. */
  trim(account: string, kept: number): void {
    const part = this.#parts.get(account)
    while (part !== undefined && part.size > kept) part.delete(part.keys().next().value as string)
  }
}

const NOTHING: ReadonlyMap<string, unknown> = new Map()
