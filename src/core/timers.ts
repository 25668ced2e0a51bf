import { ByMint } from './by-mint.ts'
import type { Timer } from './money.ts'
import type { Position } from './position.ts'
import type { Stage } from './stage.ts'
import type { Millis } from './units.ts'

type Holder = Pick<Position, 'bot' | 'mint'>

/** What exits wait for in a mint: the end of the longest hold, the end of a silence, the next reading of its pool, or another try; due: a
 *  conditional order, by its id in place of the mint. */
export type ExitTimer = 'hold' | 'quiet' | 'poll' | 'retry' | 'due'

/** The engine's timers: rows in the journal, so they survive a restart; one that passed meanwhile fires once. */
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

  /** Takes over what was set before a restart and asks for each again. */
  restore(timers: readonly Timer[], next: number): void {
    this.#next = next
    for (const timer of timers) {
      const exit = exitTimerOf(timer)
      if (exit === undefined) this.#keep(timer)
      else this.#timersOf(timer.bot, exit.mint)[exit.what] = timer
      this.#begin(timer)
    }
  }

  /** A strategy's timer. */
  find(bot: string, name: string): Timer | undefined {
    return this.#byName.get(bot)?.get(name)
  }

  findExit({ bot, mint }: Holder, what: ExitTimer): Timer | undefined {
    return this.#exits.get({ account: bot, mint })?.[what]
  }

  /** Sets a strategy's timer; one of the same name is replaced. `everyMs` 0 fires once. */
  set(bot: string, name: string, at: Millis, everyMs: number): void {
    this.clear(bot, name)
    const timer: Timer = { id: this.#next++, bot, owner: 'strategy', name, at, everyMs }
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

  /** The timer that fired, now gone or set again; undefined when it was cleared meanwhile. */
  fire(id: number): Timer | undefined {
    const timer = this.#byId.get(id)
    if (timer === undefined) return undefined
    const { bot, name, at, everyMs } = timer
    const next = at + everyMs
    const exit = exitTimerOf(timer)
    if (exit !== undefined) this.clearExit({ bot, mint: exit.mint }, exit.what)
    else if (everyMs > 0) this.set(bot, name, next > this.#stage.now ? next : this.#stage.now + everyMs, everyMs)
    else this.clear(bot, name)
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

/** What exits wait for by this timer, and where; undefined for one of a strategy's. */
export function exitTimerOf({ owner, name }: Timer): { what: ExitTimer; mint: string } | undefined {
  if (owner !== 'exits') return undefined
  const [what, mint] = name.split(':') as [ExitTimer, string]
  return { what, mint }
}
