import type { Millis } from '../base/units.ts'
import type { BarWidth } from '../market/bar-width.ts'
import { ByMint } from './accounting/by-mint.ts'
import type { Position } from './accounting/position.ts'
import type { Veto } from './limits/order-bounds.ts'
import type { Stage } from './ports.ts'
import type { Timer } from './recovered-money.ts'

type Holder = Pick<Position, 'bot' | 'mint'>

/** Purpose of a timer that the engine sets for a mint. hold: the end of `maxHoldSeconds`. quiet: the next check whether
 *  the token is silent. poll: the next reading of the pool. retry: the retry of an exit. due: a conditional order; this
 *  timer is named after the order and not after the mint. */
export type ExitTimer = 'hold' | 'quiet' | 'poll' | 'retry' | 'due'

/** Minimum interval of a strategy's timer, ms. */
const SHORTEST_TIMER_MS = 100
/** Largest number of timers that one strategy may have at the same time. */
const MOST_TIMERS = 1_000

const LONGEST_TIMER_SECONDS = 1e9
/** Length of the longest name of a strategy's timer. */
const LONGEST_NAME = 500

/** A timer that a strategy requests. */
type TimerRequest = Pick<Timer, 'bot' | 'name' | 'at' | 'everyMs' | 'strategy' | 'declared'>

/** Returns the interval of a strategy's timer, ms. Throws TypeError or RangeError for invalid values. `timerRefusal`
 *  refuses an interval that is too short. */
export function readTimer(name: unknown, seconds: unknown): Millis {
  if (typeof name !== 'string' || name === '' || name.length > LONGEST_NAME)
    throw new TypeError(`the name of a timer must be a string of 1 to ${LONGEST_NAME} characters`)
  if (typeof seconds !== 'number' || !(seconds > 0 && seconds <= LONGEST_TIMER_SECONDS))
    throw new RangeError(`timer ${name}: seconds must be above 0 and at most ${LONGEST_TIMER_SECONDS}, got ${seconds}`)
  return Math.max(1, Math.round(seconds * 1000))
}

/** Returns why a timer is refused; undefined if it is allowed. `others`: number of the bot's other timers. */
export function timerRefusal(name: string, ms: Millis, others: number): Veto | undefined {
  if (ms < SHORTEST_TIMER_MS)
    return {
      code: 'TIMER_TOO_SHORT',
      reason: `timer ${name}: ${ms / 1000} s is shorter than the minimum of ${SHORTEST_TIMER_MS / 1000} s; the timer was not set`,
    }
  if (others >= MOST_TIMERS)
    return {
      code: 'TIMERS_FULL',
      reason: `timer ${name}: the bot already has ${MOST_TIMERS} timers; the timer was not set`,
    }
  return undefined
}

/** The timers of the engine. The journal records them, so they survive a restart. A timer that was due while no process
 *  ran fires once. A repeating timer is emitted only when it is set. Its firings are inputs and cause no output: the
 *  clock, the journal and a replay compute the next firing from the times of the first and the last firing
 *  (`nextFiring`). */
export class Timers {
  readonly #stage: Stage
  readonly #byId = new Map<number, Timer>()
  /** Timers of strategies, by bot and name. */
  readonly #byName = new Map<string, Map<string, Timer>>()
  /** Timers of exits, by bot and mint, because every order looks them up. The key contains the bot in place of the
   *  account. */
  readonly #exits = new ByMint<ExitTimers>()
  #next = 1

  constructor(stage: Stage) {
    this.#stage = stage
  }

  /** Restores timers and emits each of them again. Drops a strategy's timer if its bot now has another strategy or is
   *  no longer configured, or if its interval is too short (older versions allowed 1 ms). `strategyOf`: returns the
   *  strategy that a bot runs. */
  restore(timers: readonly Timer[], next: number, strategyOf: (bot: string) => string | undefined): void {
    this.#next = next
    for (const restored of timers) {
      const { fired: _past, ...timer } = restored
      // Timers that close bars are not restored, because the bots of this start set them again when they declare their
      // bars.
      if (timer.owner === 'bars') {
        this.#stage.emit({ kind: 'timerCleared', id: timer.id })
        continue
      }
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

  find(bot: string, name: string): Timer | undefined {
    return this.#byName.get(bot)?.get(name)
  }

  findExit({ bot, mint }: Holder, what: ExitTimer): Timer | undefined {
    return this.#exits.get({ account: bot, mint })?.[what]
  }

  countOf(bot: string): number {
    return this.#byName.get(bot)?.size ?? 0
  }

  /** Sets a strategy's timer, which replaces one of the same name. If `everyMs` is 0, the timer fires once. */
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

  /** Sets a repeating timer that closes bars of a width even if no row arrives, at multiples of the width. */
  setBars({ name, everyMs }: BarWidth): void {
    const at = nextFiring({ at: 0, everyMs }, this.#stage.now)
    this.#begin({ id: this.#next++, bot: '', owner: 'bars', name, at, everyMs })
  }

  clear(bot: string, name: string): void {
    const timer = this.find(bot, name)
    if (timer === undefined) return
    this.#byName.get(bot)?.delete(name)
    this.#end(timer)
  }

  /** Clears the timers of a strategy that `which` selects; by default, all its timers. */
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

  /** Clears all timers of a mint, except those of conditional orders. */
  clearExits(holder: Holder): void {
    if (!this.#exits.has({ account: holder.bot, mint: holder.mint })) return
    for (const what of ['hold', 'quiet', 'poll', 'retry'] as const) this.clearExit(holder, what)
  }

  /** Returns the timer that fired, and removes it unless it repeats. Returns undefined if the timer was cleared
   *  before. */
  fire(id: number): Timer | undefined {
    const timer = this.#byId.get(id)
    if (timer === undefined) return undefined
    const exit = exitTimerOf(timer)
    if (exit !== undefined) this.clearExit({ bot: timer.bot, mint: exit.mint }, exit.what)
    else if (timer.owner === 'strategy' && timer.everyMs === 0) this.clear(timer.bot, timer.name)
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

/** Timers of one mint. */
type ExitTimers = Record<ExitTimer, Timer | undefined>

function isOver({ hold, quiet, poll, retry, due }: ExitTimers): boolean {
  return (hold ?? quiet ?? poll ?? retry ?? due) === undefined
}

/** Returns the next time at which a repeating timer fires, if it fired last at `fired`. It fires at its first time
 *  (`at`) plus multiples of its interval; times that have passed are skipped. */
export function nextFiring({ at, everyMs }: Pick<Timer, 'at' | 'everyMs'>, fired: Millis): Millis {
  return at + everyMs * (Math.floor(Math.max(0, fired - at) / everyMs) + 1)
}

/** Returns the next time at which a timer from the journal fires. */
export function dueOf(timer: Timer): Millis {
  return timer.fired === undefined || timer.everyMs === 0 ? timer.at : nextFiring(timer, timer.fired)
}

/** Returns the purpose and the mint of a timer that the engine set; undefined for a timer of a strategy. */
export function exitTimerOf({ owner, name }: Timer): { what: ExitTimer; mint: string } | undefined {
  if (owner !== 'exits') return undefined
  const [what, mint] = name.split(':') as [ExitTimer, string]
  return { what, mint }
}
