import type { Attempt } from '../../src/orders/attempt.ts'

/** A model of the token balances of a wallet. As on the chain, tokens that the wallet does not hold cannot be sold. */
export class TokenChain {
  readonly #held = new Map<string, number>()
  /** The amount that each executed attempt moved, until a fork removes it. */
  readonly #moved = new Map<string, number>()
  readonly #each: number

  /** `each` is the initial balance of every mint, and the amount of each buy. */
  constructor(each: number) {
    this.#each = each
  }

  /** Executes an attempt once. Returns false if there is nothing to sell. */
  execute({ id, mint, side, size }: Attempt): boolean {
    if (this.#moved.has(id)) return true
    const held = this.held(mint)
    const moved = side === 'buy' ? this.#each : -(size.kind === 'all' ? held : Math.floor(held / 2))
    if (moved === 0) return false
    this.#moved.set(id, moved)
    this.#held.set(mint, held + moved)
    return true
  }

  /**
   * Undoes a sale that a fork removes. A buy is not undone, because a buy that a fork removes soon lands again.
   */
  takeBack({ id, mint, side }: Attempt): void {
    const moved = this.#moved.get(id)
    if (moved === undefined || side === 'buy') return
    this.#moved.delete(id)
    this.#held.set(mint, this.held(mint) - moved)
  }

  hasExecuted({ id }: Attempt): boolean {
    return this.#moved.has(id)
  }

  held(mint: string): number {
    return this.#held.get(mint) ?? this.#each
  }
}
