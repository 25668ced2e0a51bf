import type { ErrorCode } from '../../base/errors.ts'
import type { Millis } from '../../base/units.ts'
import { isWrittenOff, type Position, UNSELLABLE_AFTER, WRITTEN_OFF_AFTER } from '../accounting/position.ts'
import type { Cause } from '../buy-and-sell-options.ts'
import type { EngineState } from '../engine-state.ts'
import { isFullExit, type Order, type Size } from '../order.ts'
import type { OrderFactory } from '../order-factory.ts'
import type { Timer } from '../recovered-money.ts'
import type { BotSettings } from '../settings.ts'
import { type ExitTimer, exitTimerOf } from '../timers.ts'
import { holdEnds, idleEnds, millis, staleEnds } from './exit-levels.ts'
import { type ExitRules, flattenSeconds, pollSeconds, quietLimits, sameExits } from './exit-settings.ts'
import type { ExitWatch } from './exit-watch.ts'
import type { PoolPolls } from './pool-polls.ts'
import { addPart, restartSteps, sizeOfStep, stepTokensDue, takeSteps } from './take-profit-steps.ts'

/** The wait between two tries of an exit doubles after each failed try: at most `MOST_DOUBLINGS` times until the
 *  position is written off, and at most `MOST_DOUBLINGS_EVER` times in all. So a position that cannot be sold is tried
 *  forever, but rarely, and its fees stay small. */
const MOST_DOUBLINGS = 6
const MOST_DOUBLINGS_EVER = 12

/** Codes of failures that the token does not cause: the transaction never reached the chain, the signer refused it, or
 *  another order of the mint was open. These failures do not count towards writing a position off, so an outage of
 *  hours does not write it off. */
const NOT_OF_TOKEN: ReadonlySet<string> = new Set<ErrorCode>([
  ...(['ABSENT', 'UNSENT', 'RESOLVED', 'RATE_LIMIT', 'LANE_BUSY', 'SIGNER_CAP', 'SIGNER_REFUSED'] as const),
])

/** Executes exits. An exit that is due is tried until the position is sold, each time with the next slippage and
 *  priority fee of the configured lists. */
export class Exits {
  readonly #state: EngineState
  readonly #factory: OrderFactory
  readonly #watch: ExitWatch
  readonly #settingsOf: (position: Position) => BotSettings
  readonly #polls: PoolPolls

  /** `settingsOf`: settings of the bot that sells a position. */
  constructor(
    state: EngineState,
    factory: OrderFactory,
    watch: ExitWatch,
    polls: PoolPolls,
    settingsOf: (position: Position) => BotSettings,
  ) {
    this.#state = state
    this.#factory = factory
    this.#watch = watch
    this.#settingsOf = settingsOf
    this.#polls = polls
  }

  /** Returns the exits of the bot that sells the position. They apply to a position without recorded exits. */
  usual(position: Position): ExitRules {
    return this.#settingsOf(position).exits
  }

  /** Starts the timers of a position. The time of `maxHoldSeconds` begins with the first fill, by the chain's clock. If
   *  our clock is behind that time, it begins with this call. */
  opened(position: Position): void {
    position.openedAt = Math.min(position.openedAt, this.#state.now)
    const holdAt = holdEnds(position)
    if (holdAt !== undefined) this.#set('hold', position, holdAt)
    const quietAt = this.#quietEnds(position)
    if (quietAt !== undefined) this.#set('quiet', position, quietAt)
    this.#polls.begin(position)
  }

  /** Sets timers that are missing because a fork or a restart brought the position back. */
  held(position: Position): void {
    if (position.tokens === 0n || position.exiting !== '') return
    const lacksHold = position.exits.maxHoldSeconds !== undefined && !this.#has('hold', position)
    const lacksQuiet = quietLimits(position.exits).length > 0 && !this.#has('quiet', position)
    const lacksPoll = pollSeconds(position.exits) !== undefined && !this.#has('poll', position)
    if (lacksHold || lacksQuiet || lacksPoll) this.opened(position)
  }

  /** Clears the timers of a closed position. */
  closed(position: Position): void {
    this.#state.timers.clearExits(position)
  }

  /** After a restart, retries an exit that was due and has no open order. The wait for the next try of a written-off
   *  position may be hours. It is shortened, because the cause of the failed sales may be gone. */
  restore(position: Position): void {
    this.held(position)
    if (!this.isDue(position) && !this.#isStepDue(position)) return
    if (!this.#has('retry', position)) this.#retry(position)
    if (isWrittenOff(position)) this.#retryWithin(position, this.#settingsOf(position).exitOrders.retryMs)
  }

  /** Whether a full exit is due and no full exit is open. A full exit does not wait for an open partial sale. */
  isDue(position: Position): boolean {
    return position.exiting !== '' && position.tokens > 0n && this.#state.book.fullExitOf(position) === undefined
  }

  /** Starts to sell all of a position. If the position is still empty, its tokens are sold as soon as it has some. */
  sell(position: Position, reason: string, tag?: string): void {
    if (position.exiting === '') {
      position.exiting = reason
      if (tag !== undefined) position.exitTag = tag
    }
    if (!this.isDue(position)) {
      this.#state.emitPosition(position)
      return
    }
    this.#send(position, { kind: 'all' }, { reason: position.exiting, tag: position.exitTag })
  }

  /** Records that the first `taken` take-profit steps are reached, and sells their share. */
  step(position: Position, taken: number, price: number): void {
    takeSteps(position, taken, price)
    this.#state.emitPosition(position)
    this.#sellNow(position)
  }

  /** Sells a share of the held tokens. The share is recorded as due until it is sold. */
  sellPart(position: Position, percent: number, cause: Cause): void {
    addPart(position, percent, cause)
    this.#state.emitPosition(position)
    this.#sellNow(position)
  }

  /** Handles the end of an order. A failure that the token did not cause does not count towards writing the position
   *  off. */
  ended(position: Position, { side }: Pick<Order, 'side'>, code: ErrorCode | ''): void {
    if (side === 'sell' && position.exitTries >= WRITTEN_OFF_AFTER && NOT_OF_TOKEN.has(code)) position.exitTries--
  }

  /** Shortens the wait before the next try to sell a written-off position, because another trader was able to sell the
   *  token. */
  seenSold(position: Position): void {
    const { retryMs } = this.#settingsOf(position).exitOrders
    if (this.#has('retry', position)) this.#retryWithin(position, retryMs * 2 ** MOST_DOUBLINGS)
  }

  /** Continues an exit that is due. If `ended` is an order of this exit, the next try waits; otherwise it starts
   *  immediately. */
  goOn(position: Position, ended: Order | undefined): void {
    if (this.#has('retry', position)) return
    if (this.isDue(position)) {
      if (ended !== undefined && isFullExit(ended)) this.#retry(position)
      else this.sell(position, position.exiting)
    } else if (this.#isStepDue(position)) {
      // `exitTries` is 0 if a sale has filled; the next sale then does not wait.
      if (ended?.side === 'sell' && position.exitTries > 0) this.#retry(position)
      else this.#sellStep(position)
    }
  }

  timer(timer: Timer): void {
    const exit = exitTimerOf(timer)
    if (exit === undefined) return
    const { what, mint } = exit
    for (const position of this.#state.book.positions.ofBot(timer.bot, mint)) {
      if (what === 'hold') this.#holdEnded(position)
      else if (what === 'quiet') this.#quietEnded(position)
      else if (what === 'poll') this.#polls.due(position)
      else if (this.isDue(position)) this.sell(position, position.exiting)
      else this.#sellStep(position)
    }
  }

  /** Replaces the exits of a position at the request of its strategy. `steps`: whether unchanged take-profit steps
   *  begin again or go on. Returns false if the bot has no such position. */
  change(settings: BotSettings, mint: string, exits: ExitRules, steps: 'begin again' | 'go on'): boolean {
    const position = this.#state.book.positions.get({ account: settings.account.id, mint })
    if (position === undefined || position.bot !== settings.name) return false
    const goOn = steps === 'go on' && sameExits(position.exits.takeProfitSteps, exits.takeProfitSteps)
    position.exits = exits
    if (!goOn) restartSteps(position)
    this.#clear('hold', position)
    this.#clear('quiet', position)
    this.#clear('poll', position)
    if (position.tokens > 0n) this.opened(position)
    this.#state.emitPosition(position)
    return true
  }

  /** Whether a partial sale is due and no sale is open. Unlike a full exit, a partial sale waits for an open sale. */
  #isStepDue(position: Position): boolean {
    const { account, mint } = position
    return stepTokensDue(position) > 0n && this.#state.book.laneHolder({ account, mint, side: 'sell' }) === undefined
  }

  /** Sells a share that has just become due, even if an earlier failed sale is still waiting for its retry. */
  #sellNow(position: Position): void {
    if (position.exiting !== '') return
    this.#clear('retry', position)
    this.#sellStep(position)
  }

  #sellStep(position: Position): void {
    if (!this.#isStepDue(position) || position.steps === undefined) return
    const size = sizeOfStep(position)
    const { reason, tag } = position.steps
    if (size.kind === 'all') this.sell(position, reason, tag)
    else this.#send(position, size, { reason, tag })
  }

  #send(position: Position, size: Size, cause: Cause): void {
    const step = position.exitTries++
    this.#factory.sellPosition(position, this.#settingsOf(position), size, cause, step)
    if (step === UNSELLABLE_AFTER) this.#reportUnsellable(position, cause.reason)
  }

  #reportUnsellable({ bot, mint }: Position, why: string): void {
    const reason = `${mint}: ${UNSELLABLE_AFTER} sales in a row have failed (${why}); the position counts as worthless, and the retries continue`
    this.#state.emit({ kind: 'alarm', bot, code: 'UNSELLABLE', reason })
  }

  /** Handles the timer of `maxHoldSeconds`: sells the position if its time is over. If the time is not over, a new
   *  timer is set: the timer that fired may have been set for an earlier position in the same mint. */
  #holdEnded(position: Position): void {
    const dueAt = holdEnds(position)
    if (dueAt === undefined || position.tokens === 0n) return
    if (dueAt <= this.#state.now) this.sell(position, `held for ${position.exits.maxHoldSeconds} s`)
    else this.held(position)
  }

  /** Handles the timer for silent tokens: sells the position if its token had no print or no price for too long. While
   *  the feed is not live, prints may be missing, so the token does not count as idle. */
  #quietEnded(position: Position): void {
    if (position.tokens === 0n || position.exiting !== '') return
    const { now, feed } = this.#state
    const { exits } = position
    if (feed === 'live' && now >= idleEnds(this.#watch.printedAt(position), exits))
      this.sell(position, `idle: no trades for ${exits.idleSeconds} s`)
    else if (now >= staleEnds(this.#watch.pricedAt(position), exits))
      this.sell(position, `no price for ${flattenSeconds(exits)} s`)
    else {
      const dueAt = this.#quietEnds(position)
      if (dueAt !== undefined) this.#set('quiet', position, dueAt)
    }
  }

  /** Returns the time of the next check whether the token was silent for too long; undefined if no exit depends on
   *  silence. If a check could not decide because the feed was not live, the next check follows after the time that the
   *  exit sets. */
  #quietEnds(position: Position): Millis | undefined {
    const { now } = this.#state
    const { exits } = position
    const next = (at: Millis, seconds = 0): Millis => (at > now ? at : now + millis(seconds))
    const idleAt = next(idleEnds(this.#watch.printedAt(position), exits), exits.idleSeconds)
    const at = Math.min(idleAt, next(staleEnds(this.#watch.pricedAt(position), exits), flattenSeconds(exits)))
    return at === Number.POSITIVE_INFINITY ? undefined : at
  }

  #retry(position: Position): void {
    const { retryMs } = this.#settingsOf(position).exitOrders
    this.#set('retry', position, this.#state.now + retryMs * 2 ** doublings(position.exitTries))
  }

  /** Makes the retry due at most `ms` from now. */
  #retryWithin(position: Position, ms: number): void {
    const at = this.#state.now + ms
    const retry = this.#state.timers.findExit(position, 'retry')
    if (retry === undefined || retry.at > at) this.#set('retry', position, at)
  }

  #set(what: ExitTimer, position: Position, at: Millis): void {
    this.#state.timers.setExit(position, what, at)
  }

  #clear(what: ExitTimer, position: Position): void {
    this.#state.timers.clearExit(position, what)
  }

  #has(what: ExitTimer, position: Position): boolean {
    return this.#state.timers.findExit(position, what) !== undefined
  }
}

/** Returns how many times the wait between two tries of an exit has doubled after this number of tries. */
function doublings(tries: number): number {
  const more = Math.max(0, tries - WRITTEN_OFF_AFTER)
  return Math.min(Math.max(tries - 1, 0), Math.min(MOST_DOUBLINGS + more, MOST_DOUBLINGS_EVER))
}
