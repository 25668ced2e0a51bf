import type { Rpc } from '../core/ports.ts'
import type { TokenAmount } from '../core/units.ts'
import { readHoldings, Unread } from './read.ts'

export interface DeficitParts {
  readonly wallet: string
  /** What bots have booked, base units by mint. */
  readonly booked: () => ReadonlyMap<string, TokenAmount>
  /** No order of this mint is under way. */
  readonly isQuiet: (mint: string) => boolean
  readonly found: (mint: string, tokens: TokenAmount) => void
}

/** Compares what the wallet holds with what was booked. More is an inflow; less, twice in a row and while nothing is under way, is a
 *  deficit: whatever took the tokens, they are gone. */
export class Deficits {
  readonly #parts: DeficitParts
  /** At the last check: what was booked, and what was there. */
  #suspects: ReadonlyMap<string, string> = new Map()

  constructor(parts: DeficitParts) {
    this.#parts = parts
  }

  /** `slot`: everything that landed up to there has been looked at. */
  async check(rpc: Rpc, slot: number): Promise<void> {
    const { wallet, booked, isQuiet, found } = this.#parts
    const before = new Map([...booked()].filter(([mint, tokens]) => tokens > 0n && isQuiet(mint)))
    if (before.size === 0) {
      this.#suspects = new Map()
      return
    }
    try {
      const held = await readHoldings(rpc, wallet, slot)
      const now = booked()
      const suspects = new Map<string, string>()
      for (const [mint, tokens] of before) {
        const { tokens: onChain } = held.get(mint) ?? { tokens: 0n }
        const same = `${tokens} ${onChain}`
        const isSuspect = onChain < tokens && now.get(mint) === tokens && isQuiet(mint)
        if (isSuspect && this.#suspects.get(mint) === same) found(mint, onChain)
        if (isSuspect) suspects.set(mint, same)
      }
      this.#suspects = suspects
    } catch (error) {
      if (!(error instanceof Unread)) throw error
    }
  }
}
