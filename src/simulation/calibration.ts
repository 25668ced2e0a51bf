import type { Attempt, AttemptState, Fill } from '../core/order.ts'
import { BASE_FEE } from '../core/risk.ts'
import { type Lamports, lamports } from '../core/units.ts'
import type { FillModel } from './fill-model.ts'

/** A real attempt, and what it came to where it was filled. */
export interface Execution {
  readonly attempt: Attempt
  readonly fill: Fill | undefined
}

/** What real attempts say of a fill model; null: too few to say it, and what was assumed stays. */
export interface Measured {
  readonly fills: number
  /** Attempts of which it is known whether they landed. */
  readonly decided: number
  readonly latencyMs: FillModel['latencyMs'] | null
  readonly landingFailurePercent: number | null
  readonly autoPriorityFeeLamports: Lamports | null
  readonly venueFeePercent: number | null
  readonly serviceFeePercent: number | null
}

const LEAST_FILLS = 20
const LEAST_DECIDED = 50
const LEAST_FEES = 5
/** Times of blocks are whole seconds, rounded down. */
const HALF_SECOND_MS = 500

const LANDED: ReadonlySet<AttemptState> = new Set(['filled', 'reverted'])
const LOST: ReadonlySet<AttemptState> = new Set(['absent', 'expired'])

/** Whether it is known if it landed. */
export function isDecided({ state }: Attempt): boolean {
  return LANDED.has(state) || LOST.has(state)
}

/** When a real fill landed, ms. */
export function landedAt({ time }: Fill): number {
  return time % 1_000 === 0 ? time + HALF_SECOND_MS : time
}

export function measure(executions: readonly Execution[]): Measured {
  const fills = executions.flatMap(({ attempt, fill }) => (fill === undefined ? [] : [{ attempt, fill }]))
  const latencies = fills.map(({ attempt, fill }) => Math.max(1, landedAt(fill) - attempt.armedAt))
  const landed = executions.filter(({ attempt: { state } }) => LANDED.has(state)).length
  const lost = executions.filter(({ attempt: { state } }) => LOST.has(state)).length
  const chosen = fills.filter(({ attempt }) => attempt.priorityFeeLamports === null)
  const auto = median(
    chosen.map(({ fill }) => Math.max(0, fill.feeLamports - BASE_FEE)),
    LEAST_FEES,
  )
  const known = (name: 'venueFee' | 'serviceFee') => fills.filter(({ fill }) => !fill.costs.unknown.includes(name))
  return {
    fills: fills.length,
    decided: landed + lost,
    latencyMs: latencies.length < LEAST_FILLS ? null : { p50: at(latencies, 0.5), p95: at(latencies, 0.95) },
    landingFailurePercent: landed + lost < LEAST_DECIDED ? null : (lost / (landed + lost)) * 100,
    autoPriorityFeeLamports: auto === null ? null : lamports(Math.round(auto)),
    venueFeePercent: median(
      known('venueFee').map(({ fill }) => venuePercent(fill)),
      LEAST_FEES,
    ),
    serviceFeePercent: median(
      known('serviceFee').map(({ fill }) => servicePercent(fill)),
      LEAST_FEES,
    ),
  }
}

/** The model with what was measured in the place of what was assumed. `lossFactor`: how many times as often as alone at the usual fee it
 *  has the measured attempts lost. The crowd that they met is in what was measured of them, so it is taken out again: the model adds that
 *  of each order. */
export function calibrated(model: FillModel, measured: Measured, lossFactor = 1): FillModel {
  const { landingFailurePercent: lost } = measured
  return {
    ...model,
    latencyMs: measured.latencyMs ?? model.latencyMs,
    landingFailurePercent: lost === null ? model.landingFailurePercent : Math.min(100, lost / lossFactor),
    autoPriorityFeeLamports: measured.autoPriorityFeeLamports ?? model.autoPriorityFeeLamports,
    venueFeePercent: measured.venueFeePercent ?? model.venueFeePercent,
    serviceFeePercent: measured.serviceFeePercent ?? model.serviceFeePercent,
  }
}

/** As the model takes it: of what goes into the pool, or comes out of it. */
function venuePercent({ costs }: Fill): number {
  return (costs.venueFeeLamports / Math.max(1, costs.tradeLamports)) * 100
}

/** Of what is spent, or of what is left once the venue has its share. */
function servicePercent({ side, tradeLamports, costs }: Fill): number {
  const whole = side === 'buy' ? tradeLamports : costs.tradeLamports - costs.venueFeeLamports
  return (costs.serviceFeeLamports / Math.max(1, whole)) * 100
}

function median(values: readonly number[], least: number): number | null {
  return values.length < least ? null : at(values, 0.5)
}

function at(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] as number
}
