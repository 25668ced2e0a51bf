/** Constant-product depth behind a price, for quotes, marks and simulated fills: pump.fun's bonding curve while it
 *  lasts and the pool it migrates to afterwards. An estimate: the feed names no reserves. Figures:
 *  pump-fun/pump-public-docs, pump-sdk 2.0.0. */

const VIRTUAL_SOL = 30
const VIRTUAL_TOKENS = 1_073_000_000
/** Products of SOL and whole tokens: of the curve, always, and of the pool that a token migrates to. */
export const CURVE_PRODUCT = VIRTUAL_SOL * VIRTUAL_TOKENS
export const POOL_PRODUCT = 84.99036 * 206_900_000
/** A token that was once this dear (SOL a token) has left the curve for good. */
export const GRADUATION_PRICE = 4.1088e-7

/** Venue fee of curve and low pool tiers, each way. */
export const VENUE_FEE = 0.0125

/** SOL and whole tokens on the two sides of the pool, if it stands at `price` (SOL a token). */
export interface Reserves {
  readonly sol: number
  readonly tokens: number
}

/** `product`: of SOL and whole tokens; where it is left out, that of the curve below its last price, and of a migrated
 *  pool above. */
export function reservesAt(price: number, product = price < GRADUATION_PRICE ? CURVE_PRODUCT : POOL_PRODUCT): Reserves {
  const sol = Math.sqrt(product * price)
  return { sol, tokens: product / sol }
}

/** SOL that selling everything could bring at most: on the curve what was paid in, in a migrated pool its SOL. */
export function poolSol(price: number): number {
  const { sol } = reservesAt(price)
  return price < GRADUATION_PRICE ? Math.max(0, sol - VIRTUAL_SOL) : sol
}

/** Whole tokens that `sol` buys, the fee (a share) taken first. */
export function tokensFor(sol: number, reserves: Reserves, fee = VENUE_FEE): number {
  const paid = sol / (1 + fee)
  return (paid * reserves.tokens) / (reserves.sol + paid)
}

/** SOL that selling `tokens` whole tokens brings, the fee (a share) taken last. */
export function solFor(tokens: number, reserves: Reserves, fee = VENUE_FEE): number {
  return ((tokens * reserves.sol) / (reserves.tokens + tokens)) * (1 - fee)
}
