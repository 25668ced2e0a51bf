import { BASE_FEE, rentExemption } from '../../solana/constants.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { encodeMint, encodeTokenAccount, MINT_BYTES, TOKEN_ACCOUNT_BYTES } from '../../solana/token-account.ts'
import type { CurveTrade, Market, MarketToken } from '../market/market.ts'
import { Ambush, TRAP } from './hostile-program.ts'
import type { Account, LandedTransaction } from './ledger.ts'
import type { Table } from './message.ts'
import { tableAccount } from './message.ts'
import { decodePool, encodePool, POOL_BYTES, POOL_PROGRAM, poolOf, vaultOf } from './pool-program.ts'
import type { TokenPrograms } from './program.ts'
import type { Venue } from './runtime-ledger.ts'
import type { TradeData } from './trade-program.ts'

/** Index of the trader among the accounts of the pool's instructions. */
const USER = 6
/** Slippage that the print of a trade shows if the order of the trade was not saved, percent. */
const USUAL_SLIPPAGE_PERCENT = 10

/** The market's pools as accounts on the chain. Trades of other traders are computed in TypeScript. The accounts of a
 *  pool and its vault are therefore written from the curve before each use, and the result of our transaction is read
 *  back into the curve. */
export class MarketVenue implements Venue {
  readonly #market: Market
  readonly #tokenPrograms: TokenPrograms
  readonly #traded: (trade: CurveTrade) => void
  /** Mints by the addresses of their pool and vault, for all tokens whose accounts were requested. */
  readonly #mints = new Map<string, string>()
  /** Mints by the addresses of the thief's token accounts, if the hostile program is used. */
  readonly #loots = new Map<string, string>()
  readonly #tables: ReadonlyMap<string, Account>
  readonly #ambush: Ambush

  /** `traded` is called for every executed trade once the trade is durable and the curve has moved. */
  constructor(
    market: Market,
    tokenPrograms: TokenPrograms,
    tables: readonly Table[],
    traded: (trade: CurveTrade) => void,
    ambush = new Ambush(),
  ) {
    this.#market = market
    this.#tokenPrograms = tokenPrograms
    this.#ambush = ambush
    this.#traded = traded
    this.#tables = new Map(tables.map((table) => [table.address, tableAccount(table)]))
  }

  meet(addresses: readonly string[]): void {
    const mints = addresses.filter((address) => this.#market.token(address))
    for (const mint of mints) {
      if (addresses.includes(TRAP)) this.#loots.set(this.#ambush.lootAddress(mint, this.#programOf(mint)), mint)
      if (this.#mints.has(poolOf(mint))) continue
      this.#mints.set(poolOf(mint), mint)
      this.#mints.set(vaultOf(mint, this.#programOf(mint)), mint)
    }
  }

  account(address: string): Account | undefined {
    const token = this.#market.token(address)
    if (token) {
      this.meet([address])
      return this.#account(this.#programOf(token.mint), encodeMint(), rentExemption(MINT_BYTES))
    }
    const pooled = this.#market.token(this.#mints.get(address) ?? '')
    if (pooled) return this.#pooled(address, pooled)
    if (address === TRAP) return this.#ambush.trap
    const looted = this.#loots.get(address)
    return looted === undefined ? this.#tables.get(address) : this.#ambush.loot(looted, this.#programOf(looted))
  }

  landed(transaction: LandedTransaction, after: ReadonlyMap<string, Account | undefined>, order: unknown): void {
    const given = order as TradeData | undefined
    const { signature, feeLamports, accounts, instructions } = transaction
    const signers = accounts.filter(({ signer }) => signer).length
    const trader = instructions.find(({ program }) => program === POOL_PROGRAM)?.accounts[USER] ?? accounts[0]!.address
    for (const account of after.values()) {
      const pool = account?.owner === POOL_PROGRAM ? decodePool(account.data) : undefined
      const curve = pool && this.#market.token(pool.mint)?.curve
      if (!pool || !curve) continue
      const { virtualSol, virtualTokens } = curve.reserves
      const sol = pool.reserves.virtualSol - virtualSol
      const tokens = virtualTokens - pool.reserves.virtualTokens
      if (sol === 0n && tokens === 0n) continue
      curve.settle(pool.reserves)
      this.#traded({
        ...{ mint: pool.mint, signature, trader, side: tokens > 0n ? 'buy' : 'sell' },
        sol: sol < 0n ? -sol : sol,
        tokens: tokens < 0n ? -tokens : tokens,
        slippagePercent: given?.slippagePercent ?? USUAL_SLIPPAGE_PERCENT,
        priorityFeeSol: given?.priorityFeeSol ?? (feeLamports - signers * BASE_FEE) / 1e9,
      })
    }
  }

  #pooled(address: string, { mint, curve }: MarketToken): Account {
    const pool = poolOf(mint)
    if (address === pool) {
      const lamports = Number(curve.realSol) + rentExemption(POOL_BYTES)
      return this.#account(POOL_PROGRAM, encodePool(mint, curve), lamports)
    }
    const data = encodeTokenAccount({ mint, owner: pool, amount: curve.reserves.realTokens })
    return this.#account(this.#programOf(mint), data, rentExemption(TOKEN_ACCOUNT_BYTES))
  }

  #programOf(mint: string): string {
    return PROGRAMS[this.#tokenPrograms(mint)]
  }

  #account(owner: string, data: Uint8Array, lamports: number): Account {
    return { lamports, owner, executable: false, data }
  }
}
