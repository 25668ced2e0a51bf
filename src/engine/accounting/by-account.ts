/** What accounts have, each by a key of its own, in the order in which it came. What one account has is found without
 *  going through what the others have: a sweep runs many side by side. */
export class ByAccount<T> {
  readonly #parts = new Map<string, AgedMap<T>>()
  /** Looked up last; of an account that has nothing yet, no part. */
  #account = ''
  #part: AgedMap<T> | undefined

  get(account: string, key: string): T | undefined {
    return this.#partOf(account)?.get(key)
  }

  /** Whoever's it is. There are few accounts, and what has to be found this way is rare. */
  find(key: string): T | undefined {
    for (const part of this.#parts.values()) {
      const item = part.get(key)
      if (item !== undefined) return item
    }
    return undefined
  }

  /** What there is by this key, account by account. */
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

  /** What one account has, oldest first. */
  of(account: string): ReadonlyMap<string, T> {
    return this.#partOf(account) ?? (NOTHING as ReadonlyMap<string, T>)
  }

  /** Drops the oldest of an account while it has more than `kept`. */
  trim(account: string, kept: number): void {
    const part = this.#partOf(account)
    while (part !== undefined && part.size > kept) part.dropOldest()
  }

  /** Drops the oldest of an account that may go, where it has more than `kept`. */
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

/** A map that can drop its oldest entries. An iterator that is kept passes what was deleted once; one that is made anew
 *  for each of them passes all of it again, hundreds of places before the first entry that is left. */
export class AgedMap<T> extends Map<string, T> {
  /** Stands before the oldest entry but those passed. */
  #ages: Iterator<[string, T]> | undefined
  /** Older ones that might not go when they were looked at. */
  #passed: string[] = []

  /** Drops the oldest one that may go; where none may, none. */
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
    // At its end an iterator stays there: the next one begins with what was passed.
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
