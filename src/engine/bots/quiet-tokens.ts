import type { TokenId } from '../../market/block.ts'

/** Tokens whose trades no bot has to be shown, and whose prints trigger no exit and no conditional order: their rows
 *  change prices and bars only. One byte for each token replaces the look-ups in the parts that decide this. A part
 *  removes a token, or all tokens, when its decision may change. */
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
