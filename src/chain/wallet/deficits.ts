import type { TokenAmount } from '../../base/units.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { tokenAccountOf } from '../../solana/token-account.ts'
import { tokenAccountOf as associatedAccount } from '../addresses.ts'
import { readAccounts } from '../rpc/accounts.ts'
import { readHoldings, Unread } from '../rpc/read.ts'
import type { Rpc } from '../rpc/rpc.ts'

export interface DeficitParts {
  readonly wallet: string
  /** Returns the booked tokens of all bots, in base units by mint. */
  readonly booked: () => ReadonlyMap<string, TokenAmount>
  /** Whether no order for this mint is open. */
  readonly isQuiet: (mint: string) => boolean
  readonly found: (mint: string, tokens: TokenAmount) => void
}

/** Compares the tokens in the wallet with the booked tokens. If the wallet holds more, the surplus is an inflow. If two
 *  consecutive checks find that the wallet holds less while no order is open, this is a deficit: the tokens are gone,
 *  regardless of the cause. A false deficit would be dangerous, because a position whose tokens are gone has no exits
 *  any more. Nodes list a wallet's accounts from an index that may be incomplete, so the associated token account is
 *  also read directly. */
export class Deficits {
  readonly #parts: DeficitParts
  /** Mints for which the last check found a shortfall, each with its booked amount and its amount on the chain. */
  #suspects: ReadonlyMap<string, string> = new Map()

  constructor(parts: DeficitParts) {
    this.#parts = parts
  }

  /** Compares the booked tokens with the tokens in the wallet at the Solana slot `slot` or later. All transactions up
   *  to `slot` must have been booked before. */
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

/** Reads the sum of the tokens in the wallet's two associated accounts of a mint, one for each token program. */
async function readAssociated(rpc: Rpc, wallet: string, mint: string): Promise<TokenAmount> {
  const addresses = [PROGRAMS.token, PROGRAMS.token2022].map((program) => associatedAccount(wallet, mint, program))
  const { accounts } = await readAccounts(rpc, addresses)
  const own = accounts.map(tokenAccountOf).filter((account) => account?.owner === wallet && account.mint === mint)
  return own.reduce((sum, account) => sum + (account?.tokens ?? 0n), 0n)
}
