import { CURVE_FEE_BPS, CURVE_START, POOL_START, TOKEN_DECIMALS } from './constants.ts'

// Constant-product depth behind a price, for quotes, marks and simulated fills: pump.fun's bonding curve, and the pool
// that a token migrates to. An estimate, because the feed reports no reserves.

const VIRTUAL_SOL = sol(CURVE_START.virtualSol)
/** Constant product of the bonding curve, SOL times whole tokens. */
export const CURVE_PRODUCT = VIRTUAL_SOL * tokens(CURVE_START.virtualTokens)
/** Constant product of the pool that a token migrates to, at its start. */
export const POOL_PRODUCT = sol(POOL_START.virtualSol) * tokens(POOL_START.virtualTokens)
/** Last price of the bonding curve, SOL per token. A token that has reached it has left the curve permanently. */
export const GRADUATION_PRICE = 4.1088e-7

/** Fee of each trade, as a share: of the curve and of the lowest pool tiers. */
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

/** Reserves of a pool at `price`, SOL per token. `product`: SOL times whole tokens; by default the curve's below its
 *  last price, and a migrated pool's above. */
export function reservesAt(price: number, product = price < GRADUATION_PRICE ? CURVE_PRODUCT : POOL_PRODUCT): Reserves {
  const side = Math.sqrt(product * price)
  return { sol: side, tokens: product / side }
}

/** Prices of a pool before and after a trade of `net` SOL (negative for a sale) at the mean price `price`. With S the
 *  SOL in the pool before, `price` is S * (S + net) / product. */
export function poolAround(price: number, net: number, product: number): { before: number; after: number } {
  const root = Math.sqrt(net * net + 4 * product * price)
  const [before, after] = [(root - net) / 2, (root + net) / 2]
  return { before: (before * before) / product, after: (after * after) / product }
}

/** Upper bound of the SOL that sellers can take out: on the curve the SOL paid in, in a migrated pool all of it. */
export function poolSol(price: number): number {
  const reserves = reservesAt(price)
  return price < GRADUATION_PRICE ? Math.max(0, reserves.sol - VIRTUAL_SOL) : reserves.sol
}

/** Whole tokens that a buy for `spend` SOL gives. `fee`: a share, taken before the swap. */
export function tokensFor(spend: number, reserves: Reserves, fee = VENUE_FEE): number {
  const paid = spend / (1 + fee)
  return (paid * reserves.tokens) / (reserves.sol + paid)
}

/** SOL that a sale of `sold` whole tokens gives. `fee`: a share, taken after the swap. */
export function solFor(sold: number, reserves: Reserves, fee = VENUE_FEE): number {
  return ((sold * reserves.sol) / (reserves.tokens + sold)) * (1 - fee)
}
