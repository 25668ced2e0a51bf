/** Constant-product depth behind a price, for quotes, marks and simulated fills: pump.fun's bonding curve while it lasts and the pool it
 *  migrates to afterwards. An estimate: the feed names no reserves. Figures: pump-fun/pump-public-docs, pump-sdk 2.0.0. */

const VIRTUAL_SOL = 30
const VIRTUAL_TOKENS = 1_073_000_000
const CURVE_K = VIRTUAL_SOL * VIRTUAL_TOKENS
const GRADUATION_PRICE = 4.1088e-7
const POOL_K = 84.99036 * 206_900_000

/** Venue fee of curve and low pool tiers, each way. */
export const VENUE_FEE = 0.0125

/** SOL and whole tokens on the two sides of the pool, if it stands at `price` (SOL a token). */
export interface Reserves {
  readonly sol: number
  readonly tokens: number
}

export function reservesAt(price: number): Reserves {
  const k = price < GRADUATION_PRICE ? CURVE_K : POOL_K
  const sol = Math.sqrt(k * price)
  return { sol, tokens: k / sol }
}

/** Whole tokens that `sol` buys, fee taken first. */
export function tokensFor(sol: number, reserves: Reserves): number {
  const paid = sol / (1 + VENUE_FEE)
  return (paid * reserves.tokens) / (reserves.sol + paid)
}

/** SOL that selling `tokens` whole tokens brings, fee taken last. */
export function solFor(tokens: number, reserves: Reserves): number {
  return ((tokens * reserves.sol) / (reserves.tokens + tokens)) * (1 - VENUE_FEE)
}
