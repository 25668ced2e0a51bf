import type { TokenId } from '../../market/block.ts'

/** Marks the quiet tokens: those whose trades change only prices and bars, because no bot receives their trades, and
 *  their prints trigger neither an exit nor a conditional order. The mark is one byte for each token, which is read
 *  instead of the subscriptions, the watched positions and the conditional orders. Code that changes one of these three
 *  must clear the mark of the token, or all marks. */
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
