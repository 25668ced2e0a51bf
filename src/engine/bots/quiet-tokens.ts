import type { TokenId } from '../../market/block.ts'

/** Marks the quiet tokens: those whose trades change only prices and bars, because no bot receives their trades, and
 *  their prints trigger neither an exit nor a conditional order. One byte for each token replaces the look-ups in the
 *  parts of the engine that decide this. A part must clear the mark of a token, or all marks, when its decision may
 *  change. */
export class QuietTokens {
  #flags = new Uint8Array(1024)

  has(token: TokenId): boolean {
    return this.#flags[token] === 1
  }

  add(token: TokenId): void {
    if (token >= this.#flags.length) {
      const grown = new Uint8Array(2 ** Math.ceil(Math.log2(token + 1)))
      grown.set(this.#flags)
      this.#flags = grown
    }
    this.#flags[token] = 1
  }

  remove(token: TokenId): void {
    if (token < this.#flags.length) this.#flags[token] = 0
  }

  clear(): void {
    this.#flags.fill(0)
  }
}
