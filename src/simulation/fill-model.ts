import type { Random } from '../base/random.ts'
import { baseUnits, LAMPORTS_PER_SOL, type Lamports, lamports, type TokenAmount, wholeTokens } from '../base/units.ts'
import type { FillModel } from '../engine/accounting/fill-assumptions.ts'
import { TOKEN_DECIMALS } from '../solana/constants.ts'
import { type Reserves, solFor, tokensFor } from '../solana/pool-depth.ts'

/** Returns the model with its fees and latencies multiplied by `factor`. */
export function stressed(model: FillModel, factor: number): FillModel {
  const { latencyMs, venueFeePercent, serviceFeePercent, networkFeeFactor } = model
  return {
    ...model,
    latencyMs: { p50: latencyMs.p50 * factor, p95: latencyMs.p95 * factor },
    venueFeePercent: venueFeePercent * factor,
    serviceFeePercent: serviceFeePercent * factor,
    networkFeeFactor: networkFeeFactor * factor,
  }
}

/** Returns a model in which every transaction lands in the next Solana slot. A model whose latency is 0 is not
 *  changed. */
export function withoutDelay(model: FillModel): FillModel {
  const { p50, p95 } = model.latencyMs
  return { ...model, latencyMs: { p50: Math.min(1, p50), p95: Math.min(1, p95) } }
}

/** Amounts of a fill. `buy` and `sell` return undefined instead if the price moved by more than the slippage limit. */
export interface Swap {
  readonly tokens: TokenAmount
  /** SOL that the buyer paid or the seller received, lamports. Includes the fees of the venue and the service. */
  readonly tradeLamports: Lamports
}

/** The pool with which an order trades: its state at the quote (`quoted`), and its worst state in the slot in which the
 *  order lands (`worst`). */
export interface PoolRun {
  readonly quoted: Reserves
  readonly worst: Reserves
}

type TradeFees = Pick<FillModel, 'venueFeePercent' | 'serviceFeePercent'>

/** Computes a buy that spends exactly `spend`, including all fees of the trade. The builder's quote, against which the
 *  slippage is measured, includes the impact of the order. The slippage limit therefore limits only the movement of the
 *  market between quote and landing. */
export function buy(spend: Lamports, slippagePercent: number, pool: PoolRun, fees: TradeFees): Swap | undefined {
  const sol = (spend / LAMPORTS_PER_SOL) * (1 - fees.serviceFeePercent / 100)
  const tokens = tokensFor(sol, pool.worst, fees.venueFeePercent / 100)
  if (tokens * (1 + slippagePercent / 100) < tokensFor(sol, pool.quoted, fees.venueFeePercent / 100)) return undefined
  return { tokens: baseUnits(tokens, TOKEN_DECIMALS), tradeLamports: spend }
}

/** Computes a sale of `tokens` base units. */
export function sell(
  tokens: TokenAmount,
  decimals: number,
  slippagePercent: number,
  pool: PoolRun,
  fees: TradeFees,
): Swap | undefined {
  const whole = wholeTokens(tokens, decimals)
  const proceeds = proceedsOf(whole, pool.worst, fees)
  if (proceeds < proceedsOf(whole, pool.quoted, fees) * (1 - slippagePercent / 100)) return undefined
  return { tokens, tradeLamports: lamports(Math.floor(proceeds)) }
}

function proceedsOf(tokens: number, reserves: Reserves, { venueFeePercent, serviceFeePercent }: TradeFees): number {
  return solFor(tokens, reserves, venueFeePercent / 100) * (1 - serviceFeePercent / 100) * LAMPORTS_PER_SOL
}

/** Returns the base fee and priority fee of one transaction. */
export function networkFee(priorityFee: Lamports | null, model: FillModel): Lamports {
  return lamports(
    Math.round((model.baseFeeLamports + (priorityFee ?? model.autoPriorityFeeLamports)) * model.networkFeeFactor),
  )
}

/** Returns the factor by which the loss rate of a transaction is multiplied. `printsPerSlot`: prints of its token per
 *  Solana slot. The factor rises with the competition for the same blocks and falls with the priority fee. Its shape is
 *  an assumption. */
export function lossFactor(
  { autoPriorityFeeLamports: standardFee, crowdPrints }: Pick<FillModel, 'autoPriorityFeeLamports' | 'crowdPrints'>,
  priorityFee: Lamports | null,
  printsPerSlot: number,
): number {
  return (1 + printsPerSlot / crowdPrints) * Math.sqrt(standardFee / Math.max(priorityFee ?? standardFee, 1))
}

/** Returns the number of prints of a token per Solana slot while a transaction was under way, including the slot in
 *  which it landed. */
export function printsPerSlot(prints: number, latencyMs: number, { slotMs }: Pick<FillModel, 'slotMs'>): number {
  return slotMs === 0 ? 0 : prints / (latencyMs / slotMs + 1)
}

/** Returns the percentage of transactions that never land. */
export function lossPercent(model: FillModel, priorityFee: Lamports | null, prints: number): number {
  const { landingFailurePercent, maxLossPercent } = model
  const percent = landingFailurePercent * lossFactor(model, priorityFee, prints)
  return Math.min(percent, Math.max(landingFailurePercent, maxLossPercent))
}

/** z-score of the 95th percentile of the normal distribution. */
const Z95 = 1.6449

/** Draws a random latency in whole ms, at most ten times the 95th percentile. */
export function drawLatencyMs({ p50, p95 }: FillModel['latencyMs'], random: Random): number {
  if (p50 === 0) return 0
  // Box-Muller transform; 1 - next() is never 0.
  const normal = Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next())
  const sigma = Math.log(p95 / p50) / Z95
  return Math.round(Math.min(p50 * Math.exp(sigma * normal), p95 * 10))
}
