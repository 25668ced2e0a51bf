/** A queue in a ring buffer. Adding and removing an item cost O(1). */
export class Fifo<T> {
  #items: (T | undefined)[] = new Array(16)
  #head = 0
  #length = 0

  get length(): number {
    return this.#length
  }

  push(item: T): void {
    this.#makeRoom()
    this.#items[(this.#head + this.#length++) & (this.#items.length - 1)] = item
  }

  /** Adds `item` in front of all others. */
  unshift(item: T): void {
    this.#makeRoom()
    this.#head = (this.#head - 1) & (this.#items.length - 1)
    this.#items[this.#head] = item
    this.#length++
  }

  peek(): T | undefined {
    return this.#length === 0 ? undefined : this.#items[this.#head]
  }

  shift(): T | undefined {
    if (this.#length === 0) return undefined
    const item = this.#items[this.#head]
    this.#items[this.#head] = undefined
    this.#head = (this.#head + 1) & (this.#items.length - 1)
    this.#length--
    return item
  }

  #makeRoom(): void {
    if (this.#length < this.#items.length) return
    const tail = this.#items.splice(0, this.#head)
    this.#items.push(...tail)
    this.#head = 0
    this.#items.length *= 2
  }
}
