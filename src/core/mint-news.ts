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
