import type { Draws } from '../draws.ts'

/** Quantiles of trade sizes: [share of the trades below this size, size in SOL]. They were measured on AMM swaps of
 *  June 2026 and creations of July 2026. */
type Quantiles = readonly (readonly [share: number, sol: number])[]

const BUY: Quantiles = [
  [0, 0.0005],
  [0.05, 0.001],
  [0.25, 0.04],
  [0.5, 0.2],
  [0.75, 1],
  [0.9, 2],
  [1, 3],
]
const SELL: Quantiles = [
  [0, 0.0001],
  [0.05, 0.0002],
  [0.25, 0.011],
  [0.5, 0.17],
  [0.75, 1.06],
  [1, 3],
]
const CREATOR: Quantiles = [
  [0.15, 0.001],
  [0.25, 0.002],
  [0.5, 0.11],
  [0.75, 1],
  [0.9, 4.9],
  [1, 5],
]
/** Round amounts that people type, SOL. */
const ROUND = [0.01, 0.05, 0.1, 0.1, 0.2, 0.2, 0.5, 0.5, 1, 1, 2] as const
const ROUND_SHARE = 0.4

/** Draws the SOL of a buy of a token that is already traded. */
export function drawBuySol(draws: Draws): number {
  return draws.chance(ROUND_SHARE) ? draws.pick(ROUND) : quantile(BUY, draws.next())
}

/** Draws the SOL that a seller wants to receive. */
export function drawSellSol(draws: Draws): number {
  return quantile(SELL, draws.next())
}

/** Draws the SOL of the creator's own first buy; zero in 15 % of the launches. */
export function drawCreatorSol(draws: Draws): number {
  const share = draws.next()
  return share < 0.15 ? 0 : quantile(CREATOR, share)
}

/** Draws the SOL of a swap that a router splits. Four of five such swaps are dust (0.0005 to 0.02 SOL); the others have
 *  a normal size. */
export function drawRouterSol(draws: Draws): number {
  return draws.chance(0.8) ? draws.between(0.0005, 0.02) : draws.between(0.1, 1.5)
}

/** Returns the size, SOL, below which a given share of the measured trades lies. Interpolates log-linearly between the
 *  measured quantiles. */
function quantile(points: Quantiles, share: number): number {
  let [lowShare, lowSol] = points[0]!
  for (const [highShare, highSol] of points) {
    if (share <= highShare) {
      const part = highShare === lowShare ? 0 : (share - lowShare) / (highShare - lowShare)
      return lowSol * (highSol / lowSol) ** part
    }
    lowShare = highShare
    lowSol = highSol
  }
  return lowSol
}
