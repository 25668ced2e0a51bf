import type { TokenId } from './block.ts'

/** A component that keeps data by token number. */
export interface TokenHolder {
  /** Whether the component keeps data about the token. If no component does, the number may be given to another
   *  mint. */
  holds(token: TokenId): boolean
}

/** The process's table of mints. Each mint gets a token number when it first arrives, so that later code need not hash
 *  a string for each row. The number of mints over time is unlimited, so token numbers are released and used again. */
export class Mints {
  #list: string[] = []
  readonly #ids = new Map<string, TokenId>()
  /** Free token numbers, descending, so that the smallest is used first. */
  #free: TokenId[] = []
  readonly #holders: TokenHolder[] = []
  /** The last mint that `find` found; undefined if there is none. It is kept, because an order looks up its mint about
   *  a dozen times in a row. */
  #mint: string | undefined
  #id: TokenId = 0

  /** Mints by token number; '' for a free number. `giveBack` replaces this list and does not change it, so a block that
   *  keeps the old list still finds the mints of its numbers. */
  get list(): readonly string[] {
    return this.#list
  }

  /** Returns the token number of a mint, and assigns one to a new mint. */
  intern(mint: string): TokenId {
    const known = this.find(mint)
    if (known !== undefined) return known
    const id = this.#free.pop() ?? this.#list.length
    this.#ids.set(mint, id)
    this.#list[id] = mint
    return id
  }

  find(mint: string): TokenId | undefined {
    return mint === this.#mint ? this.#id : this.#search(mint)
  }

  #search(mint: string): TokenId | undefined {
    const found = this.#ids.get(mint)
    if (found === undefined) return undefined
    this.#mint = mint
    this.#id = found
    return found
  }

  /** Registers a component. `giveBack` releases a number only if no registered component holds this number. */
  addHolder(holder: TokenHolder): void {
    this.#holders.push(holder)
  }

  /** Releases each token number for which no registered component keeps data, except the numbers for which `isAhead` is
   *  true, because rows with these numbers will still follow. The caller ensures that no row with a released number
   *  follows. */
  giveBack(isAhead: (token: TokenId) => boolean): void {
    const list = [...this.#list]
    this.#free = []
    this.#mint = undefined
    for (let token = list.length - 1; token >= 0; token--) {
      const mint = list[token] as string
      if (mint !== '' && (isAhead(token) || this.#holders.some((holder) => holder.holds(token)))) continue
      this.#ids.delete(mint)
      this.#free.push(token)
      list[token] = ''
    }
    this.#list = list
  }
}

/** A part of the table of mints that another thread does not know yet. */
export interface MintNews {
  /** Whether `mints` is the complete table. If so, the other thread must forget the token numbers that it has received
   *  before. */
  readonly isAll: boolean
  /** Token number of the first mint in `mints`; the numbers of the others follow. '' stands for a free number. */
  readonly mintsAt: number
  readonly mints: readonly string[]
}

/** Computes which mints another thread must learn. A mint may be sent twice. */
export class MintTeller {
  #list: readonly string[] | undefined
  /** Lowest free token number at the last call. The mints of lower numbers have not changed since, because free numbers
   *  are given out in ascending order. */
  #firstFree = 0

  /** Returns the changes of the list since the last call. */
  news(list: readonly string[]): MintNews {
    const isAll = list !== this.#list
    const mintsAt = isAll ? 0 : this.#firstFree
    this.#list = list
    const free = list.indexOf('', mintsAt)
    this.#firstFree = free < 0 ? list.length : free
    return { isAll, mintsAt, mints: isAll ? [...list] : list.slice(mintsAt, this.#firstFree) }
  }
}

/** A sparse array, indexed by token number. */
export type ByToken<T> = (T | undefined)[]

/** Sets an entry. Fills the gap before it with undefined, because V8 would turn an array with large gaps into a slow
 *  hash table. */
export function setByToken<T>(list: ByToken<T>, token: TokenId, value: T | undefined): void {
  while (list.length < token) list.push(undefined)
  list[token] = value
}
