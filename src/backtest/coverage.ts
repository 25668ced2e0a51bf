import { ExitCode, SluiceError } from '../base/errors.ts'
import type { Millis } from '../base/units.ts'
import { keysOf } from '../config/accounts.ts'
import type { Config } from '../config/config.ts'
import type { FeedStatus } from '../engine/messages.ts'
import type { Market } from '../journal/tape/market-tape.ts'
import { dateTimeOf } from '../runtime/time-text.ts'

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

/** A feed comes back within a minute where it can: a longer gap is a pause, as if the recorder had been ended and
 *  started again. */
const PAUSE_MS = 600_000

/** The coverage of each key. Time before a segment's feed was first live counts as not recorded, as do pauses and the
 *  time between segments. */
export function coverageOf(keys: readonly string[], events: Iterable<FeedEvent>): KeyCoverage[] {
  const watches = keys.map((key) => new KeyWatch(key))
  for (const event of events) for (const watch of watches) watch.take(event)
  return watches
}

/** Whether these keys bring what another would: trades of all tokens are those of one. */
function bring(keys: readonly string[], key: string): boolean {
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

/** What a tape covers of what the bots need, and in words what it lacks. Throws SluiceError (exit 2) where there is no
 *  bot or no row, and, unless `partial`, where something is lacking. */
export function tapeCoverage(
  { bots, wallet }: Pick<Config, 'bots' | 'wallet'>,
  market: Market,
  partial: boolean,
): { coverage: KeyCoverage[]; lacks: string[] } {
  if (bots.length === 0) throw new SluiceError('there is no bot in the configuration', ExitCode.usage)
  if (market.rows === 0) throw new SluiceError('the tape is empty: no market row was recorded', ExitCode.usage)
  const coverage = coverageOf(keysOf({ bots, wallet }), feedEvents(market))
  const lacks = coverage.flatMap(lackOf)
  if (!partial) refuseLacks(lacks)
  return { coverage, lacks }
}

/** Throws SluiceError (exit 2) where something is lacking. */
export function refuseLacks(lacks: readonly string[]): void {
  if (lacks.length === 0) return
  throw new SluiceError(
    `the tape does not cover what the bots need; --partial goes on all the same\n${lacks.map((lack) => `  ${lack}`).join('\n')}`,
    ExitCode.usage,
  )
}

function* feedEvents(market: Market): Generator<FeedEvent, void, undefined> {
  for (const item of market.history()) {
    if (item.kind === 'news') yield item.news.kind === 'feed' ? { ...item.news, time: item.time } : item.news
    else
      yield {
        kind: item.kind,
        segment: item.stretch.segment,
        time: item.kind === 'began' ? item.stretch.from : (item.stretch.stoppedAt ?? item.stretch.to),
      }
  }
}

/** Live, a key is confirmed a moment after it is wanted. */
const GRACE_MS = 10000

/** Single mints that the bots want, against those that were being recorded then: a tape of chosen tokens knows only
 *  what its own bot watched. */
export class WatchedMints {
  /** Wanted at any time. */
  readonly wanted = new Set<string>()
  /** Wanted while they were not being recorded. */
  readonly absent = new Set<string>()
  readonly #missingSince = new Map<string, Millis>()
  #wants: readonly string[] = []
  #recorded: readonly string[] | undefined

  /** Wanted now. */
  get now(): string[] {
    return this.#wants.filter((key) => !FIREHOSES.includes(key))
  }

  /** The whole set of keys from now on. It changes with nearly every order, by a key or two: those that stay keep their
   *  order, so that what is gone and what is new shows in one pass. */
  want(time: Millis, keys: readonly string[]): void {
    const before = this.#wants
    this.#wants = keys
    let same = 0
    for (const key of before) {
      if (key === keys[same]) same++
      else if (this.#missingSince.has(key) && !keys.includes(key)) this.#found(key, time)
    }
    for (let added = same; added < keys.length; added++) {
      const key = keys[added] as string
      if (FIREHOSES.includes(key)) continue
      this.wanted.add(key)
      this.#look(key, time)
    }
  }

  /** The keys recorded from now on; undefined while nothing is, which is a gap and told as one. */
  record(time: Millis, keys: readonly string[] | undefined): void {
    this.#recorded = keys
    for (const mint of this.#missingSince.keys()) if (this.#isRecorded(mint)) this.#found(mint, time)
    for (const mint of this.now) this.#look(mint, time)
  }

  end(time: Millis): void {
    for (const mint of this.#missingSince.keys()) this.#found(mint, time)
  }

  #look(mint: string, time: Millis): void {
    if (!this.#isRecorded(mint) && !this.#missingSince.has(mint)) this.#missingSince.set(mint, time)
  }

  #isRecorded(mint: string): boolean {
    return this.#recorded === undefined || bring(this.#recorded, mint)
  }

  #found(mint: string, time: Millis): void {
    if (time - (this.#missingSince.get(mint) as Millis) > GRACE_MS) this.absent.add(mint)
    this.#missingSince.delete(mint)
  }
}
