import type { Millis } from '../core/units.ts'
import { bring, FIREHOSES } from './coverage.ts'

/** Live, a key is confirmed a moment after it is wanted. */
const GRACE_MS = 10_000

/** Single mints that the bots want, against those that were being recorded then: a tape of chosen tokens knows only what its own bot
 *  watched. */
export class WatchedMints {
  /** Wanted at any time. */
  readonly wanted = new Set<string>()
  /** Wanted while they were not being recorded. */
  readonly absent = new Set<string>()
  /** Wanted now. */
  now: readonly string[] = []
  #recorded: readonly string[] | undefined
  readonly #missingSince = new Map<string, Millis>()

  /** The whole set of keys from now on. */
  want(time: Millis, keys: readonly string[]): void {
    this.now = keys.filter((key) => !FIREHOSES.includes(key))
    for (const mint of this.now) this.wanted.add(mint)
    this.#compare(time)
  }

  /** The keys recorded from now on; undefined while nothing is, which is a gap and told as one. */
  record(time: Millis, keys: readonly string[] | undefined): void {
    this.#recorded = keys
    this.#compare(time)
  }

  end(time: Millis): void {
    for (const mint of this.#missingSince.keys()) this.#found(mint, time)
  }

  #compare(time: Millis): void {
    const recorded = this.#recorded
    const missing = new Set(recorded === undefined ? [] : this.now.filter((mint) => !bring(recorded, mint)))
    for (const mint of this.#missingSince.keys()) if (!missing.has(mint)) this.#found(mint, time)
    for (const mint of missing) if (!this.#missingSince.has(mint)) this.#missingSince.set(mint, time)
  }

  #found(mint: string, time: Millis): void {
    if (time - (this.#missingSince.get(mint) as Millis) > GRACE_MS) this.absent.add(mint)
    this.#missingSince.delete(mint)
  }
}
