import { ExitCode, SluiceError } from '../base/errors.ts'
import type { Millis } from '../base/units.ts'
import { keysOf } from '../config/accounts.ts'
import type { Config } from '../config/config.ts'
import { FIREHOSES } from '../engine/bots/subscription-router.ts'
import type { FeedStatus } from '../engine/messages.ts'
import type { Market } from '../journal/tape/market-tape.ts'
import { dateTimeOf } from '../runtime/time-text.ts'
import { SourceData } from './source-data.ts'

/** An event of a recorded feed. The events are in the order of time. `segment`: number of the process that recorded the
 *  event; 0 for an import. */
export type FeedEvent =
  | { readonly kind: 'began' | 'ended'; readonly segment: number; readonly time: Millis }
  | { readonly kind: 'feed'; readonly time: Millis; readonly status: FeedStatus; readonly confirmed: readonly string[] }
  | { readonly kind: 'gap'; readonly from: Millis; readonly to: Millis; readonly keys: readonly string[] }

/** How long one subscription key was recorded in a segment (one start of a recording process), beginning with the first
 *  time that the segment's feed was live. */
export interface SegmentCoverage {
  readonly segment: number
  readonly from: Millis
  readonly to: Millis
  /** Whether the key was confirmed at some time. */
  readonly isPresent: boolean
  /** Duration of the recording without its pauses, ms. */
  readonly recordedMs: number
  /** Duration, ms, for which the key was confirmed and the feed was live without a gap. */
  readonly coveredMs: number
}

export interface KeyCoverage {
  readonly key: string
  readonly segments: readonly SegmentCoverage[]
}

/** Smallest share of the recorded time that a subscription key must cover. If it covers less, a bot would see a market
 *  that differs from the real one. */
const LEAST_SHARE = 0.95

/** Length from which a gap counts as a pause of the recording. A feed reconnects within a minute if this is
 *  possible. */
const PAUSE_MS = 600_000

/** Computes the coverage of each key. The recorded time does not include the time before a segment's feed was first
 *  live, pauses, and the time between segments. */
export function coverageOf(keys: readonly string[], events: Iterable<FeedEvent>): KeyCoverage[] {
  const watches = keys.map((key) => new KeyWatch(key))
  for (const event of events) for (const watch of watches) watch.take(event)
  return watches
}

/** Whether a subscription to `keys` delivers the data of `key`. The key for the trades of all tokens includes the
 *  trades of each token. */
function bring(keys: readonly string[], key: string): boolean {
  return keys.includes(key) || (!FIREHOSES.includes(key) && keys.includes('trades'))
}

/** Share of the recorded time that a key covers, 0 to 1. */
export function shareOf({ segments }: KeyCoverage): number {
  const sum = (of: (one: SegmentCoverage) => number): number => segments.reduce((total, one) => total + of(one), 0)
  const recordedMs = sum((one) => one.recordedMs)
  if (recordedMs > 0) return sum((one) => one.coveredMs) / recordedMs
  return segments.some(({ isPresent }) => isPresent) ? 1 : 0
}

/** Describes the missing data; empty if the recording contains the data that a bot with this key would have
 *  received. */
export function lackOf(coverage: KeyCoverage): string[] {
  const { key, segments } = coverage
  if (segments.length === 0) return [`${key}: the feed was never live`]
  const absent = segments.filter(({ isPresent }) => !isPresent)
  if (absent.length > 0)
    return absent.map(({ segment, from, to }) => `${key}: not recorded in ${nameOf(segment)}, ${spanOf(from, to)}`)
  const missing = 1 - shareOf(coverage)
  return missing > 1 - LEAST_SHARE ? [`${key}: gaps are ${(missing * 100).toFixed(1)} % of the recorded time`] : []
}

export function spanOf(from: Millis, to: Millis): string {
  return `${dateTimeOf(from)} to ${dateTimeOf(to)} UTC`
}

function nameOf(segment: number): string {
  return segment === 0 ? 'the import' : `segment ${segment}`
}

/** Computes when a recording covers one subscription key of the feed. */
class KeyWatch implements KeyCoverage {
  readonly key: string
  readonly segments: SegmentCoverage[] = []
  #segment = 0
  /** First time that the feed was live in this segment; undefined until then. */
  #liveAt: Millis | undefined
  /** Start of the current uninterrupted coverage; undefined while the key is not covered. */
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

  /** Subtracts a gap from the coverage. A gap is recorded when it ends. It begins at the last time at which the feed
   *  was certainly live, which is before Sluice detected the loss. */
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

/** Returns the coverage of the subscription keys that the bots need, and a description of missing data. Throws
 *  SluiceError (exit 2) if there are no bots or rows. Also throws it if data is missing, unless `partial` is true. */
export function tapeCoverage(
  config: Pick<Config, 'bots' | 'wallets'>,
  market: Market,
  partial: boolean,
): { coverage: KeyCoverage[]; lacks: string[] } {
  const { bots } = config
  if (bots.length === 0) throw new SluiceError('the configuration has no bot', ExitCode.usage)
  if (market.rows === 0) throw new SluiceError('the tape is empty: no market row was recorded', ExitCode.usage)
  const coverage = coverageOf(keysOf(config), feedEvents(market))
  const lacks = [...coverage.flatMap(lackOf), ...new SourceData(bots, market).lacks]
  if (!partial) refuseLacks(lacks)
  return { coverage, lacks }
}

/** Throws SluiceError (exit 2) if data is missing. */
export function refuseLacks(lacks: readonly string[]): void {
  if (lacks.length === 0) return
  throw new SluiceError(
    `the tape lacks data that the bots need; to run anyway, add --partial\n${lacks.map((lack) => `  ${lack}`).join('\n')}`,
    ExitCode.usage,
  )
}

function* feedEvents(market: Market): Generator<FeedEvent, void, undefined> {
  for (const item of market.history()) {
    if (item.kind === 'news') {
      if (item.news.kind === 'feed') yield { ...item.news, time: item.time }
      else if (item.news.kind === 'gap') yield item.news
    } else
      yield {
        kind: item.kind,
        segment: item.stretch.segment,
        time: item.kind === 'began' ? item.stretch.from : (item.stretch.stoppedAt ?? item.stretch.to),
      }
  }
}

/** Delay in ms within which a live subscription is confirmed. */
const GRACE_MS = 10000

/** Compares the mints that the bots watch or hold with the mints that were recorded at the same time. A recording of
 *  single tokens contains only the tokens that the recording bot watched. */
export class WatchedMints {
  /** Mints that a bot watched or held at any time. */
  readonly wanted = new Set<string>()
  /** Mints that a bot watched or held while they were not recorded. */
  readonly absent = new Set<string>()
  readonly #missingSince = new Map<string, Millis>()
  #wants: readonly string[] = []
  #recorded: readonly string[] | undefined

  /** Mints that the bots watch or hold now. */
  get now(): string[] {
    return this.#wants.filter((key) => !FIREHOSES.includes(key))
  }

  /** Replaces the list of subscription keys that the bots need. A new order usually adds or removes only one or two
   *  keys, and the sequence of the other keys stays the same, so one pass finds the changes. */
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

  /** Replaces the list of recorded keys; `keys` is undefined while nothing is recorded. Times at which nothing is
   *  recorded are reported as gaps, so no mint counts as absent then. */
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
