/** Items of accounts, each under a key, in the order of insertion. The items of one account are found without a walk
 *  through those of others: a sweep runs many accounts side by side. */
export class ByAccount<T> {
  readonly #parts = new Map<string, AgedMap<T>>()
  /** The account looked up last, and its items; undefined if it has none yet. */
  #account = ''
  #part: AgedMap<T> | undefined

  get(account: string, key: string): T | undefined {
    return this.#partOf(account)?.get(key)
  }

  /** Finds an item by its key in any account. Linear in the number of accounts, which is small. */
  find(key: string): T | undefined {
    for (const part of this.#parts.values()) {
      const item = part.get(key)
      if (item !== undefined) return item
    }
    return undefined
  }

  /** All items under this key, account by account. */
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

  /** Items of one account, oldest first. */
  of(account: string): ReadonlyMap<string, T> {
    return this.#partOf(account) ?? (NOTHING as ReadonlyMap<string, T>)
  }

  /** Drops the oldest items of an account that has more than `kept`. */
  trim(account: string, kept: number): void {
    const part = this.#partOf(account)
    while (part !== undefined && part.size > kept) part.dropOldest()
  }

  /** Drops the oldest item of an account for which `mayGo` is true, if the account has more than `kept`. */
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

/** A map that can drop its oldest entries. It keeps one iterator: a new iterator for each call would walk again through
 *  all deleted entries, which may be hundreds. */
export class AgedMap<T> extends Map<string, T> {
  /** Iterator in front of the oldest entry that was not passed yet. */
  #ages: Iterator<[string, T]> | undefined
  /** Passed entries for which `mayGo` was false. */
  #passed: string[] = []

  /** Drops the oldest entry for which `mayGo` is true; no effect without one. */
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
    // An exhausted iterator does not see new entries: the next one begins with the passed entries.
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
