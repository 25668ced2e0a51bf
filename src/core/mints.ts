import type { TokenId } from './block.ts'

/** The process's table of mints: each gets a dense number once, at the door, so that nothing behind it hashes a string for a row. */
export class Mints {
  readonly list: string[] = []
  readonly #ids = new Map<string, TokenId>()

  /** The number of a mint, a new one if it was not seen before. */
  intern(mint: string): TokenId {
    const known = this.#ids.get(mint)
    if (known !== undefined) return known
    const id = this.list.length
    this.#ids.set(mint, id)
    this.list.push(mint)
    return id
  }

  find(mint: string): TokenId | undefined {
    return this.#ids.get(mint)
  }
}
