import type { Curve, Swap } from '../../solana/bonding-curve.ts'
import { rentExemption, TOKEN_ACCOUNT_RENT } from '../../solana/constants.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { encodeMint, MINT_BYTES } from '../../solana/token-account.ts'
import { namedAddress, poolAddress, tokenAccountAddress } from '../keys.ts'
import type { CurveTrade, Market } from '../market/market.ts'
import { type Bank, ProgramFailure } from './bank.ts'
import type { LandedTransaction } from './ledger.ts'
import { CURVE_FEES, encodePool, encodeTrade, POOL_FAILURES } from './pool-program.ts'
import type { AccountMeta, Program } from './program.ts'

/** A trade of one of the sandbox's wallets on the chain. Amounts are in lamports and base units. */
export interface TradeData {
  side: 'buy' | 'sell'
  wallet: string
  mint: string
  /** The side of the trade whose amount is exact. in: a buy spends exactly `lamports` for at least `tokens`. out: a buy
   *  receives exactly `tokens` for at most `lamports`; a sale gives exactly `tokens` for at least `lamports`. */
  exact: 'in' | 'out'
  lamports: number
  tokens: bigint
  serviceFeeBps: number
  slippagePercent: number
  priorityFeeSol: number
  /** Whether this transaction opens the wallet's token account, or closes it afterwards. */
  opens: boolean
  closes: boolean
  /** Whether the transaction fails on chain regardless of the price. */
  fails: boolean
}

/** Name of this program in the ledger's instructions. */
export const TRADE_PROGRAM = 'trade'

/** Length, in bytes, of the fields of a pool's data that pump.fun defines, up to the field `creator`. */
const PUMP_CURVE_BYTES = 81

/** Account that receives the service's own fee. */
export const SERVICE_FEES = namedAddress('service fees')

export function serviceFee(lamports: bigint, bps: number): bigint {
  return (lamports * BigInt(bps) + 9_999n) / 10_000n
}

/** Executes swaps on the market's curves. A curve moves when the transaction lands, not when it is sent. */
export class TradeProgram implements Program<TradeData> {
  readonly #market: Market
  readonly #traded: (trade: CurveTrade) => void
  /** Mints by the address of their pool, for pools whose account was requested. */
  readonly #pools = new Map<string, string>()
  /** Result of the last execution, kept until its transaction is durable. */
  #swap: Swap | undefined

  /** `traded` is called for every executed trade once the trade is durable. */
  constructor(market: Market, traded: (trade: CurveTrade) => void) {
    this.#market = market
    this.#traded = traded
  }

  /** Sets the pool's balances from its curve before each of our trades, because the trades of other traders are not on
   *  the ledger. */
  load({ mint }: TradeData, bank: Bank): void {
    const curve = this.#market.token(mint)?.curve
    if (!curve) return
    const pool = poolAddress(mint)
    bank.set(pool, { lamports: Number(curve.realSol) + TOKEN_ACCOUNT_RENT })
    bank.set(tokenAccountAddress(pool, mint), {
      lamports: TOKEN_ACCOUNT_RENT,
      token: { mint, owner: pool, amount: curve.reserves.realTokens },
    })
    for (const address of [CURVE_FEES, SERVICE_FEES])
      if (bank.lamports(address) === 0) bank.set(address, { lamports: rentExemption(0) })
  }

  plan({ wallet, mint, side, exact, lamports, tokens, opens }: TradeData): ReturnType<Program['plan']> {
    const pool = poolAddress(mint)
    const [own, pooled] = [tokenAccountAddress(wallet, mint), tokenAccountAddress(pool, mint)]
    const accounts: AccountMeta[] = [
      { address: own, writable: true },
      { address: pool, writable: true },
      { address: pooled, writable: true },
      { address: SERVICE_FEES, writable: true },
      { address: PROGRAMS.system, writable: false },
      { address: PROGRAMS.token, writable: false },
      { address: CURVE_FEES, writable: true, looked: true },
      { address: mint, writable: false, looked: true },
    ]
    const data = encodeTrade({ side, exact, lamports: BigInt(lamports), tokens })
    const trade = {
      program: PROGRAMS.bondingCurve,
      accounts: [mint, pool, pooled, own, wallet, CURVE_FEES, SERVICE_FEES],
      data: Buffer.from(data).toString('hex'),
    }
    const open = {
      program: PROGRAMS.associatedToken,
      accounts: [wallet, own, wallet, mint, PROGRAMS.system, PROGRAMS.token],
      data: '01',
    }
    return {
      accounts,
      tokenAccounts: [
        { account: own, mint, owner: wallet },
        { account: pooled, mint, owner: pool },
      ],
      instructions: opens ? [open, trade] : [trade],
    }
  }

  execute(data: TradeData, bank: Bank): void {
    this.#swap = undefined
    const curve = this.#market.token(data.mint)?.curve
    if (!curve) throw new ProgramFailure({ Custom: POOL_FAILURES.accountNotInitialized }, 'AccountNotInitialized')
    const swap = data.side === 'buy' ? this.#buy(data, curve, bank) : this.#sell(data, curve, bank)
    if (data.fails)
      throw new ProgramFailure(
        { Custom: data.side === 'buy' ? POOL_FAILURES.belowMinimumTokens : POOL_FAILURES.tooLittleSolReceived },
        'on demand',
      )
    if (data.side === 'buy') curve.applyBuy(swap)
    else curve.applySell(swap)
    this.#swap = swap
  }

  landed(
    { mint, side, wallet, slippagePercent, priorityFeeSol }: TradeData,
    { signature, error }: LandedTransaction,
  ): void {
    if (error !== null || !this.#swap) return
    const { sol, tokens } = this.#swap
    this.#traded({ mint, signature, trader: wallet, side, sol, tokens, slippagePercent, priorityFeeSol })
  }

  /** Returns the account of a mint or of a pool of the market; undefined for other addresses. A pool can be found by
   *  its address only after the account of the pool's mint was requested. */
  account(address: string): ReturnType<NonNullable<Program['account']>> {
    const pooled = this.#market.token(this.#pools.get(address) ?? '')
    if (pooled) {
      const data = encodePool(pooled.mint, pooled.curve).subarray(0, PUMP_CURVE_BYTES)
      const lamports = Number(pooled.curve.realSol) + TOKEN_ACCOUNT_RENT
      return { lamports, owner: PROGRAMS.bondingCurve, executable: false, data }
    }
    if (!this.#market.token(address)) return undefined
    this.#pools.set(poolAddress(address), address)
    return { lamports: rentExemption(MINT_BYTES), owner: PROGRAMS.token, executable: false, data: encodeMint() }
  }

  #buy({ wallet, mint, exact, lamports, tokens, serviceFeeBps }: TradeData, curve: Curve, bank: Bank): Swap {
    const own = bank.openTokenAccount(wallet, wallet, mint)
    const pool = poolAddress(mint)
    const swap = exact === 'in' ? curve.quoteBuy(BigInt(lamports)) : curve.quoteTokens(tokens)
    const cost = swap.sol + swap.fee
    if (swap.tokens <= 0n) throw new ProgramFailure({ Custom: POOL_FAILURES.buyZeroAmount }, 'BuyZeroAmount')
    if (exact === 'in' && swap.tokens < tokens)
      throw new ProgramFailure({ Custom: POOL_FAILURES.belowMinimumTokens }, 'BuySlippageBelowMinTokensOut')
    if (exact === 'out' && cost > BigInt(lamports))
      throw new ProgramFailure({ Custom: POOL_FAILURES.tooMuchSolRequired }, 'TooMuchSolRequired')
    bank.transfer(wallet, pool, Number(swap.sol))
    bank.transfer(wallet, CURVE_FEES, Number(swap.fee))
    bank.transfer(wallet, SERVICE_FEES, Number(serviceFee(cost, serviceFeeBps)))
    bank.moveTokens(tokenAccountAddress(pool, mint), own, swap.tokens)
    return swap
  }

  #sell({ wallet, mint, lamports, tokens, serviceFeeBps, closes }: TradeData, curve: Curve, bank: Bank): Swap {
    const own = tokenAccountAddress(wallet, mint)
    const pool = poolAddress(mint)
    const swap = curve.quoteSell(tokens)
    const proceeds = swap.sol - swap.fee
    bank.moveTokens(own, tokenAccountAddress(pool, mint), tokens)
    if (proceeds < BigInt(lamports))
      throw new ProgramFailure({ Custom: POOL_FAILURES.tooLittleSolReceived }, 'TooLittleSolReceived')
    bank.transfer(pool, wallet, Number(proceeds))
    bank.transfer(pool, CURVE_FEES, Number(swap.fee))
    bank.transfer(wallet, SERVICE_FEES, Number(serviceFee(proceeds, serviceFeeBps)))
    if (closes && bank.token(own)?.amount === 0n) bank.closeTokenAccount(own)
    return swap
  }
}
