/** Stores items by account and key, in the order of insertion. A parameter sweep runs many accounts at the same time,
 *  so each account has its own map, and a look-up does not search the items of other accounts. */
export class ByAccount<T> {
  readonly #parts = new Map<string, AgedMap<T>>()
  /** Account of the last look-up. `#part` is the map of this account; undefined if the map does not exist yet. */
  #account = ''
  #part: AgedMap<T> | undefined

  get(account: string, key: string): T | undefined {
    return this.#partOf(account)?.get(key)
  }

  /** Finds an item by its key in any account. Tries the accounts one after the other, because there are few. */
  find(key: string): T | undefined {
    for (const part of this.#parts.values()) {
      const item = part.get(key)
      if (item !== undefined) return item
    }
    return undefined
  }

  /** Returns all items with this key, one account after the other. */
  withKey(key: string): T[] {
    const found: T[] = []
    for (const part of this.#parts.values()) {
      const item = part.get(key)
      if (item !== undefined) found.push(item)
    }
    return found
  }

  *values(): Generator<T, void, undefined> {
    for (const part of this.#parts.values()) yield* part.values()
  }

  set(account: string, key: string, item: T): void {
    let part = this.#partOf(account)
    if (part === undefined) {
      part = new AgedMap()
      this.#parts.set(account, part)
      this.#part = part
    }
    part.set(key, item)
  }

  delete(account: string, key: string): void {
    this.#partOf(account)?.delete(key)
  }

  /** Returns the items of one account by key, oldest first. */
  of(account: string): ReadonlyMap<string, T> {
    return this.#partOf(account) ?? (NOTHING as ReadonlyMap<string, T>)
  }

  /** Drops the oldest items of an account until at most `kept` remain. */
  trim(account: string, kept: number): void {
    const part = this.#partOf(account)
    while (part !== undefined && part.size > kept) part.dropOldest()
  }

  /** Drops the oldest item of an account for which `mayGo` is true, if the account has more than `kept` items. */
  dropOldest(account: string, kept: number, mayGo: (item: T) => boolean): void {
    const part = this.#partOf(account)
    if (part !== undefined && part.size > kept) part.dropOldest(mayGo)
  }

  #partOf(account: string): AgedMap<T> | undefined {
    if (account === this.#account) return this.#part
    this.#account = account
    this.#part = this.#parts.get(account)
    return this.#part
  }
}

const NOTHING: ReadonlyMap<string, unknown> = new Map()

/** A map that can drop its oldest entries. All calls of `dropOldest` share one iterator, because a new iterator would
 *  walk through all deleted entries again, which may be hundreds. */
export class AgedMap<T> extends Map<string, T> {
  /** Iterator that points to the oldest entry that `dropOldest` has not examined; undefined if the next call creates a
   *  new one. */
  #ages: Iterator<[string, T]> | undefined
  /** Keys of the entries that `dropOldest` kept because `mayGo` was false. */
  #passed: string[] = []

  /** Drops the oldest entry for which `mayGo` returns true. Does nothing if there is no such entry. */
  dropOldest(mayGo: (item: T) => boolean = always): void {
    for (const key of this.#passed) {
      if (!mayGo(this.get(key) as T)) continue
      this.delete(key)
      return
    }
    this.#ages ??= this.entries()
    for (let next = this.#ages.next(); next.done !== true; next = this.#ages.next()) {
      const [key, item] = next.value
      if (mayGo(item)) {
        this.delete(key)
        return
      }
      this.#passed.push(key)
    }
    // An exhausted iterator does not see entries that are added later. The next call therefore creates a new iterator,
    // which begins with the entries that this call has kept.
    this.#ages = undefined
    this.#passed = []
  }

  override delete(key: string): boolean {
    if (this.#passed.length > 0) this.#passed = this.#passed.filter((passed) => passed !== key)
    return super.delete(key)
  }

  override clear(): void {
    this.#ages = undefined
    this.#passed = []
    super.clear()
  }
}

function always(): boolean {
  return true
}
