/** A map that can drop its oldest entries. An iterator that is kept passes what was deleted once; one that is made anew for each of them
 *  passes all of it again, hundreds of places before the first entry that is left. */
export class AgedMap<T> extends Map<string, T> {
  /** Stands before the oldest entry but those passed. */
  #ages: Iterator<[string, T]> | undefined
  /** Older ones that might not go when they were looked at. */
  #passed: string[] = []

  /** Drops the oldest one that may go; where none may, none. */
  dropOldest(mayGo: (item: T) => boolean = always): void {
    for (const key of this.#passed) {
      if (!mayGo(this.get(key) as T)) continue
      this.delete(key)
      return
    }
    this.#ages ??= this.entries()
    for (let next = this.#ages.next(); next.done !== true; next = this.#ages.next()) {
      const [key, item] = next.value
      if (mayGo(item)) {
        this.delete(key)
        return
      }
      this.#passed.push(key)
    }
    // At its end an iterator stays there: the next one begins with what was passed.
    this.#ages = undefined
    this.#passed = []
  }

  override delete(key: string): boolean {
    if (this.#passed.length > 0) this.#passed = this.#passed.filter((passed) => passed !== key)
    return super.delete(key)
  }

  override clear(): void {
    this.#ages = undefined
    this.#passed = []
    super.clear()
  }
}

function always(): boolean {
  return true
}
