import type { Millis } from '../base/units.ts'
import { ByMint } from './accounting/by-mint.ts'
import type { Position } from './accounting/position.ts'
import type { Stage } from './ports.ts'
import type { Timer } from './recovered-money.ts'

type Holder = Pick<Position, 'bot' | 'mint'>

/** What exits wait for in a mint: the end of the longest hold, the end of a silence, the next reading of its pool, or
 *  another try; due: a conditional order, by its id in place of the mint. */
export type ExitTimer = 'hold' | 'quiet' | 'poll' | 'retry' | 'due'

/** A strategy's timer that fires more often than this is refused. */
export const SHORTEST_TIMER_MS = 100
/** Timers of one strategy at a time. */
export const MOST_TIMERS = 1_000

/** What a strategy asks for. */
type TimerRequest = Pick<Timer, 'bot' | 'name' | 'at' | 'everyMs' | 'strategy' | 'declared'>

/** The engine's timers: rows in the journal, so they survive a restart; one that passed meanwhile fires once.
 *
 *  A timer that repeats is said once, when it is set. Its firings are inputs and say nothing more: when it fires next follows from its first
 *  time and from its last firing, by `nextFiring`, for the clock, for the journal and for a replay alike. */
export class Timers {
  readonly #stage: Stage
  readonly #byId = new Map<number, Timer>()
  /** Those of strategies by bot and name. */
  readonly #byName = new Map<string, Map<string, Timer>>()
  /** Those of exits by bot, in place of the account, and mint: they are asked for with every order. */
  readonly #exits = new ByMint<ExitTimers>()
  #next = 1

  constructor(stage: Stage) {
    this.#stage = stage
  }

  /** Takes over what was set before a restart and asks for each again. A strategy's timer ends here when its bot has
   *  another strategy now, or is not configured any more, and when no strategy may set such a timer (an older Sluice
   *  allowed 1 ms). `strategyOf`: what a bot runs. */
  restore(timers: readonly Timer[], next: number, strategyOf: (bot: string) => string | undefined): void {
    this.#next = next
    for (const restored of timers) {
      const { fired: _past, ...timer } = restored
      const exit = exitTimerOf(timer)
      if (exit === undefined && !this.#mayGoOn(timer, strategyOf(timer.bot))) {
        this.#stage.emit({ kind: 'timerCleared', id: timer.id })
        continue
      }
      const due = { ...timer, at: dueOf(restored) }
      if (exit === undefined) this.#keep(due)
      else this.#timersOf(timer.bot, exit.mint)[exit.what] = due
      this.#begin(due)
    }
  }

  #mayGoOn({ bot, everyMs, strategy }: Timer, runs: string | undefined): boolean {
    const isItsOwn = runs !== undefined && (strategy ?? runs) === runs
    return isItsOwn && (everyMs === 0 || everyMs >= SHORTEST_TIMER_MS) && this.countOf(bot) < MOST_TIMERS
  }

  /** A strategy's timer. */
  find(bot: string, name: string): Timer | undefined {
    return this.#byName.get(bot)?.get(name)
  }

  findExit({ bot, mint }: Holder, what: ExitTimer): Timer | undefined {
    return this.#exits.get({ account: bot, mint })?.[what]
  }

  /** How many timers a strategy has. */
  countOf(bot: string): number {
    return this.#byName.get(bot)?.size ?? 0
  }

  /** Sets a strategy's timer; one of the same name is replaced. `everyMs` 0 fires once. */
  set({ bot, name, ...more }: TimerRequest): void {
    this.clear(bot, name)
    const timer: Timer = { id: this.#next++, bot, owner: 'strategy', name, ...more }
    this.#keep(timer)
    this.#begin(timer)
  }

  setExit(holder: Holder, what: ExitTimer, at: Millis): void {
    this.clearExit(holder, what)
    const { bot, mint } = holder
    const timer: Timer = { id: this.#next++, bot, owner: 'exits', name: `${what}:${mint}`, at, everyMs: 0 }
    this.#timersOf(bot, mint)[what] = timer
    this.#begin(timer)
  }

  clear(bot: string, name: string): void {
    const timer = this.find(bot, name)
    if (timer === undefined) return
    this.#byName.get(bot)?.delete(name)
    this.#end(timer)
  }

  /** Ends the timers of a strategy; `which`: default all. */
  clearAll(bot: string, which: (timer: Timer) => boolean = () => true): void {
    for (const timer of [...(this.#byName.get(bot)?.values() ?? [])]) if (which(timer)) this.clear(bot, timer.name)
  }

  clearExit({ bot, mint }: Holder, what: ExitTimer): void {
    const timers = this.#exits.get({ account: bot, mint })
    const timer = timers?.[what]
    if (timers === undefined || timer === undefined) return
    timers[what] = undefined
    if (isOver(timers)) this.#exits.delete({ account: bot, mint })
    this.#end(timer)
  }

  /** All that exits wait for there, conditional orders apart. */
  clearExits(holder: Holder): void {
    if (!this.#exits.has({ account: holder.bot, mint: holder.mint })) return
    for (const what of ['hold', 'quiet', 'poll', 'retry'] as const) this.clearExit(holder, what)
  }

  /** The timer that fired; it is gone now unless it repeats. undefined when it was cleared meanwhile. */
  fire(id: number): Timer | undefined {
    const timer = this.#byId.get(id)
    if (timer === undefined) return undefined
    const exit = exitTimerOf(timer)
    if (exit !== undefined) this.clearExit({ bot: timer.bot, mint: exit.mint }, exit.what)
    else if (timer.everyMs === 0) this.clear(timer.bot, timer.name)
    return timer
  }

  #begin(timer: Timer): void {
    this.#byId.set(timer.id, timer)
    this.#stage.emit({ kind: 'timer', timer })
  }

  #end({ id }: Timer): void {
    this.#byId.delete(id)
    this.#stage.emit({ kind: 'timerCleared', id })
  }

  #keep(timer: Timer): void {
    const own = this.#byName.get(timer.bot)
    if (own === undefined) this.#byName.set(timer.bot, new Map([[timer.name, timer]]))
    else own.set(timer.name, timer)
  }

  #timersOf(bot: string, mint: string): ExitTimers {
    const owner = { account: bot, mint }
    let timers = this.#exits.get(owner)
    if (timers === undefined) {
      timers = { hold: undefined, quiet: undefined, poll: undefined, retry: undefined, due: undefined }
      this.#exits.set(owner, timers)
    }
    return timers
  }
}

/** Of one mint. */
type ExitTimers = Record<ExitTimer, Timer | undefined>

function isOver({ hold, quiet, poll, retry, due }: ExitTimers): boolean {
  return (hold ?? quiet ?? poll ?? retry ?? due) === undefined
}

/** When a timer that repeats fires next, after it fired. It keeps its beat, and periods that it missed are left out. */
export function nextFiring({ at, everyMs }: Pick<Timer, 'at' | 'everyMs'>, fired: Millis): Millis {
  return at + everyMs * (Math.floor(Math.max(0, fired - at) / everyMs) + 1)
}

/** When a timer from the journal fires next. */
export function dueOf(timer: Timer): Millis {
  return timer.fired === undefined || timer.everyMs === 0 ? timer.at : nextFiring(timer, timer.fired)
}

/** What exits wait for by this timer, and where; undefined for one of a strategy's. */
export function exitTimerOf({ owner, name }: Timer): { what: ExitTimer; mint: string } | undefined {
  if (owner !== 'exits') return undefined
  const [what, mint] = name.split(':') as [ExitTimer, string]
  return { what, mint }
}
