import type { Random } from '../base/random.ts'
import { baseUnits, LAMPORTS_PER_SOL, type Lamports, lamports, type TokenAmount, wholeTokens } from '../base/units.ts'
import { DEAD_AFTER_MS } from '../engine/accounting/liquidation.ts'
import { BASE_FEE, TOKEN_DECIMALS } from '../solana/constants.ts'
import { type Reserves, solFor, tokensFor, VENUE_FEE } from '../solana/pool-depth.ts'

export const SLOT_MS = 400

/** What a paper trade costs and how it goes wrong. Pessimistic: a paper result that flatters is worse than none. */
export interface FillModel {
  /** Decision to landing, lognormal with these percentiles, ms. Trading services say 2 to 5 s. */
  readonly latencyMs: { readonly p50: number; readonly p95: number }
  /** Of 100 transactions, how many never land where nobody else trades and the fee is the usual one; see
   *  `lossPercent`. */
  readonly landingFailurePercent: number
  /** Each way, of what changes hands: the venue's, ... */
  readonly venueFeePercent: number
  /** ... and the trading service's, whose document names none. */
  readonly serviceFeePercent: number
  /** What the service pays when the order leaves the priority fee to it. */
  readonly autoPriorityFeeLamports: Lamports
  /** Base and priority fees times this. */
  readonly networkFeeFactor: number
  /** A token without a sized print for so long counts as dead, ms: what is held of it is worth nothing. */
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

/** Fees and latency times `factor`. */
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

/** Lands in the slot after it was sent. */
export function withoutDelay(model: FillModel): FillModel {
  return { ...model, latencyMs: { p50: 1, p95: 1 } }
}

/** What changes hands; undefined in its place is a price that ran beyond the slippage. */
export interface Swap {
  readonly tokens: TokenAmount
  /** The venue's and the service's fee inside. */
  readonly tradeLamports: Lamports
}

/** The pool that an order meets: as it was quoted, and as it stands at the worst until the order landed. */
export interface PoolRun {
  readonly quoted: Reserves
  readonly worst: Reserves
}

type TradeFees = Pick<FillModel, 'venueFeePercent' | 'serviceFeePercent'>

/** Spends exactly `spend`, all fees of the trade inside. Slippage is measured against the quote that a builder makes:
 *  impact of the order itself inside, so it bounds what the market did meanwhile. Our impact is paid in full and
 *  forgotten by the next order. */
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

/** So many prints of a token a slot double the share of transactions that never land. */
const CROWD_PRINTS = 4
const MOST_LOSS_PERCENT = 60

/** How many times as often a transaction never lands as alone at the usual fee, while its token is printed
 *  `printsPerSlot` times a slot: the more the more others want into the same blocks, the fewer the more is paid for it.
 *  An assumption about the shape. */
export function lossFactor(
  { autoPriorityFeeLamports: usual }: Pick<FillModel, 'autoPriorityFeeLamports'>,
  priorityFee: Lamports | null,
  printsPerSlot: number,
): number {
  return (1 + printsPerSlot / CROWD_PRINTS) * Math.sqrt(usual / Math.max(priorityFee ?? usual, 1))
}

/** The prints of a token while a transaction was under way, by slot: the one that it lands in is one of them. */
export function printsPerSlot(prints: number, latencyMs: number): number {
  return prints / (latencyMs / SLOT_MS + 1)
}

/** Of 100 transactions, how many never land. */
export function lossPercent(model: FillModel, priorityFee: Lamports | null, prints: number): number {
  const { landingFailurePercent } = model
  const percent = landingFailurePercent * lossFactor(model, priorityFee, prints)
  return Math.min(percent, Math.max(landingFailurePercent, MOST_LOSS_PERCENT))
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
