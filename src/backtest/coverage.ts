import type { FeedStatus } from '../core/messages.ts'
import type { Millis } from '../core/units.ts'
import { dateTimeOf } from './time.ts'

/** What a recording tells of its feed, in order. Segment 0 is an import. */
export type FeedEvent =
  | { readonly kind: 'began' | 'ended'; readonly segment: number; readonly time: Millis }
  | { readonly kind: 'feed'; readonly time: Millis; readonly status: FeedStatus; readonly confirmed: readonly string[] }
  | { readonly kind: 'gap'; readonly from: Millis; readonly to: Millis; readonly keys: readonly string[] }

/** A segment from the moment its feed was first live, and how much of that a subscription key was there for. */
export interface SegmentCoverage {
  readonly segment: number
  readonly from: Millis
  readonly to: Millis
  /** The key was confirmed at some time. */
  readonly isPresent: boolean
  /** All of it but pauses. */
  readonly recordedMs: number
  /** Confirmed, live and no gap. */
  readonly coveredMs: number
}

export interface KeyCoverage {
  readonly key: string
  readonly segments: readonly SegmentCoverage[]
}

export const FIREHOSES = ['trades', 'newTokens', 'priceUpdates']
/** With less of a key than this, a bot sees another market than the one it would have traded on. */
const LEAST_SHARE = 0.95

/** A feed comes back within a minute where it can: a longer gap is a pause, as if the recorder had been ended and started again. */
const PAUSE_MS = 600_000

/** The coverage of each key. Time before a segment's feed was first live counts as not recorded, as do pauses and the time between
 *  segments. */
export function coverageOf(keys: readonly string[], events: Iterable<FeedEvent>): KeyCoverage[] {
  const watches = keys.map((key) => new KeyWatch(key))
  for (const event of events) for (const watch of watches) watch.take(event)
  return watches
}

/** Whether these keys bring what another would: trades of all tokens are those of one. */
export function bring(keys: readonly string[], key: string): boolean {
  return keys.includes(key) || (!FIREHOSES.includes(key) && keys.includes('trades'))
}

/** The share of the recorded time that a key was there for, 0 to 1. */
export function shareOf({ segments }: KeyCoverage): number {
  const sum = (of: (one: SegmentCoverage) => number): number => segments.reduce((total, one) => total + of(one), 0)
  const recordedMs = sum((one) => one.recordedMs)
  if (recordedMs > 0) return sum((one) => one.coveredMs) / recordedMs
  return segments.some(({ isPresent }) => isPresent) ? 1 : 0
}

/** What is missing, in words; nothing where a bot with this key sees what it would have seen. */
export function lackOf(coverage: KeyCoverage): string[] {
  const { key, segments } = coverage
  if (segments.length === 0) return [`${key}: the feed was never live`]
  const absent = segments.filter(({ isPresent }) => !isPresent)
  if (absent.length > 0)
    return absent.map(({ segment, from, to }) => `${key}: not in ${nameOf(segment)}, ${spanOf(from, to)}`)
  const missing = 1 - shareOf(coverage)
  return missing > 1 - LEAST_SHARE ? [`${key}: gaps are ${(missing * 100).toFixed(1)} % of the recorded time`] : []
}

export function spanOf(from: Millis, to: Millis): string {
  return `${dateTimeOf(from)} to ${dateTimeOf(to)} UTC`
}

function nameOf(segment: number): string {
  return segment === 0 ? 'the import' : `segment ${segment}`
}

/** Follows one key through a recording. */
class KeyWatch implements KeyCoverage {
  readonly key: string
  readonly segments: SegmentCoverage[] = []
  #segment = 0
  /** When the feed was first live in this segment. */
  #liveAt: Millis | undefined
  /** Since when the key has been there without a break. */
  #since: Millis | undefined
  #isPresent = false
  #pausedMs = 0
  #stretches: (readonly [Millis, Millis])[] = []

  constructor(key: string) {
    this.key = key
  }

  take(event: FeedEvent): void {
    switch (event.kind) {
      case 'began':
        this.#segment = event.segment
        this.#liveAt = undefined
        this.#since = undefined
        this.#isPresent = false
        this.#pausedMs = 0
        this.#stretches = []
        break
      case 'feed':
        this.#feed(event.time, event.status === 'live', bring(event.confirmed, this.key))
        break
      case 'gap':
        if (bring(event.keys, this.key)) this.#cut(event.from, event.to)
        break
      case 'ended':
        this.#end(event.time)
    }
  }

  #feed(time: Millis, isLive: boolean, isConfirmed: boolean): void {
    if (isLive) this.#liveAt ??= time
    if (isLive && isConfirmed) {
      this.#isPresent = true
      this.#since ??= time
    } else if (this.#since !== undefined) {
      this.#stretches.push([this.#since, time])
      this.#since = undefined
    }
  }

  /** A gap is told when it is over, and begins when the feed was last heard: before it was known to be down. */
  #cut(from: Millis, to: Millis): void {
    if (to - from >= PAUSE_MS && this.#liveAt !== undefined) this.#pausedMs += to - Math.max(from, this.#liveAt)
    const since = this.#since
    if (since !== undefined && since < to) {
      this.#stretches.push([since, to])
      this.#since = to
    }
    this.#stretches = this.#stretches.flatMap(([start, end]) => {
      if (end <= from || start >= to) return [[start, end] as const]
      return (
        [
          [start, Math.min(end, from)],
          [Math.max(start, to), end],
        ] as const
      ).filter(([a, b]) => a < b)
    })
  }

  #end(time: Millis): void {
    if (this.#since !== undefined) this.#stretches.push([this.#since, time])
    if (this.#liveAt === undefined) return
    this.segments.push({
      segment: this.#segment,
      from: this.#liveAt,
      to: time,
      isPresent: this.#isPresent,
      recordedMs: time - this.#liveAt - this.#pausedMs,
      coveredMs: this.#stretches.reduce((sum, [start, end]) => sum + end - start, 0),
    })
  }
}
