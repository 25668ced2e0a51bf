import { ByAccount } from './by-account.ts'

/** Who has it and of which mint: at most one thing each. */
export interface Owner {
  readonly account: string
  readonly mint: string
}

/** What accounts have of single mints. Found by two strings that are there already: one that is made of both for each look-up has to be
 *  copied together and hashed anew every time, which was a tenth of what an order cost. What was looked up last is kept at hand: an order
 *  asks for the same a dozen times on end, and a search waits for the memory that market rows have pushed out of the processor. */
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
