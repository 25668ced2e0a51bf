import { ByAccount } from './by-account.ts'

/** The account and the mint to which an item, or a list of items, belongs. */
export interface Owner {
  readonly account: string
  readonly mint: string
}

/** Stores one item for each account and mint. A look-up takes these two existing strings, because joining them into one
 *  key and hashing it would take longer. */
export class ByMint<T extends NonNullable<unknown>> {
  readonly #all = new ByAccount<T>()
  /** Mint of the last look-up; undefined before the first. `#account` and `#item` are the account of that look-up and
   *  its result. */
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

  /** Returns the items of one account by mint, oldest first. */
  of(account: string): ReadonlyMap<string, T> {
    return this.#all.of(account)
  }

  /** Returns the items of one mint, one account after the other. */
  ofMint(mint: string): T[] {
    return this.#all.withKey(mint)
  }

  values(): Iterable<T> {
    return this.#all.values()
  }

  /** Drops the oldest items of an account until at most `kept` remain. */
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

/** Returns account and mint as one string, the key for other collections. */
export function keyOf({ account, mint }: Owner): string {
  return `${account}|${mint}`
}

/** Lists of items by account and mint, in the order of insertion. `keyOf` returns the key of an item within its
 *  list. */
export class ListsByMint<T extends Owner> {
  readonly #lists = new ByMint<T[]>()
  readonly #keyOf: (item: T) => string

  constructor(keyOf: (item: T) => string) {
    this.#keyOf = keyOf
  }

  /** Returns the items of one account and mint, oldest first. */
  of(owner: Owner): readonly T[] {
    return this.#lists.get(owner) ?? NONE
  }

  /** Replaces the item with the same key, or appends the new item to its list. */
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

  /** Removes the item with the same key. */
  delete(item: T): void {
    const list = this.#lists.get(item)
    const at = list === undefined ? -1 : this.#placeOf(list, item)
    if (list === undefined || at < 0) return
    if (list.length === 1) this.#lists.delete(item)
    else list.splice(at, 1)
  }

  /** Finds an item by its key (`keyOf`), in any account and mint. Walks through all lists, because it is called
   *  rarely. */
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
