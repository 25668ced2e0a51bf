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
  readonly #missingSince = new Map<string, Millis>()
  #wants: readonly string[] = []
  #recorded: readonly string[] | undefined

  /** Wanted now. */
  get now(): string[] {
    return this.#wants.filter((key) => !FIREHOSES.includes(key))
  }

  /** The whole set of keys from now on. It changes with nearly every order, by a key or two: those that stay keep their order, so that what
   *  is gone and what is new shows in one pass. */
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
