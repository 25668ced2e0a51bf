import { CURVE_FEE_BPS, CURVE_START, POOL_START, TOKEN_DECIMALS } from './constants.ts'

// Depth of a pool, computed from its price, for quotes, valuations and simulated fills. It assumes the constant product
// of pump.fun's bonding curve or of the pool to which a token migrates. It is an estimate, because the feed reports no
// reserves.

const VIRTUAL_SOL = sol(CURVE_START.virtualSol)
/** Constant product of the bonding curve, SOL times whole tokens. */
export const CURVE_PRODUCT = VIRTUAL_SOL * tokens(CURVE_START.virtualTokens)
/** Constant product of a pool just after a token has migrated to it, SOL times whole tokens. */
export const POOL_PRODUCT = sol(POOL_START.virtualSol) * tokens(POOL_START.virtualTokens)
/** Last price of the bonding curve, SOL per token. A token that has reached this price has left the curve
 *  permanently. */
export const GRADUATION_PRICE = 4.1088e-7

/** Whether a token has left the bonding curve, judged by its current and its highest price. */
export function hasLeftCurve(price: number, highPrice: number): boolean {
  return Math.max(price, highPrice) >= GRADUATION_PRICE
}

/** Fee of each trade on the bonding curve and in the lowest pool tiers, as a share of the SOL. */
export const VENUE_FEE = Number(CURVE_FEE_BPS) / 10_000

function sol(lamports: bigint): number {
  return Number(lamports) / 1e9
}

function tokens(baseUnits: bigint): number {
  return Number(baseUnits) / 10 ** TOKEN_DECIMALS
}

/** Reserves of a pool in SOL and whole tokens. */
export interface Reserves {
  readonly sol: number
  readonly tokens: number
}

/** Returns the reserves of a pool at `price`, SOL per token. `product`: SOL times whole tokens. By default it is the
 *  product of the bonding curve for prices on the curve, and the product of a migrated pool for higher prices. */
export function reservesAt(price: number, product = price < GRADUATION_PRICE ? CURVE_PRODUCT : POOL_PRODUCT): Reserves {
  const side = Math.sqrt(product * price)
  return { sol: side, tokens: product / side }
}

/** Returns the prices of a pool before and after a trade of `net` SOL (negative for a sale) whose mean price is
 *  `price`. If the pool held S SOL before the trade, then `price` is S * (S + net) / product. */
export function poolAround(price: number, net: number, product: number): { before: number; after: number } {
  const root = Math.sqrt(net * net + 4 * product * price)
  const [before, after] = [(root - net) / 2, (root + net) / 2]
  return { before: (before * before) / product, after: (after * after) / product }
}

/** Returns the most SOL that sellers can take out of a pool. On the bonding curve this is the SOL that buyers paid in;
 *  in a migrated pool it is all SOL of the pool. */
export function poolSol(price: number): number {
  const reserves = reservesAt(price)
  return price < GRADUATION_PRICE ? Math.max(0, reserves.sol - VIRTUAL_SOL) : reserves.sol
}

/** Returns the whole tokens that a buy for `spend` SOL yields. `fee`: the fee as a share of the SOL, deducted before
 *  the swap. */
export function tokensFor(spend: number, reserves: Reserves, fee = VENUE_FEE): number {
  const paid = spend / (1 + fee)
  return (paid * reserves.tokens) / (reserves.sol + paid)
}

/** Returns the SOL that a sale of `sold` whole tokens yields. `fee`: the fee as a share of the SOL, deducted after the
 *  swap. */
export function solFor(sold: number, reserves: Reserves, fee = VENUE_FEE): number {
  return ((sold * reserves.sol) / (reserves.tokens + sold)) * (1 - fee)
}
