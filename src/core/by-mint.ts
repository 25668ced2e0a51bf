import { AgedMap } from './aged-map.ts'

/** Who has it and of which mint: at most one thing each. */
export interface Owner {
  readonly account: string
  readonly mint: string
}

/** What accounts have of single mints. Found by two strings that are there already: one that is made of both for each look-up has to be
 *  copied together and hashed anew every time, which was a tenth of what an order cost. */
export class ByMint<T> {
  readonly #accounts = new Map<string, AgedMap<T>>()

  get({ account, mint }: Owner): T | undefined {
    return this.#accounts.get(account)?.get(mint)
  }

  has({ account, mint }: Owner): boolean {
    return this.#accounts.get(account)?.has(mint) === true
  }

  set({ account, mint }: Owner, item: T): void {
    let part = this.#accounts.get(account)
    if (part === undefined) {
      part = new AgedMap()
      this.#accounts.set(account, part)
    }
    part.set(mint, item)
  }

  delete({ account, mint }: Owner): void {
    this.#accounts.get(account)?.delete(mint)
  }

  /** What one account has by mint, oldest first. */
  of(account: string): ReadonlyMap<string, T> {
    return this.#accounts.get(account) ?? (NOTHING as ReadonlyMap<string, T>)
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
    const part = this.#accounts.get(account)
    while (part !== undefined && part.size > kept) part.dropOldest()
  }
}

const NOTHING: ReadonlyMap<string, unknown> = new Map()

/** One text for both, where something else than this needs a key. */
export function keyOf({ account, mint }: Owner): string {
  return `${account}|${mint}`
}
