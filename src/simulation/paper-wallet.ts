import type { TokenAmount } from '../base/units.ts'
import type { Position } from '../engine/accounting/position.ts'
import type { Fill, Size } from '../engine/order.ts'
import type { Attempt } from '../orders/attempt.ts'
import { TOKEN_DECIMALS } from '../solana/constants.ts'

interface TokenAccount {
  tokens: TokenAmount
  readonly decimals: number
}

/** Token accounts of a paper wallet. The first buy of a mint opens the account and pays its rent; the sale of the
 *  last token closes it and returns the rent. */
export class PaperWallet {
  readonly #accounts = new Map<string, TokenAccount>()

  constructor(positions: readonly Position[]) {
    for (const { mint, tokens, decimals } of positions) {
      if (tokens > 0n) this.#accounts.set(mint, { tokens, decimals })
    }
  }

  has(mint: string): boolean {
    return this.#accounts.has(mint)
  }

  /** Returns the decimals of a mint. If the wallet holds none of it, these are the decimals of a new token. */
  decimals(mint: string): number {
    return this.#accounts.get(mint)?.decimals ?? TOKEN_DECIMALS
  }

  /** Returns the base units that a sale of this size sells; 0n if the wallet holds no tokens or too few, in which case
   *  the sale would fail on the chain. */
  toSell({ mint, size }: Pick<Attempt, 'mint' | 'size'>): TokenAmount {
    const held = this.#accounts.get(mint)?.tokens ?? 0n
    const wanted = wantedOf(held, size)
    return wanted <= held ? wanted : 0n
  }

  /** Books a fill. Returns the change of the number of token accounts: 1, 0 or -1. */
  book({ mint, side, tokens }: Pick<Fill, 'mint' | 'side' | 'tokens'>): number {
    const account = this.#accounts.get(mint)
    if (account === undefined) {
      this.#accounts.set(mint, { tokens, decimals: TOKEN_DECIMALS })
      return 1
    }
    account.tokens += side === 'buy' ? tokens : -tokens
    if (account.tokens > 0n) return 0
    this.#accounts.delete(mint)
    return -1
  }
}

function wantedOf(held: TokenAmount, size: Size): TokenAmount {
  if (size.kind === 'all') return held
  if (size.kind === 'tokens') return size.tokens
  return size.kind === 'percent' ? (held * BigInt(Math.round(size.percent * 1e6))) / 100_000_000n : 0n
}
