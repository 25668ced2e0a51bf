import type { Clock } from '../core/ports.ts'
import { isUnsellable, type Position, sellingText } from '../core/position.ts'
import type { Millis } from '../core/units.ts'
import type { BotResult } from './bot-result.ts'
import type { Equity } from './equity.ts'

const SAMPLES = 2_000

interface Sampled {
  readonly result: BotResult
  readonly startLamports: number
  readonly equity: Equity
}

/** Looks at what every bot is worth, in even steps of the tape's time. Looking changes nothing. What was still under way when the tape ended
 *  counts at its end: nothing is known of the time behind it. */
export class EquitySampler {
  readonly #bots: readonly Sampled[]
  readonly #clock: Clock
  readonly #worth: (position: Position) => number
  #to: Millis = 0

  /** `worth`: what selling a position now would bring, lamports. */
  constructor(bots: readonly Sampled[], clock: Clock, worth: (position: Position) => number) {
    this.#bots = bots
    this.#clock = clock
    this.#worth = worth
  }

  /** From now on, until `to`. */
  start(to: Millis): void {
    this.#to = to
    const stepMs = Math.max(1, Math.ceil((to - this.#clock.now()) / SAMPLES))
    const next = (): void => {
      this.#sample()
      if (this.#clock.now() < to) this.#clock.after(stepMs, next)
    }
    next()
  }

  /** Nothing happens any more: what is left is worth what it is worth. */
  end(): void {
    this.#sample()
    for (const { result } of this.#bots) {
      result.log?.trips.mark((mint) => {
        const position = result.positions.get(mint)
        const unsold = position === undefined || !isUnsellable(position) ? '' : sellingText(position)
        return { lamports: position === undefined ? 0 : this.#worth(position), unsold }
      })
    }
  }

  #sample(): void {
    const time = Math.min(this.#clock.now(), this.#to)
    for (const { result, startLamports, equity } of this.#bots) {
      let value = startLamports + result.walletLamports
      for (const position of result.positions.values()) value += this.#worth(position)
      equity.sample(time, value)
    }
  }
}
