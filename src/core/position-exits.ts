import { keyOf } from './book.ts'
import type { Desk } from './desk.ts'
import type { ExitRules } from './exits.ts'
import type { Timer } from './money.ts'
import { laneOf } from './order.ts'
import type { Position } from './position.ts'
import type { Session } from './session.ts'
import type { BotSettings } from './settings.ts'

/** Waiting between two tries of an exit doubles up to this many times: what cannot be sold is tried for ever, at a bounded cost. */
const MOST_DOUBLINGS = 6

/** Sees exits through: once one is due it is tried, each time further up the ladder, until the position is sold. */
export class Exits {
  readonly #session: Session
  readonly #desk: Desk
  readonly #settingsOf: (bot: string) => BotSettings | undefined

  constructor(session: Session, desk: Desk, settingsOf: (bot: string) => BotSettings | undefined) {
    this.#session = session
    this.#desk = desk
    this.#settingsOf = settingsOf
  }

  /** A position just opened: its longest hold begins. */
  opened(position: Position): void {
    const seconds = position.exits.maxHoldSeconds
    if (seconds === undefined) return
    this.#session.timers.set(
      position.bot,
      'exits',
      timerName('hold', position),
      position.openedAt + Math.round(seconds * 1000),
      0,
    )
  }

  /** The position is gone. */
  closed(position: Position): void {
    this.#session.timers.clear(position.bot, 'exits', timerName('hold', position))
    this.#session.timers.clear(position.bot, 'exits', timerName('retry', position))
  }

  /** After a restart: an exit that was due and has no open order is tried again. */
  restore(position: Position): void {
    if (position.exiting === '' || this.#selling(position)) return
    position.state = 'open'
    if (this.#session.timers.find(position.bot, 'exits', timerName('retry', position)) === undefined)
      this.retry(position)
  }

  /** An exit is due: from now on the position is being sold. */
  sell(position: Position, reason: string): void {
    if (position.tokens === 0n) return
    if (position.exiting === '') position.exiting = reason
    const settings = this.#settingsOf(position.bot)
    // A bot that is not configured any more still has its exits; nobody is left to send them but `flatten` under a config that names it.
    if (settings === undefined) return
    const ladder = settings.exitOrders.slippageLadder
    const placed = this.#desk.sellPosition(
      position,
      settings,
      { kind: 'all' },
      ladder.slice(Math.min(position.exitTries, ladder.length - 1)),
      position.exiting,
    )
    if (placed.ok) position.exitTries++
    this.#session.emit({ kind: 'position', position: { ...position } })
  }

  /** A sale ended and left something: at once where it was only in the way of the exit, after a while where it was the exit itself. */
  goOn(position: Position, wasExit: boolean): void {
    if (wasExit) this.retry(position)
    else this.sell(position, position.exiting)
  }

  retry(position: Position): void {
    const retryMs = this.#settingsOf(position.bot)?.exitOrders.retryMs ?? 3000
    const waitMs = retryMs * 2 ** Math.min(Math.max(position.exitTries - 1, 0), MOST_DOUBLINGS)
    this.#session.timers.set(position.bot, 'exits', timerName('retry', position), this.#session.now + waitMs, 0)
  }

  timer(timer: Timer): void {
    const [what, mint] = timer.name.split(':') as [string, string]
    for (const position of this.#session.book.positions.values()) {
      if (position.bot !== timer.bot || position.mint !== mint || this.#selling(position)) continue
      this.sell(position, what === 'hold' ? `held for ${position.exits.maxHoldSeconds} s` : position.exiting)
    }
  }

  /** A strategy gives an open position other exits. */
  change(settings: BotSettings, mint: string, exits: ExitRules): boolean {
    const position = this.#session.book.positions.get(keyOf({ account: settings.account.id, mint }))
    if (position === undefined) return false
    position.exits = exits
    this.#session.timers.clear(position.bot, 'exits', timerName('hold', position))
    if (position.tokens > 0n) this.opened(position)
    this.#session.emit({ kind: 'position', position: { ...position } })
    return true
  }

  #selling(position: Position): boolean {
    return (
      this.#session.book.laneHolder(laneOf({ account: position.account, mint: position.mint, side: 'sell' })) !==
      undefined
    )
  }
}

function timerName(what: 'hold' | 'retry', position: Position): string {
  return `${what}:${position.mint}`
}
