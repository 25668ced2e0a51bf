import type { Desk } from './desk.ts'
import type { ExitRules } from './exits.ts'
import type { Timer } from './money.ts'
import { isFullExit, type Order } from './order.ts'
import type { Position } from './position.ts'
import type { Session } from './session.ts'
import type { BotSettings } from './settings.ts'

/** Waiting between two tries of an exit doubles up to this many times: what cannot be sold is tried for ever, at a bounded cost. */
const MOST_DOUBLINGS = 6

/** Sees exits through: once one is due it is tried, each time further up the ladder, until the position is sold. */
export class Exits {
  readonly #session: Session
  readonly #desk: Desk
  readonly #settingsOf: (position: Position) => BotSettings

  /** `settingsOf`: how the exits of a position go out. */
  constructor(session: Session, desk: Desk, settingsOf: (position: Position) => BotSettings) {
    this.#session = session
    this.#desk = desk
    this.#settingsOf = settingsOf
  }

  /** The exits of a position of which nothing else is known. */
  usual(position: Position): ExitRules {
    return this.#settingsOf(position).exits
  }

  /** A position just opened: its longest hold runs from then. */
  opened(position: Position): void {
    const dueAt = holdEnds(position)
    if (dueAt !== undefined) this.#session.timers.set(position.bot, 'exits', timerName('hold', position), dueAt, 0)
  }

  /** Nothing that is held is without its timer, whatever gave it back: a fork, or a restart. */
  held(position: Position): void {
    if (position.tokens === 0n || position.exiting !== '') return
    if (this.#session.timers.find(position.bot, 'exits', timerName('hold', position)) === undefined)
      this.opened(position)
  }

  /** The position is gone. */
  closed(position: Position): void {
    this.#session.timers.clear(position.bot, 'exits', timerName('hold', position))
    this.#session.timers.clear(position.bot, 'exits', timerName('retry', position))
  }

  /** After a restart: an exit that was due and has no open order is tried again. */
  restore(position: Position): void {
    this.held(position)
    if (this.isDue(position) && !this.#isWaiting(position)) this.#retry(position)
  }

  /** It is to be sold, holds something, and no full exit is out. A partial sale is: what becomes of it is not waited for. */
  isDue(position: Position): boolean {
    return position.exiting !== '' && position.tokens > 0n && this.#session.book.fullExitOf(position) === undefined
  }

  /** An exit is due: from now on the position is being sold, as soon as it holds something. */
  sell(position: Position, reason: string): void {
    if (position.exiting === '') position.exiting = reason
    if (!this.isDue(position)) {
      this.#session.emitPosition(position)
      return
    }
    const step = position.exitTries++
    this.#desk.sellPosition(position, this.#settingsOf(position), { kind: 'all' }, position.exiting, step)
  }

  /** Where an exit is due: after a while if it was one that ended, else at once. */
  goOn(position: Position, ended: Order | undefined): void {
    if (!this.isDue(position) || this.#isWaiting(position)) return
    if (ended !== undefined && isFullExit(ended)) this.#retry(position)
    else this.sell(position, position.exiting)
  }

  timer(timer: Timer): void {
    const [what, mint] = timer.name.split(':') as [string, string]
    for (const position of this.#session.book.positions.ofMint(mint)) {
      if (position.bot !== timer.bot) continue
      if (what === 'hold') this.#holdEnded(position)
      else if (this.isDue(position)) this.sell(position, position.exiting)
    }
  }

  /** A strategy gives its position other exits. */
  change(settings: BotSettings, mint: string, exits: ExitRules): boolean {
    const position = this.#session.book.positions.get({ account: settings.account.id, mint })
    if (position === undefined || position.bot !== settings.name) return false
    position.exits = exits
    this.#session.timers.clear(position.bot, 'exits', timerName('hold', position))
    if (position.tokens > 0n) this.opened(position)
    this.#session.emitPosition(position)
    return true
  }

  /** The timer may be that of an earlier position in the same mint. */
  #holdEnded(position: Position): void {
    const dueAt = holdEnds(position)
    if (dueAt !== undefined && dueAt <= this.#session.now && position.tokens > 0n)
      this.sell(position, `held for ${position.exits.maxHoldSeconds} s`)
  }

  #retry(position: Position): void {
    const { retryMs } = this.#settingsOf(position).exitOrders
    const waitMs = retryMs * 2 ** Math.min(Math.max(position.exitTries - 1, 0), MOST_DOUBLINGS)
    this.#session.timers.set(position.bot, 'exits', timerName('retry', position), this.#session.now + waitMs, 0)
  }

  #isWaiting(position: Position): boolean {
    return this.#session.timers.find(position.bot, 'exits', timerName('retry', position)) !== undefined
  }
}

function holdEnds({ openedAt, exits: { maxHoldSeconds } }: Position): number | undefined {
  return maxHoldSeconds === undefined ? undefined : openedAt + Math.round(maxHoldSeconds * 1000)
}

function timerName(what: 'hold' | 'retry', position: Position): string {
  return `${what}:${position.mint}`
}
