import { type Lamports, lamports, type Millis } from '../../base/units.ts'
import type { Fill, Order } from '../../engine/order.ts'
import type { TradeSide } from '../../market/block.ts'
import type { Attempt } from '../../orders/attempt.ts'
import type { Measured, MeasuredSwap, Moment } from '../../simulation/measurements.ts'
import { FINALITY_MS } from '../../simulation/paper-executor.ts'
import { HALF, type Moments, type Place } from './moments.ts'
import type { RecordedAttempt, RecordedOrder } from './run-record.ts'

/** Longest time, ms, between an attempt of a replay and the matching attempt of the recorded run. Both have the same
 *  bot, mint and side. */
const SAME_WITHIN_MS = 10_000
/** Two times that differ by at most this, ms, count as the same instant, because a replay does not repeat the clock's
 *  delays exactly. */
const SAME_INSTANT_MS = 1_000

/** A property of an attempt that a replay may take from the measurements of the recorded run. */
export type Factor = 'latency' | 'landing' | 'impact' | 'fees'

/** An attempt that only the recorded run or only the replay made. */
export interface Apart {
  readonly of: 'run' | 'replay'
  readonly time: Millis
  readonly mint: string
  readonly side: TradeSide
}

/** Matches the attempts of a replay with those of the recorded run. */
export class AttemptMatches {
  used = 0
  readonly #free = new Map<string, RecordedAttempt[]>()
  readonly #factors: ReadonlySet<Factor>
  readonly #orders = new Map<string, RecordedOrder[]>()
  /** The recorded attempt that corresponds to an attempt of the replay, by the id of the replay's attempt. If two
   *  orders correspond, so do their attempts. */
  readonly #followed = new Map<string, RecordedAttempt>()
  /** Unmatched attempts of the replay by bot, in order. */
  readonly #unmatched = new Map<string, Apart[]>()

  /** `orders`: orders of the recorded run. An order of the replay can follow one of them, which means that it receives
   *  the reports that were recorded for that order. */
  constructor(attempts: readonly RecordedAttempt[], factors: readonly Factor[], orders: Iterable<RecordedOrder> = []) {
    this.#factors = new Set(factors)
    for (const one of orders) addTo(this.#orders, laneOf(one.order), one)
    for (const attempt of attempts) addTo(this.#free, laneOf(attempt), attempt)
  }

  has(factor: Factor): boolean {
    return this.#factors.has(factor)
  }

  /** Returns the order of the recorded run that has the same bot, mint and side and was decided at the same time;
   *  undefined if there is none. */
  follow(own: Order): RecordedOrder | undefined {
    const lane = laneOf(own)
    const orders = this.#orders.get(lane) ?? []
    const distance = ({ order }: RecordedOrder): number => Math.abs(order.time - own.time)
    const [nearest] = [...orders].sort((one, other) => distance(one) - distance(other))
    if (nearest === undefined || distance(nearest) > SAME_INSTANT_MS) return undefined
    orders.splice(orders.indexOf(nearest), 1)
    const free = this.#free.get(lane) ?? []
    const isOwn = ({ orderId }: RecordedAttempt): boolean => orderId === nearest.order.id
    for (const attempt of free.filter(isOwn)) {
      this.#followed.set(attempt.id.replace(nearest.order.id, own.id), attempt)
      this.used++
    }
    this.#free.set(
      lane,
      free.filter((attempt) => !isOwn(attempt)),
    )
    return nearest
  }

  /** Returns the measurements of the recorded attempt that matches this attempt of the replay; undefined if none
   *  matches. `moments`: present if the replay receives the recorded inputs between the same rows as the recorded run
   *  did. */
  of(attempt: Attempt, moments?: Moments): Measured | undefined {
    if (this.#factors.size === 0) return undefined
    const followed = this.#followed.get(attempt.id)
    if (followed !== undefined) return this.#measuredOf(followed, attempt, moments)
    const free = this.#free.get(laneOf(attempt)) ?? []
    const distance = (one: RecordedAttempt): number => distanceMs(one, attempt)
    const nearest = [...free].sort((one, other) => distance(one) - distance(other))[0]
    if (nearest === undefined || distance(nearest) > SAME_WITHIN_MS) {
      const { bot, mint, side, armedAt: time } = attempt
      this.#unmatched.set(bot, [...(this.#unmatched.get(bot) ?? []), { of: 'replay', time, mint, side }])
      return undefined
    }
    free.splice(free.indexOf(nearest), 1)
    this.used++
    return this.#measured(nearest, attempt, moments)
  }

  /** Whether the recorded attempt that corresponds to this attempt of the replay was filled. */
  fills(attemptId: string): boolean {
    return this.#followed.get(attemptId)?.landing === 'filled'
  }

  /** Returns the measurements of the recorded attempt that corresponds to an attempt of the replay. The replay computes
   *  the fill right before the position at which the recorded run received the report of the fill. */
  #measuredOf(run: RecordedAttempt, attempt: Attempt, moments: Moments | undefined): Measured {
    const { seen } = run
    const told: Moment | undefined =
      seen === null ? NEVER : moments && ((then) => moments.at(seen.seq - HALF, then) !== undefined)
    return { ...this.#measured(run, attempt, moments), told, final: NEVER }
  }

  /** Returns, after the replay, the first attempt of a bot that only the recorded run or only the replay made;
   *  undefined if all attempts match. From this attempt on, the replay differs from the recorded run. */
  apart(bot: string): Apart | undefined {
    const left = [...this.#free.values()].flat().filter((one) => one.bot === bot)
    const all = [
      ...(this.#unmatched.get(bot) ?? []),
      ...left.map(({ sentAt: time, mint, side }): Apart => ({ of: 'run', time, mint, side })),
    ]
    return all.sort((one, other) => one.time - other.time)[0]
  }

  #measured(run: RecordedAttempt, attempt: Attempt, moments: Moments | undefined): Measured {
    const has = (factor: Factor): boolean => this.has(factor)
    const { sentAt, seen, told, final, landing, code, fill } = run
    if (seen === null || told === null || landing === null) return has('landing') ? { landing: 'open' } : {}
    const isSame = distanceMs(run, attempt) <= SAME_INSTANT_MS
    // A transaction that never landed is reported late. The time until its report is not the latency of the order, so
    // it is used only if the replay also takes recorded landings.
    const hasLanded = landing === 'filled' || landing === 'reverted'
    // A failure may be reported only after finality; a fill is reported when it is first seen.
    const finalMs = landing === 'reverted' && seen === told ? FINALITY_MS : 0
    const at = (place: Place): Moment | undefined =>
      moments && isSame ? (then) => moments.at(place.seq, then) !== undefined : undefined
    const fee = fill?.feeLamports ?? run.feeLamports
    return {
      ...(has(hasLanded ? 'latency' : 'landing') && {
        toldAfterMs: Math.max(0, seen.time - (isSame ? attempt.armedAt : sentAt) - finalMs),
        told: finalMs === 0 ? at(seen) : undefined,
        final: final === null ? moments && NEVER : at(final),
      }),
      ...(has('latency') && fill !== null && isSame && { filled: { time: fill.time, slot: fill.slot } }),
      ...(has('landing') && { landing, ...(code !== '' && { code }) }),
      ...(has('impact') && fill !== null && { swap: swapOf(fill, run.orderedLamports) }),
      ...(has('fees') && fee !== null && { feeLamports: lamports(fee) }),
      ...(has('fees') && fill !== null && { rentLamports: fill.rentLamports }),
    }
  }
}

/** Time, ms, between the sending of a recorded attempt and of an attempt of the replay. The recorded attempt was sent
 *  at some time between its decision and its first report. If the replay sent its attempt in this interval, the result
 *  is 0. */
function distanceMs({ decidedAt, sentAt }: RecordedAttempt, { armedAt }: Attempt): number {
  return Math.max(0, decidedAt - armedAt, armedAt - sentAt)
}

function swapOf({ tokens, tradeLamports }: Fill, orderedLamports: Lamports | null): MeasuredSwap {
  return { tokens, tradeLamports, orderedLamports }
}

/** A position that the replay never reaches, because the recorded run ended before it. */
const NEVER: Moment = () => true

function addTo<T>(lanes: Map<string, T[]>, lane: string, one: T): void {
  const there = lanes.get(lane)
  if (there === undefined) lanes.set(lane, [one])
  else there.push(one)
}

function laneOf({ bot, mint, side }: Pick<RecordedAttempt, 'bot' | 'mint' | 'side'>): string {
  return `${bot}|${mint}|${side}`
}
