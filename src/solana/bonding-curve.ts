/**
 * A pump.fun bonding curve in integers: lamports and base units (6 decimals), virtual reserves x * y = k. Formulas,
 * start state and the 1.25 % fee: research/solana.md 7.1 (pump-fun/pump-public-docs @1b82215).
 */

export const TOKEN_DECIMALS = 6
/** Every token's supply in base units: 1e9 whole tokens. */
export const TOKEN_SUPPLY = 1_000_000_000_000_000n
/** Of the SOL that enters or leaves the curve; 0.95 % protocol and 0.30 % creator. */
export const CURVE_FEE_BPS = 125n

const START = { virtualSol: 30_000_000_000n, virtualTokens: 1_073_000_000_000_000n, realTokens: 793_100_000_000_000n }
/** What the pool starts with after a curve is bought out and migrates. */
const MIGRATED = { virtualSol: 84_990_360_000n, virtualTokens: 206_900_000_000_000n }
/** 30 SOL * 1.073e9 tokens. */
const START_K = 30 * 1.073e9

/** Reserves in lamports and base units; `realTokens` are those still for sale; `complete` after migration to a pool. */
export interface Reserves {
  virtualSol: bigint
  virtualTokens: bigint
  realTokens: bigint
  complete: boolean
}

/**
 * `sol`: lamports that enter or leave the curve before fees; `fee`: lamports on top of a buy or out of a sale;
 * `tokens`: base units.
 */
export interface Swap {
  sol: bigint
  fee: bigint
  tokens: bigint
}

export class Curve {
  reserves: Reserves

  constructor(reserves: Reserves = { ...START, complete: false }) {
    this.reserves = reserves
  }

  /**
   * Sets the price (SOL a whole token), for recorded markets: a pool with reserves by sqrt(k * price), as deep as a
   * curve at that price.
   */
  moveTo(price: number): void {
    const virtualSol = BigInt(Math.max(1, Math.round(Math.sqrt(START_K * price) * 1e9)))
    const virtualTokens = BigInt(Math.max(1, Math.round(Math.sqrt(START_K / price) * 10 ** TOKEN_DECIMALS)))
    this.reserves = { virtualSol, virtualTokens, realTokens: virtualTokens, complete: true }
  }

  /** SOL a whole token at the margin. */
  get price(): number {
    return Number(this.reserves.virtualSol) / Number(this.reserves.virtualTokens) / 10 ** (9 - TOKEN_DECIMALS)
  }

  get marketCapSol(): number {
    return this.price * (Number(TOKEN_SUPPLY) / 10 ** TOKEN_DECIMALS)
  }

  /** Lamports that the pool really holds: what sellers can be paid from. */
  get realSol(): bigint {
    const { virtualSol, complete } = this.reserves
    return complete ? virtualSol : virtualSol - START.virtualSol
  }

  /** Spending `spend` lamports, fee included. */
  quoteBuy(spend: bigint): Swap {
    const { virtualSol, virtualTokens, realTokens } = this.reserves
    const sol = spend <= 1n ? 0n : ((spend - 1n) * 10_000n) / (10_000n + CURVE_FEE_BPS)
    const tokens = (sol * virtualTokens) / (virtualSol + sol)
    return tokens > realTokens ? this.quoteTokens(realTokens) : { sol, fee: feeOn(sol), tokens }
  }

  /** Buying exactly `tokens` base units, at most what is for sale. */
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

  /** Takes over what a program made of it. */
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

  /** Once everything is sold the token moves to a pool. */
  #migrate(): void {
    const { realTokens, complete } = this.reserves
    if (realTokens <= 0n && !complete)
      this.reserves = { ...MIGRATED, realTokens: MIGRATED.virtualTokens, complete: true }
  }
}

function feeOn(sol: bigint): bigint {
  return (sol * CURVE_FEE_BPS + 9_999n) / 10_000n
}
