import type { Cancel, Clock } from '../../src/base/machine.ts'
import type { Draws } from '../../src/sandbox/draws.ts'

/**
 * The event loop of one process. While it is blocked, no timer fires. Then all due timers fire, in any order even if
 * their due times differ, as timers of Node with different delays do.
 */
export class SimulatedLoop {
  readonly #clock: Clock
  readonly #draws: Draws
  #standsUntil = Number.NEGATIVE_INFINITY
  #late: (() => void)[] = []

  constructor(clock: Clock, draws: Draws) {
    this.#clock = clock
    this.#draws = draws
  }

  after(ms: number, run: () => void): Cancel {
    let isOver = false
    const once = (): void => {
      if (isOver) return
      isOver = true
      run()
    }
    const cancel = this.#clock.after(ms, () => {
      if (this.#clock.now() < this.#standsUntil) this.#late.push(once)
      else once()
    })
    return () => {
      isOver = true
      cancel()
    }
  }

  stall(ms: number): void {
    const until = this.#clock.now() + ms
    if (until <= this.#standsUntil) return
    this.#standsUntil = until
    this.#clock.after(ms, () => this.#goOn(until))
  }

  #goOn(until: number): void {
    if (until < this.#standsUntil) return
    const late = this.#late
    this.#late = []
    while (late.length > 0) late.splice(this.#draws.integer(late.length), 1)[0]?.()
  }
}
