import { CURVE_FEE_BPS, CURVE_START, POOL_START, TOKEN_DECIMALS, TOKEN_SUPPLY } from './constants.ts'
import { CURVE_PRODUCT } from './pool-depth.ts'

// A pump.fun bonding curve in integers. The product x * y = k of the virtual reserves is constant
// (pump-fun/pump-public-docs @1b82215).

/** Reserves of a curve in lamports and base units. `realTokens`: the tokens that are still for sale. `complete`:
 *  whether the token has moved to a pool. */
export interface Reserves {
  virtualSol: bigint
  virtualTokens: bigint
  realTokens: bigint
  complete: boolean
}

export interface Swap {
  /** Lamports that enter or leave the curve, without the fee. */
  sol: bigint
  /** Fee in lamports. It is added to the cost of a buy, or deducted from the proceeds of a sale. */
  fee: bigint
  /** Tokens in base units. */
  tokens: bigint
}

export class Curve {
  reserves: Reserves

  constructor(reserves: Reserves = { ...CURVE_START, complete: false }) {
    this.reserves = reserves
  }

  /** Sets the price to a recorded price, SOL per whole token. The pool becomes as deep as a bonding curve at this
   *  price. */
  moveTo(price: number): void {
    const virtualSol = BigInt(Math.max(1, Math.round(Math.sqrt(CURVE_PRODUCT * price) * 1e9)))
    const virtualTokens = BigInt(Math.max(1, Math.round(Math.sqrt(CURVE_PRODUCT / price) * 10 ** TOKEN_DECIMALS)))
    this.reserves = { virtualSol, virtualTokens, realTokens: virtualTokens, complete: true }
  }

  /** Marginal price, SOL per whole token. */
  get price(): number {
    return Number(this.reserves.virtualSol) / Number(this.reserves.virtualTokens) / 10 ** (9 - TOKEN_DECIMALS)
  }

  get marketCapSol(): number {
    return this.price * (Number(TOKEN_SUPPLY) / 10 ** TOKEN_DECIMALS)
  }

  /** Lamports that the curve or pool holds and can pay to sellers. */
  get realSol(): bigint {
    const { virtualSol, complete } = this.reserves
    return complete ? virtualSol : virtualSol - CURVE_START.virtualSol
  }

  /** Quotes a buy for `spend` lamports, fee included. */
  quoteBuy(spend: bigint): Swap {
    const { virtualSol, virtualTokens, realTokens } = this.reserves
    const sol = spend <= 1n ? 0n : ((spend - 1n) * 10_000n) / (10_000n + CURVE_FEE_BPS)
    const tokens = (sol * virtualTokens) / (virtualSol + sol)
    return tokens > realTokens ? this.quoteTokens(realTokens) : { sol, fee: feeOn(sol), tokens }
  }

  /** Quotes a buy of exactly `tokens` base units, or of all base units still for sale if those are fewer. */
  quoteTokens(tokens: bigint): Swap {
    const { virtualSol, virtualTokens, realTokens } = this.reserves
    const bought = tokens < realTokens ? tokens : realTokens
    const sol =
      bought >= virtualTokens ? virtualSol * 1_000_000n : (bought * virtualSol) / (virtualTokens - bought) + 1n
    return { sol, fee: feeOn(sol), tokens: bought }
  }

  quoteSell(tokens: bigint): Swap {
    const { virtualSol, virtualTokens } = this.reserves
    const sol = (tokens * virtualSol) / (virtualTokens + tokens)
    return { sol, fee: feeOn(sol), tokens }
  }

  applyBuy({ sol, tokens }: Swap): void {
    const { reserves } = this
    reserves.virtualSol += sol
    reserves.virtualTokens -= tokens
    reserves.realTokens -= tokens
    this.#migrate()
  }

  /** Replaces the reserves with the ones that a simulated program has computed. */
  settle({ virtualSol, virtualTokens, realTokens }: Omit<Reserves, 'complete'>): void {
    const { complete } = this.reserves
    this.reserves = { virtualSol, virtualTokens, realTokens, complete }
    this.#migrate()
  }

  applySell({ sol, tokens }: Swap): void {
    this.reserves.virtualSol -= sol
    this.reserves.virtualTokens += tokens
    this.reserves.realTokens += tokens
  }

  /** Moves the token to a pool if the curve is sold out. */
  #migrate(): void {
    const { realTokens, complete } = this.reserves
    if (realTokens <= 0n && !complete)
      this.reserves = { ...POOL_START, realTokens: POOL_START.virtualTokens, complete: true }
  }
}

function feeOn(sol: bigint): bigint {
  return (sol * CURVE_FEE_BPS + 9_999n) / 10_000n
}
