/** What accounts have, each by a key of its own, in the order in which it came. What one account has is found without going through what
 *  the others have: a sweep runs many side by side. */
export class ByAccount<T> extends Map<string, T> {
  readonly #accountOf: (item: T) => string
  readonly #parts = new Map<string, Map<string, T>>()

  constructor(accountOf: (item: T) => string) {
    super()
    this.#accountOf = accountOf
  }

  override set(key: string, item: T): this {
    const account = this.#accountOf(item)
    const part = this.#parts.get(account)
    if (part === undefined) this.#parts.set(account, new Map([[key, item]]))
    else part.set(key, item)
    return super.set(key, item)
  }

  override delete(key: string): boolean {
    const item = this.get(key)
    if (item === undefined) return false
    const account = this.#accountOf(item)
    const part = this.#parts.get(account)
    part?.delete(key)
    if (part?.size === 0) this.#parts.delete(account)
    return super.delete(key)
  }

  override clear(): void {
    this.#parts.clear()
    super.clear()
  }

  /** What one account has, oldest first. */
  of(account: string): ReadonlyMap<string, T> {
    return this.#parts.get(account) ?? (NOTHING as ReadonlyMap<string, T>)
  }

  /** Drops the oldest of an account while it has more than `kept`. */
  trim(account: string, kept: number): void {
    const part = this.of(account)
    while (part.size > kept) this.delete(part.keys().next().value as string)
  }
}

const NOTHING: ReadonlyMap<string, unknown> = new Map()
