import type { Attempt } from '../../src/orders/attempt.ts'

/** What a wallet holds of each mint, and so what can be sold: the chain refuses to sell what is not there. */
export class TokenChain {
  readonly #held = new Map<string, number>()
  /** What each attempt that has executed moved, as long as no fork takes it back. */
  readonly #moved = new Map<string, number>()
  readonly #each: number

  /** `each`: held of every mint at first, and brought by each buy. */
  constructor(each: number) {
    this.#each = each
  }

  /** Executes an attempt, once; false where there is nothing to sell. */
  execute({ id, mint, side, size }: Attempt): boolean {
    if (this.#moved.has(id)) return true
    const held = this.held(mint)
    const moved = side === 'buy' ? this.#each : -(size.kind === 'all' ? held : Math.floor(held / 2))
    if (moved === 0) return false
    this.#moved.set(id, moved)
    this.#held.set(mint, held + moved)
    return true
  }

  /** A fork takes a sale back; a buy is soon back, whatever was sold of it. */
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
