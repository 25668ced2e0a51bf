import type { Timer } from './money.ts'
import type { Stage } from './stage.ts'
import type { Millis } from './units.ts'

/** The engine's timers: rows in the journal, so they survive a restart; one that passed meanwhile fires once. */
export class Timers {
  readonly #stage: Stage
  readonly #byId = new Map<number, Timer>()
  readonly #ids = new Map<string, number>()
  #next = 1

  constructor(stage: Stage) {
    this.#stage = stage
  }

  /** Takes over what was set before a restart and asks for each again. */
  restore(timers: readonly Timer[], next: number): void {
    this.#next = next
    for (const timer of timers) {
      this.#keep(timer)
      this.#stage.emit({ kind: 'timer', timer })
    }
  }

  find(bot: string, owner: Timer['owner'], name: string): Timer | undefined {
    const id = this.#ids.get(keyOf(bot, owner, name))
    return id === undefined ? undefined : this.#byId.get(id)
  }

  /** Sets a timer; one of the same name is replaced. `everyMs` 0 fires once. */
  set(bot: string, owner: Timer['owner'], name: string, at: Millis, everyMs: number): void {
    this.clear(bot, owner, name)
    const timer: Timer = { id: this.#next++, bot, owner, name, at, everyMs }
    this.#keep(timer)
    this.#stage.emit({ kind: 'timer', timer })
  }

  clear(bot: string, owner: Timer['owner'], name: string): void {
    const timer = this.find(bot, owner, name)
    if (timer === undefined) return
    this.#drop(timer)
    this.#stage.emit({ kind: 'timerCleared', id: timer.id })
  }

  /** The timer that fired, now gone or set again; undefined when it was cleared meanwhile. */
  fire(id: number): Timer | undefined {
    const timer = this.#byId.get(id)
    if (timer === undefined) return undefined
    const { bot, owner, name, at, everyMs } = timer
    const next = at + everyMs
    if (everyMs > 0) this.set(bot, owner, name, next > this.#stage.now ? next : this.#stage.now + everyMs, everyMs)
    else this.clear(bot, owner, name)
    return timer
  }

  #keep(timer: Timer): void {
    this.#byId.set(timer.id, timer)
    this.#ids.set(keyOf(timer.bot, timer.owner, timer.name), timer.id)
  }

  #drop(timer: Timer): void {
    this.#byId.delete(timer.id)
    this.#ids.delete(keyOf(timer.bot, timer.owner, timer.name))
  }
}

function keyOf(bot: string, owner: Timer['owner'], name: string): string {
  return `${bot}|${owner}|${name}`
}
