import type { Timer } from './money.ts'
import type { Position } from './position.ts'
import type { Stage } from './stage.ts'
import type { Millis } from './units.ts'

type Holder = Pick<Position, 'bot' | 'mint'>

/** What exits wait for in a mint: the end of the longest hold, the end of a silence, or another try; due: a conditional order, by its id in
 *  place of the mint. */
export type ExitTimer = 'hold' | 'quiet' | 'retry' | 'due'

/** The engine's timers: rows in the journal, so they survive a restart; one that passed meanwhile fires once. */
export class Timers {
  readonly #stage: Stage
  readonly #byId = new Map<number, Timer>()
  /** Those of strategies by bot and name, those of exits by bot and mint: they are asked for with every order. */
  readonly #byName = new Map<string, Map<string, Timer>>()
  readonly #exits: Record<ExitTimer, Map<string, Map<string, Timer>>> = {
    hold: new Map(),
    quiet: new Map(),
    retry: new Map(),
    due: new Map(),
  }
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

  /** A strategy's timer. */
  find(bot: string, name: string): Timer | undefined {
    return this.#byName.get(bot)?.get(name)
  }

  findExit({ bot, mint }: Holder, what: ExitTimer): Timer | undefined {
    return this.#exits[what].get(bot)?.get(mint)
  }

  /** Sets a strategy's timer; one of the same name is replaced. `everyMs` 0 fires once. */
  set(bot: string, name: string, at: Millis, everyMs: number): void {
    this.clear(bot, name)
    this.#begin({ id: this.#next++, bot, owner: 'strategy', name, at, everyMs })
  }

  setExit(holder: Holder, what: ExitTimer, at: Millis): void {
    this.clearExit(holder, what)
    const { bot, mint } = holder
    this.#begin({ id: this.#next++, bot, owner: 'exits', name: `${what}:${mint}`, at, everyMs: 0 })
  }

  clear(bot: string, name: string): void {
    this.#end(this.find(bot, name))
  }

  clearExit(holder: Holder, what: ExitTimer): void {
    this.#end(this.findExit(holder, what))
  }

  /** The timer that fired, now gone or set again; undefined when it was cleared meanwhile. */
  fire(id: number): Timer | undefined {
    const timer = this.#byId.get(id)
    if (timer === undefined) return undefined
    const { bot, name, at, everyMs } = timer
    const next = at + everyMs
    if (everyMs > 0) this.set(bot, name, next > this.#stage.now ? next : this.#stage.now + everyMs, everyMs)
    else this.#end(timer)
    return timer
  }

  #begin(timer: Timer): void {
    this.#keep(timer)
    this.#stage.emit({ kind: 'timer', timer })
  }

  #end(timer: Timer | undefined): void {
    if (timer === undefined) return
    const [all, key] = this.#placeOf(timer)
    this.#byId.delete(timer.id)
    all.get(timer.bot)?.delete(key)
    this.#stage.emit({ kind: 'timerCleared', id: timer.id })
  }

  #keep(timer: Timer): void {
    const [all, key] = this.#placeOf(timer)
    const own = all.get(timer.bot)
    this.#byId.set(timer.id, timer)
    if (own === undefined) all.set(timer.bot, new Map([[key, timer]]))
    else own.set(key, timer)
  }

  #placeOf(timer: Timer): [Map<string, Map<string, Timer>>, string] {
    const exit = exitTimerOf(timer)
    return exit === undefined ? [this.#byName, timer.name] : [this.#exits[exit.what], exit.mint]
  }
}

/** What exits wait for by this timer, and where; undefined for one of a strategy's. */
export function exitTimerOf({ owner, name }: Timer): { what: ExitTimer; mint: string } | undefined {
  if (owner !== 'exits') return undefined
  const [what, mint] = name.split(':') as [ExitTimer, string]
  return { what, mint }
}
