import { ByMint, type Owner } from './by-mint.ts'

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
