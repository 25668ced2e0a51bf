import { AgedMap } from './aged-map.ts'

/** Who has it and of which mint: at most one thing each. */
export interface Owner {
  readonly account: string
  readonly mint: string
}

/** What accounts have of single mints. Found by two strings that are there already: one that is made of both for each look-up has to be
 *  copied together and hashed anew every time, which was a tenth of what an order cost. What was looked up last is kept at hand: an order
 *  asks for the same a dozen times on end, and a search waits for the memory that market rows have pushed out of the processor. */
export class ByMint<T extends NonNullable<unknown>> {
  readonly #accounts = new Map<string, AgedMap<T>>()
  /** Looked up last; of an account that has nothing yet, no part. */
  #account = ''
  #part: AgedMap<T> | undefined
  /** Looked up last in that part, undefined: not known; and what was there. */
  #mint: string | undefined
  #item: T | undefined

  get({ account, mint }: Owner): T | undefined {
    return mint === this.#mint && account === this.#account ? this.#item : this.#search(account, mint)
  }

  has(owner: Owner): boolean {
    return this.get(owner) !== undefined
  }

  set({ account, mint }: Owner, item: T): void {
    let part = this.#partOf(account)
    if (part === undefined) {
      part = new AgedMap()
      this.#accounts.set(account, part)
      this.#part = part
    }
    part.set(mint, item)
    this.#mint = mint
    this.#item = item
  }

  delete({ account, mint }: Owner): void {
    const part = this.#partOf(account)
    if (part === undefined) return
    part.delete(mint)
    if (mint === this.#mint) this.#item = undefined
  }

  /** What one account has by mint, oldest first. */
  of(account: string): ReadonlyMap<string, T> {
    return this.#partOf(account) ?? (NOTHING as ReadonlyMap<string, T>)
  }

  /** What there is of one mint, account by account. */
  ofMint(mint: string): T[] {
    const found: T[] = []
    for (const part of this.#accounts.values()) {
      const item = part.get(mint)
      if (item !== undefined) found.push(item)
    }
    return found
  }

  *values(): Generator<T, void, undefined> {
    for (const part of this.#accounts.values()) yield* part.values()
  }

  /** Drops the oldest of an account while it has more than `kept`. */
  trim(account: string, kept: number): void {
    const part = this.#partOf(account)
    if (part === undefined || part.size <= kept) return
    this.#mint = undefined
    this.#item = undefined
    while (part.size > kept) part.dropOldest()
  }

  #search(account: string, mint: string): T | undefined {
    const part = this.#partOf(account)
    if (part === undefined) return undefined
    const item = part.get(mint)
    this.#mint = mint
    this.#item = item
    return item
  }

  #partOf(account: string): AgedMap<T> | undefined {
    if (account === this.#account) return this.#part
    this.#account = account
    this.#part = this.#accounts.get(account)
    this.#mint = undefined
    this.#item = undefined
    return this.#part
  }
}

const NOTHING: ReadonlyMap<string, unknown> = new Map()

/** One text for both, where something else than this needs a key. */
export function keyOf({ account, mint }: Owner): string {
  return `${account}|${mint}`
}
