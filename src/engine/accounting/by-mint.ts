import { ByAccount } from './by-account.ts'

/** Who has it and of which mint: at most one thing each. */
export interface Owner {
  readonly account: string
  readonly mint: string
}

/** What accounts have of single mints. Found by two strings that are there already: one that is made of both for each
 *  look-up has to be copied together and hashed anew every time, which was a tenth of what an order cost. What was
 *  looked up last is kept at hand: an order asks for the same a dozen times on end, and a search waits for the memory
 *  that market rows have pushed out of the processor. */
export class ByMint<T extends NonNullable<unknown>> {
  readonly #all = new ByAccount<T>()
  /** Looked up last, undefined: nothing yet; and what was there. */
  #mint: string | undefined
  #account = ''
  #item: T | undefined

  get({ account, mint }: Owner): T | undefined {
    return mint === this.#mint && account === this.#account
      ? this.#item
      : this.#keep(account, mint, this.#all.get(account, mint))
  }

  has(owner: Owner): boolean {
    return this.get(owner) !== undefined
  }

  set({ account, mint }: Owner, item: T): void {
    this.#all.set(account, mint, item)
    this.#keep(account, mint, item)
  }

  delete({ account, mint }: Owner): void {
    this.#all.delete(account, mint)
    if (mint === this.#mint && account === this.#account) this.#item = undefined
  }

  /** What one account has by mint, oldest first. */
  of(account: string): ReadonlyMap<string, T> {
    return this.#all.of(account)
  }

  /** What there is of one mint, account by account. */
  ofMint(mint: string): T[] {
    return this.#all.withKey(mint)
  }

  values(): Iterable<T> {
    return this.#all.values()
  }

  /** Drops the oldest of an account while it has more than `kept`. */
  trim(account: string, kept: number): void {
    this.#all.trim(account, kept)
    this.#mint = undefined
  }

  #keep(account: string, mint: string, item: T | undefined): T | undefined {
    this.#mint = mint
    this.#account = account
    this.#item = item
    return item
  }
}

/** One text for both, where something else than this needs a key. */
export function keyOf({ account, mint }: Owner): string {
  return `${account}|${mint}`
}

/** What accounts have of single mints, some of each, in the order in which it came and each by a key of its own. */
export class ListsByMint<T extends Owner> {
  readonly #lists = new ByMint<T[]>()
  readonly #keyOf: (item: T) => string

  constructor(keyOf: (item: T) => string) {
    this.#keyOf = keyOf
  }

  /** Of one mint, oldest first. */
  of(owner: Owner): readonly T[] {
    return this.#lists.get(owner) ?? NONE
  }

  /** In the place of the one with the same key, where there is one. */
  set(item: T): void {
    const list = this.#lists.get(item)
    if (list === undefined) {
      this.#lists.set(item, [item])
      return
    }
    const at = this.#placeOf(list, item)
    if (at < 0) list.push(item)
    else list[at] = item
  }

  /** Drops the one with the same key. */
  delete(item: T): void {
    const list = this.#lists.get(item)
    const at = list === undefined ? -1 : this.#placeOf(list, item)
    if (list === undefined || at < 0) return
    if (list.length === 1) this.#lists.delete(item)
    else list.splice(at, 1)
  }

  /** By its key alone, whoever has it: that is rare. */
  find(key: string): T | undefined {
    for (const list of this.#lists.values()) for (const item of list) if (this.#keyOf(item) === key) return item
    return undefined
  }

  #placeOf(list: readonly T[], item: T): number {
    const key = this.#keyOf(item)
    return list.findIndex((other) => this.#keyOf(other) === key)
  }
}

const NONE: readonly never[] = []
