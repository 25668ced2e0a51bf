import type { TokenId } from './block.ts'

/** Keeps something under the numbers of tokens. */
export interface TokenHolder {
  /** Whether it would miss the token. Nothing is left under a number that nobody holds: it may become another
   *  mint's. */
  holds(token: TokenId): boolean
}

/** The process's table of mints: each gets a dense number once, at the door, so that nothing behind it hashes a string
 *  for a row. A market never runs out of mints, so that numbers are given back and used again. */
export class Mints {
  #list: string[] = []
  readonly #ids = new Map<string, TokenId>()
  /** The smallest last: it is used first. */
  #free: TokenId[] = []
  readonly #holders: TokenHolder[] = []
  /** Found last, undefined: not known. An order asks for its mint a dozen times on end. */
  #mint: string | undefined
  #id: TokenId = 0

  /** By number; '' where a number is free, of which the smallest is used first. It is another list once numbers were
   *  given back: one from before keeps what its numbers meant, so that a block, and what is kept of it, does too. */
  get list(): readonly string[] {
    return this.#list
  }

  /** The number of a mint, a new one if it was not seen before. */
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

  /** It is asked from now on before a number is given back. */
  addHolder(holder: TokenHolder): void {
    this.#holders.push(holder)
  }

  /** Gives back the numbers that nobody of those added holds. Whoever calls it knows that no row with one of them is
   *  still to be handled, but for those that `isAhead`. */
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

/** Mints that another thread does not know yet. */
export interface MintNews {
  /** They are all that there are: numbers from before mean nothing. */
  readonly isAll: boolean
  /** The number of the first of them; the next ones follow. '' where a number is free. */
  readonly mintsAt: number
  readonly mints: readonly string[]
}

/** Tells another thread which mints the numbers in rows mean, each once or twice. */
export class MintTeller {
  #list: readonly string[] | undefined
  /** Before it nothing changes any more: free numbers are used from the smallest on. */
  #firstFree = 0

  /** What is new in a list of `Mints` since it was last asked. */
  news(list: readonly string[]): MintNews {
    const isAll = list !== this.#list
    const mintsAt = isAll ? 0 : this.#firstFree
    this.#list = list
    const free = list.indexOf('', mintsAt)
    this.#firstFree = free < 0 ? list.length : free
    return { isAll, mintsAt, mints: isAll ? [...list] : list.slice(mintsAt, this.#firstFree) }
  }
}

/** Something for a few of many tokens, read for every row. */
export type ByToken<T> = (T | undefined)[]

/** Fills up to the token first: an array with entries far apart becomes a hash table, and is as slow to read as one. */
export function setByToken<T>(list: ByToken<T>, token: TokenId, value: T | undefined): void {
  while (list.length < token) list.push(undefined)
  list[token] = value
}
