import { ByAccount } from './by-account.ts'

/** Key of an item: at most one for each account and mint. */
export interface Owner {
  readonly account: string
  readonly mint: string
}

/** Items by account and mint. Looked up by two existing strings: a joined key would be built and hashed for each
 *  look-up. */
export class ByMint<T extends NonNullable<unknown>> {
  readonly #all = new ByAccount<T>()
  /** The key looked up last, and its item; undefined before. */
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

  /** Items of one account by mint, oldest first. */
  of(account: string): ReadonlyMap<string, T> {
    return this.#all.of(account)
  }

  /** Items of one mint, account by account. */
  ofMint(mint: string): T[] {
    return this.#all.withKey(mint)
  }

  values(): Iterable<T> {
    return this.#all.values()
  }

  /** Drops the oldest items of an account that has more than `kept`. */
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

/** The key as one string, for other collections. */
export function keyOf({ account, mint }: Owner): string {
  return `${account}|${mint}`
}

/** Lists of items by account and mint, in the order of insertion. Items have a key of their own. */
export class ListsByMint<T extends Owner> {
  readonly #lists = new ByMint<T[]>()
  readonly #keyOf: (item: T) => string

  constructor(keyOf: (item: T) => string) {
    this.#keyOf = keyOf
  }

  /** Items of one mint, oldest first. */
  of(owner: Owner): readonly T[] {
    return this.#lists.get(owner) ?? NONE
  }

  /** Replaces the item with the same key, or appends. */
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

  /** Finds an item by its own key, in any account and mint. Linear; called rarely. */
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
