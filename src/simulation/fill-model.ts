import type { Random } from '../base/random.ts'
import { baseUnits, LAMPORTS_PER_SOL, type Lamports, lamports, type TokenAmount, wholeTokens } from '../base/units.ts'
import { DEAD_AFTER_MS } from '../engine/accounting/liquidation.ts'
import { BASE_FEE, TOKEN_DECIMALS } from '../solana/constants.ts'
import { type Reserves, solFor, tokensFor, VENUE_FEE } from '../solana/pool-depth.ts'

export const SLOT_MS = 400

/** Costs and failures of paper trades. The defaults are pessimistic: an optimistic paper result is worse than none. */
export interface FillModel {
  /** Time from decision to landing, lognormal with these percentiles, ms. Trading services report 2 to 5 s. */
  readonly latencyMs: { readonly p50: number; readonly p95: number }
  /** Percent of transactions that never land without competition and at the usual fee; see `lossPercent`. */
  readonly landingFailurePercent: number
  /** The venue's fee, percent of the traded amount in each direction. */
  readonly venueFeePercent: number
  /** The trading service's fee, percent; the document names none. */
  readonly serviceFeePercent: number
  /** Priority fee that the service pays if the order leaves it to the service. */
  readonly autoPriorityFeeLamports: Lamports
  /** Factor on base and priority fees. */
  readonly networkFeeFactor: number
  /** Time in ms without a sized print after which a token counts as dead; its holdings are worth nothing. */
  readonly deadAfterMs: number
}

export const DEFAULT_FILL_MODEL: FillModel = {
  latencyMs: { p50: 1_500, p95: 4_000 },
  landingFailurePercent: 3,
  venueFeePercent: VENUE_FEE * 100,
  serviceFeePercent: 1,
  autoPriorityFeeLamports: lamports(500_000),
  networkFeeFactor: 1,
  deadAfterMs: DEAD_AFTER_MS,
}

/** The model with fees and latency multiplied by `factor`. */
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

/** The model with landing in the next slot. */
export function withoutDelay(model: FillModel): FillModel {
  return { ...model, latencyMs: { p50: 1, p95: 1 } }
}

/** Amounts of a fill; undefined instead of a swap means that the price exceeded the slippage. */
export interface Swap {
  readonly tokens: TokenAmount
  /** Includes the fees of the venue and the service. */
  readonly tradeLamports: Lamports
}

/** The pool of an order: at the time of the quote, and in its worst state until the order landed. */
export interface PoolRun {
  readonly quoted: Reserves
  readonly worst: Reserves
}

type TradeFees = Pick<FillModel, 'venueFeePercent' | 'serviceFeePercent'>

/** Spends exactly `spend`, including all fees of the trade. Slippage is measured against a builder's quote, which
 *  includes the order's own impact, so it bounds the change of the market in between. Our impact is paid in full, and
 *  the next order does not see it. */
export function buy(spend: Lamports, slippagePercent: number, pool: PoolRun, fees: TradeFees): Swap | undefined {
  const sol = (spend / LAMPORTS_PER_SOL) * (1 - fees.serviceFeePercent / 100)
  const tokens = tokensFor(sol, pool.worst, fees.venueFeePercent / 100)
  if (tokens * (1 + slippagePercent / 100) < tokensFor(sol, pool.quoted, fees.venueFeePercent / 100)) return undefined
  return { tokens: baseUnits(tokens, TOKEN_DECIMALS), tradeLamports: spend }
}

/** Sells `tokens` base units. */
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

/** Base and priority fee of one transaction. */
export function networkFee(priorityFee: Lamports | null, model: FillModel): Lamports {
  return lamports(Math.round((BASE_FEE + (priorityFee ?? model.autoPriorityFeeLamports)) * model.networkFeeFactor))
}

/** Number of prints per slot of a token that doubles the share of lost transactions. */
const CROWD_PRINTS = 4
const MAX_LOSS_PERCENT = 60

/** Factor on the loss rate of a transaction while its token is printed `printsPerSlot` times per slot. It rises with
 *  the competition for the same blocks and falls with the fee. The shape is an assumption. */
export function lossFactor(
  { autoPriorityFeeLamports: standardFee }: Pick<FillModel, 'autoPriorityFeeLamports'>,
  priorityFee: Lamports | null,
  printsPerSlot: number,
): number {
  return (1 + printsPerSlot / CROWD_PRINTS) * Math.sqrt(standardFee / Math.max(priorityFee ?? standardFee, 1))
}

/** Prints of a token per slot while a transaction was under way, including the slot in which it landed. */
export function printsPerSlot(prints: number, latencyMs: number): number {
  return prints / (latencyMs / SLOT_MS + 1)
}

/** Percent of transactions that never land. */
export function lossPercent(model: FillModel, priorityFee: Lamports | null, prints: number): number {
  const { landingFailurePercent } = model
  const percent = landingFailurePercent * lossFactor(model, priorityFee, prints)
  return Math.min(percent, Math.max(landingFailurePercent, MAX_LOSS_PERCENT))
}

/** z-score of the 95th percentile of the normal distribution. */
const Z95 = 1.6449

/** Random latency in whole ms, at most ten times the 95th percentile. */
export function drawLatencyMs({ p50, p95 }: FillModel['latencyMs'], random: Random): number {
  // Box-Muller transform; 1 - next() is never 0.
  const normal = Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next())
  const sigma = Math.log(p95 / p50) / Z95
  return Math.round(Math.min(p50 * Math.exp(sigma * normal), p95 * 10))
}
