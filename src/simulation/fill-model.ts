import { type Reserves, reservesAt, solFor, tokensFor } from '../core/curve.ts'
import type { Random } from '../core/random.ts'
import { baseUnits, LAMPORTS_PER_SOL, type Lamports, lamports, type TokenAmount, wholeTokens } from '../core/units.ts'

/** Of every token that is bought here, as pump.fun makes them. */
export const TOKEN_DECIMALS = 6

/** What a paper trade costs and how it goes wrong. Pessimistic: a paper result that flatters is worse than none. */
export interface FillModel {
  /** Decision to landing, lognormal with these percentiles, ms. Trading services say 2 to 5 s. */
  readonly latencyMs: { readonly p50: number; readonly p95: number }
  /** Of 100 transactions, how many never land. */
  readonly landingFailurePercent: number
  /** What the service pays when the order leaves the priority fee to it. */
  readonly autoPriorityFeeLamports: Lamports
  /** A token without a sized print for so long counts as abandoned, ms; ... */
  readonly abandonedAfterMs: number
  /** ... and its pool pays so much less than it seems to. */
  readonly abandonedDiscountPercent: number
}

export const DEFAULT_FILL_MODEL: FillModel = {
  latencyMs: { p50: 1_500, p95: 4_000 },
  landingFailurePercent: 3,
  autoPriorityFeeLamports: lamports(500_000),
  abandonedAfterMs: 600_000,
  abandonedDiscountPercent: 50,
}

/** What changes hands; undefined in its place is a price that ran beyond the slippage. */
export interface Swap {
  readonly tokens: TokenAmount
  /** The venue's fee inside. */
  readonly tradeLamports: Lamports
}

/** The robust prices that an order meets, SOL a token: the one it was quoted at, and the worst one until it landed. */
export interface PriceRun {
  readonly quoted: number
  readonly worst: number
}

/** Spends exactly `spend`, the venue's fee inside. Slippage is measured against the quote that a builder makes: impact of the order itself
 *  inside, so it bounds what the market did meanwhile. Our impact is paid in full and forgotten by the next order. */
export function buy(spend: Lamports, slippagePercent: number, prices: PriceRun): Swap | undefined {
  const sol = spend / LAMPORTS_PER_SOL
  const tokens = tokensFor(sol, reservesAt(prices.worst))
  if (tokens * (1 + slippagePercent / 100) < tokensFor(sol, reservesAt(prices.quoted))) return undefined
  return { tokens: baseUnits(tokens, TOKEN_DECIMALS), tradeLamports: spend }
}

/** Sells `tokens` base units; `discountPercent` is taken off after the bound was met: what an abandoned pool pays less. */
export function sell(
  tokens: TokenAmount,
  decimals: number,
  slippagePercent: number,
  prices: PriceRun,
  discountPercent = 0,
): Swap | undefined {
  const whole = wholeTokens(tokens, decimals)
  const proceeds = proceedsOf(whole, reservesAt(prices.worst))
  if (proceeds < proceedsOf(whole, reservesAt(prices.quoted)) * (1 - slippagePercent / 100)) return undefined
  return { tokens, tradeLamports: lamports(Math.floor(proceeds * (1 - discountPercent / 100))) }
}

function proceedsOf(tokens: number, reserves: Reserves): number {
  return solFor(tokens, reserves) * LAMPORTS_PER_SOL
}

/** z of the 95th percentile of the normal distribution. */
const Z95 = 1.6449

/** A latency in whole ms, at most ten times the 95th percentile. */
export function drawLatencyMs({ p50, p95 }: FillModel['latencyMs'], random: Random): number {
  // Box-Muller; 1 - next() is never 0.
  const normal = Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next())
  const sigma = Math.log(p95 / p50) / Z95
  return Math.round(Math.min(p50 * Math.exp(sigma * normal), p95 * 10))
}
