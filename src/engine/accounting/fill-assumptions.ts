import { DAY, type Lamports, lamports, type Millis } from '../../base/units.ts'
import { BASE_FEE, SLOT_MS, TOKEN_ACCOUNT_RENT } from '../../solana/constants.ts'
import { VENUE_FEE } from '../../solana/pool-depth.ts'
import { DEAD_AFTER_MS } from './liquidation.ts'

/** Every assumption about the fills of paper trades (docs/fills.md). The model is plain JSON, and each report records
 *  it. */
export interface FillModel {
  /** Time from sending to landing, ms: lognormal with these percentiles. Trading services report 2 to 5 s. */
  readonly latencyMs: { readonly p50: number; readonly p95: number }
  /** Length of a Solana slot, ms. An order may be filled at any moment of the slot in which it lands. */
  readonly slotMs: Millis
  /** Percent of the transactions that never land if they pay the usual fee and few others trade the token; see
   *  `lossPercent`. */
  readonly landingFailurePercent: number
  /** Number of prints of a token per Solana slot at which competition doubles `landingFailurePercent`. With more
   *  prints, the percentage rises further, up to `maxLossPercent`. */
  readonly crowdPrints: number
  readonly maxLossPercent: number
  /** The venue's fee, percent of the traded amount in each direction. */
  readonly venueFeePercent: number
  /** The trading service's fee, percent of the traded amount. An assumption, because the service documents no fee. */
  readonly serviceFeePercent: number
  /** Base fee of a transaction with one signature. */
  readonly baseFeeLamports: Lamports
  /** Priority fee that the service pays for an order that does not set one. */
  readonly autoPriorityFeeLamports: Lamports
  /** Factor by which base fees and priority fees are multiplied. */
  readonly networkFeeFactor: number
  /** Rent of a token account. It is returned with the sale of the last token. */
  readonly rentLamports: Lamports
  /** Time in ms without a print above the minimum size after which a token counts as dead. Holdings of a dead token are
   *  worth nothing. */
  readonly deadAfterMs: number
  readonly honeypot: HoneypotRule
  /** `full`: orders and recorded trades move the price of a pool. `none`: neither moves it, as in a pool of unlimited
   *  depth, so the price of a print also applies right after the print. */
  readonly impact: 'full' | 'none'
  /** The price impact of an order halves each time that other traders have traded this many times the SOL of the
   *  pool. */
  readonly impactHalvesAfterPools: number
  /** Percent. A print is doubtful if the price before its trade differs by more than this from the price after the
   *  previous trade. The price of a doubtful print must be confirmed by later prints. */
  readonly noisePercent: number
}

/** Returns the fill model of a bot. */
export type ModelOf = (bot: string) => FillModel

/** Rule for tokens that cannot be sold. Only trades above the minimum size count. After `buys` buys, a token counts as
 *  unsellable until it has at least two sales, and the number of its sales is at least `salesPercent` of the number of
 *  its buys. Two sales are required, because the creator of an unsellable token may make one sale as bait. */
export interface HoneypotRule {
  readonly buys: number
  readonly salesPercent: number
}

/** Pessimistic values, because an optimistic paper result is worse than none. */
export const DEFAULT_FILL_MODEL: FillModel = {
  latencyMs: { p50: 1_500, p95: 4_000 },
  slotMs: SLOT_MS,
  landingFailurePercent: 3,
  crowdPrints: 4,
  maxLossPercent: 60,
  venueFeePercent: VENUE_FEE * 100,
  serviceFeePercent: 1,
  baseFeeLamports: BASE_FEE,
  autoPriorityFeeLamports: lamports(500_000),
  networkFeeFactor: 1,
  rentLamports: TOKEN_ACCOUNT_RENT,
  deadAfterMs: DEAD_AFTER_MS,
  honeypot: { buys: 8, salesPercent: 15 },
  impact: 'full',
  impactHalvesAfterPools: 1,
  noisePercent: 25,
}

/** Model without costs, delay and impact, for comparisons with other frameworks: an order is filled at the price of the
 *  last print above the minimum size. All numbers are finite, because JSON has no infinity. */
export const FREE_FILL_MODEL: FillModel = {
  latencyMs: { p50: 0, p95: 0 },
  slotMs: 0,
  landingFailurePercent: 0,
  crowdPrints: DEFAULT_FILL_MODEL.crowdPrints,
  maxLossPercent: 0,
  venueFeePercent: 0,
  serviceFeePercent: 0,
  baseFeeLamports: lamports(0),
  autoPriorityFeeLamports: lamports(0),
  networkFeeFactor: 1,
  rentLamports: lamports(0),
  deadAfterMs: 36_500 * DAY,
  honeypot: { buys: Number.MAX_SAFE_INTEGER, salesPercent: 0 },
  impact: 'none',
  impactHalvesAfterPools: 1,
  noisePercent: 1e12,
}
