import type { TokenAmount } from '../../base/units.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { tokenAccountOf } from '../../solana/token-account.ts'
import { tokenAccountOf as associatedAccount } from '../addresses.ts'
import { readAccounts } from '../rpc/accounts.ts'
import { readHoldings, Unread } from '../rpc/read.ts'
import type { Rpc } from '../rpc/rpc.ts'

export interface DeficitParts {
  readonly wallet: string
  /** What bots have booked, base units by mint. */
  readonly booked: () => ReadonlyMap<string, TokenAmount>
  /** No order of this mint is under way. */
  readonly isQuiet: (mint: string) => boolean
  readonly found: (mint: string, tokens: TokenAmount) => void
}

/** Compares what the wallet holds with what was booked. More is an inflow; less, twice in a row and while nothing is
 *  under way, is a deficit: whatever took the tokens, they are gone. A list of a wallet's accounts comes from an index,
 *  which nodes lose: what the wallet's own account of the mint holds is read apart, because a position that is taken
 *  for gone has no exits any more. */
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
      const suspects = new Map<string, string>()
      for (const [mint, tokens] of before) {
        const listed = held.get(mint)?.tokens ?? 0n
        if (listed >= tokens) continue
        const inAccount = await readAssociated(rpc, wallet, mint)
        const onChain = inAccount > listed ? inAccount : listed
        const same = `${tokens} ${onChain}`
        const isSuspect = onChain < tokens && booked().get(mint) === tokens && isQuiet(mint)
        if (isSuspect && this.#suspects.get(mint) === same) found(mint, onChain)
        if (isSuspect) suspects.set(mint, same)
      }
      this.#suspects = suspects
    } catch (error) {
      if (!(error instanceof Unread)) throw error
    }
  }
}

/** What the wallet's associated account of a mint holds, whichever token program it is of. */
async function readAssociated(rpc: Rpc, wallet: string, mint: string): Promise<TokenAmount> {
  const addresses = [PROGRAMS.token, PROGRAMS.token2022].map((program) => associatedAccount(wallet, mint, program))
  const { accounts } = await readAccounts(rpc, addresses)
  const own = accounts.map(tokenAccountOf).filter((account) => account?.owner === wallet && account.mint === mint)
  return own.reduce((sum, account) => sum + (account?.tokens ?? 0n), 0n)
}
