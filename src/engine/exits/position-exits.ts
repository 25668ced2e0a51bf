import type { ErrorCode } from '../../base/errors.ts'
import type { Millis } from '../../base/units.ts'
import {
  isWrittenOff,
  type Position,
  restartSteps,
  stepTokensDue,
  UNSELLABLE_AFTER,
  WRITTEN_OFF_AFTER,
} from '../accounting/position.ts'
import type { EngineState } from '../engine-state.ts'
import { isFullExit, type Order, type Size } from '../order.ts'
import type { OrderFactory } from '../order-factory.ts'
import type { Timer } from '../recovered-money.ts'
import type { BotSettings } from '../settings.ts'
import { type ExitTimer, exitTimerOf } from '../timers.ts'
import { type ExitRules, flattenSeconds, pollSeconds, quietLimits } from './exit-rules.ts'
import type { ExitWatch } from './exit-watch.ts'
import type { PoolPolls } from './pool-polls.ts'

/** Waiting between two tries of an exit doubles up to so many times, and once it is written off up to so many: what
 *  cannot be sold is tried for ever, at a bounded cost. */
const MOST_DOUBLINGS = 6
const MOST_DOUBLINGS_EVER = 12

/** Ends of a sale that say nothing about the token: it never came to the chain, nobody signed it, or its lane was
 *  taken. The service, the chain or the signer may be out for hours, and what they kept from being sold has to go as
 *  soon as they are back. */
const OF_NO_TOKEN: ReadonlySet<string> = new Set<ErrorCode>([
  ...(['ABSENT', 'UNSENT', 'RESOLVED', 'RATE_LIMIT', 'LANE_BUSY', 'SIGNER_CAP', 'SIGNER_REFUSED'] as const),
])

/** Sees exits through: once one is due it is tried, each time further up the ladder, until the position is sold. */
export class Exits {
  readonly #session: EngineState
  readonly #desk: OrderFactory
  readonly #watch: ExitWatch
  readonly #settingsOf: (position: Position) => BotSettings
  readonly #polls: PoolPolls

  /** `settingsOf`: how the exits of a position go out. */
  constructor(
    session: EngineState,
    desk: OrderFactory,
    watch: ExitWatch,
    polls: PoolPolls,
    settingsOf: (position: Position) => BotSettings,
  ) {
    this.#session = session
    this.#desk = desk
    this.#watch = watch
    this.#settingsOf = settingsOf
    this.#polls = polls
  }

  /** The exits of a position of which nothing else is known. */
  usual(position: Position): ExitRules {
    return this.#settingsOf(position).exits
  }

  /** A position just opened: its longest hold runs from then, and from now at the latest, where our clock is behind the
   *  chain's. */
  opened(position: Position): void {
    position.openedAt = Math.min(position.openedAt, this.#session.now)
    const holdAt = holdEnds(position)
    if (holdAt !== undefined) this.#set('hold', position, holdAt)
    const quietAt = this.#quietEnds(position)
    if (quietAt !== undefined) this.#set('quiet', position, quietAt)
    this.#polls.begin(position)
  }

  /** Nothing that is held is without its timers, whatever gave it back: a fork, or a restart. */
  held(position: Position): void {
    if (position.tokens === 0n || position.exiting !== '') return
    const lacksHold = position.exits.maxHoldSeconds !== undefined && !this.#has('hold', position)
    const lacksQuiet = quietLimits(position.exits).length > 0 && !this.#has('quiet', position)
    const lacksPoll = pollSeconds(position.exits) !== undefined && !this.#has('poll', position)
    if (lacksHold || lacksQuiet || lacksPoll) this.opened(position)
  }

  /** The position is gone. */
  closed(position: Position): void {
    this.#session.timers.clearExits(position)
  }

  /** After a restart: an exit that was due and has no open order is tried again. What was written off does not wait the
   *  hours that are left of its wait: what kept it from being sold may have been mended. */
  restore(position: Position): void {
    this.held(position)
    if (!this.isDue(position) && !this.#isStepDue(position)) return
    if (!this.#has('retry', position)) this.#retry(position)
    if (isWrittenOff(position)) this.#retryWithin(position, this.#settingsOf(position).exitOrders.retryMs)
  }

  /** It is to be sold, holds something, and no full exit is out. A partial sale is: what becomes of it is not waited
   *  for. */
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
    this.#send(position, { kind: 'all' }, position.exiting)
  }

  /** Steps of its take-profit were reached, `taken` in all. What they ask for is on record from now on, sold or not. */
  step(position: Position, taken: number, price: number): void {
    const { exits, averagePrice, bought = position.tokens } = position
    position.bought = bought
    const steps = exits.takeProfitSteps ?? []
    const percent = steps.slice(0, taken).reduce((sum, { sellPercent }) => sum + sellPercent, 0)
    const before = steps.slice(0, position.steps?.taken ?? 0).reduce((sum, { sellPercent }) => sum + sellPercent, 0)
    const tokens = (position.steps?.tokens ?? 0n) + shareOf(bought, percent - before)
    const rise = ((price / averagePrice - 1) * 100).toFixed(1)
    const reason = `take-profit step ${taken} of ${steps.length}: +${rise} % on the average price`
    position.steps = { taken, tokens, reason }
    this.#session.emitPosition(position)
    this.#sellNow(position)
  }

  /** So many percent of what is held now are to be sold: on record until they are. */
  sellPart(position: Position, percent: number, reason: string): void {
    const { tokens, bought = tokens, steps } = position
    const sold = bought > tokens ? bought - tokens : 0n
    const asked = steps === undefined || steps.tokens < sold ? sold : steps.tokens
    position.bought = bought
    position.steps = { taken: steps?.taken ?? 0, tokens: asked + shareOf(tokens, percent), reason }
    this.#session.emitPosition(position)
    this.#sellNow(position)
  }

  /** An order has ended. A sale that says nothing about the token climbs the ladder, and writes nothing off. */
  ended(position: Position, { side }: Pick<Order, 'side'>, code: ErrorCode | ''): void {
    if (side === 'sell' && position.exitTries >= WRITTEN_OFF_AFTER && OF_NO_TOKEN.has(code)) position.exitTries--
  }

  /** What others sell may be sold by now: its next try waits no longer than before it was written off. */
  seenSold(position: Position): void {
    const { retryMs } = this.#settingsOf(position).exitOrders
    if (this.#has('retry', position)) this.#retryWithin(position, retryMs * 2 ** MOST_DOUBLINGS)
  }

  /** Where an exit is due: after a while if it was one that ended, else at once. */
  goOn(position: Position, ended: Order | undefined): void {
    if (this.#has('retry', position)) return
    if (this.isDue(position)) {
      if (ended !== undefined && isFullExit(ended)) this.#retry(position)
      else this.sell(position, position.exiting)
    } else if (this.#isStepDue(position)) {
      // One that sold has begun the ladder anew.
      if (ended?.side === 'sell' && position.exitTries > 0) this.#retry(position)
      else this.#sellStep(position)
    }
  }

  timer(timer: Timer): void {
    const exit = exitTimerOf(timer)
    if (exit === undefined) return
    const { what, mint } = exit
    for (const position of this.#session.book.positions.ofMint(mint)) {
      if (position.bot !== timer.bot) continue
      if (what === 'hold') this.#holdEnded(position)
      else if (what === 'quiet') this.#quietEnded(position)
      else if (what === 'poll') this.#polls.due(position)
      else if (this.isDue(position)) this.sell(position, position.exiting)
      else this.#sellStep(position)
    }
  }

  /** A strategy gives its position other exits. */
  change(settings: BotSettings, mint: string, exits: ExitRules): boolean {
    const position = this.#session.book.positions.get({ account: settings.account.id, mint })
    if (position === undefined || position.bot !== settings.name) return false
    position.exits = exits
    restartSteps(position)
    this.#clear('hold', position)
    this.#clear('quiet', position)
    this.#clear('poll', position)
    if (position.tokens > 0n) this.opened(position)
    this.#session.emitPosition(position)
    return true
  }

  /** Waits for a sale that is out: of the two a full exit is the one that overtakes. */
  #isStepDue(position: Position): boolean {
    const { account, mint } = position
    return stepTokensDue(position) > 0n && this.#session.book.laneHolder({ account, mint, side: 'sell' }) === undefined
  }

  /** What is newly due does not wait for the next try of what failed before. */
  #sellNow(position: Position): void {
    if (position.exiting !== '') return
    this.#clear('retry', position)
    this.#sellStep(position)
  }

  #sellStep(position: Position): void {
    if (!this.#isStepDue(position) || position.steps === undefined) return
    const size = sizeOfStep(position)
    if (size.kind === 'all') this.sell(position, position.steps.reason)
    else this.#send(position, size, position.steps.reason)
  }

  #send(position: Position, size: Size, reason: string): void {
    const step = position.exitTries++
    this.#desk.sellPosition(position, this.#settingsOf(position), size, reason, step)
    if (step === UNSELLABLE_AFTER) this.#sayUnsellable(position, reason)
  }

  #sayUnsellable({ bot, mint }: Position, why: string): void {
    const reason = `${mint}: ${UNSELLABLE_AFTER} sales in a row have failed (${why}); it counts as worth nothing, and is tried on`
    this.#session.emit({ kind: 'alarm', bot, code: 'UNSELLABLE', reason })
  }

  /** The timer may be that of an earlier position in the same mint, or of what a fork took back and gave again later:
   *  then it runs on. */
  #holdEnded(position: Position): void {
    const dueAt = holdEnds(position)
    if (dueAt === undefined || position.tokens === 0n) return
    if (dueAt <= this.#session.now) this.sell(position, `held for ${position.exits.maxHoldSeconds} s`)
    else this.held(position)
  }

  /** Nothing is known of a token while the feed is not live, so that nobody can call it idle. */
  #quietEnded(position: Position): void {
    if (position.tokens === 0n || position.exiting !== '') return
    const { now, feed } = this.#session
    const { exits } = position
    const isOver = (since: Millis, seconds: number | undefined): boolean =>
      seconds !== undefined && now - since >= millis(seconds)
    if (feed === 'live' && isOver(this.#watch.printedAt(position), exits.idleSeconds))
      this.sell(position, `idle: nobody has traded it for ${exits.idleSeconds} s`)
    else if (isOver(this.#watch.pricedAt(position), flattenSeconds(exits)))
      this.sell(position, `no price for ${flattenSeconds(exits)} s`)
    else {
      const dueAt = this.#quietEnds(position)
      if (dueAt !== undefined) this.#set('quiet', position, dueAt)
    }
  }

  /** What could not be decided when it was due, because the feed was not live, is looked at again after as long. */
  #quietEnds(position: Position): Millis | undefined {
    const { now } = this.#session
    const dueAt = (since: Millis, seconds = Number.POSITIVE_INFINITY): Millis => {
      const time = since + millis(seconds)
      return time > now ? time : now + millis(seconds)
    }
    const idleAt = dueAt(this.#watch.printedAt(position), position.exits.idleSeconds)
    const at = Math.min(idleAt, dueAt(this.#watch.pricedAt(position), flattenSeconds(position.exits)))
    return at === Number.POSITIVE_INFINITY ? undefined : at
  }

  #retry(position: Position): void {
    const { retryMs } = this.#settingsOf(position).exitOrders
    this.#set('retry', position, this.#session.now + retryMs * 2 ** doublings(position.exitTries))
  }

  /** At the latest. */
  #retryWithin(position: Position, ms: number): void {
    const at = this.#session.now + ms
    const retry = this.#session.timers.findExit(position, 'retry')
    if (retry === undefined || retry.at > at) this.#set('retry', position, at)
  }

  #set(what: ExitTimer, position: Position, at: Millis): void {
    this.#session.timers.setExit(position, what, at)
  }

  #clear(what: ExitTimer, position: Position): void {
    this.#session.timers.clearExit(position, what)
  }

  #has(what: ExitTimer, position: Position): boolean {
    return this.#session.timers.findExit(position, what) !== undefined
  }
}

/** Of the wait after so many tries. */
function doublings(tries: number): number {
  const more = Math.max(0, tries - WRITTEN_OFF_AFTER)
  return Math.min(Math.max(tries - 1, 0), Math.min(MOST_DOUBLINGS + more, MOST_DOUBLINGS_EVER))
}

function holdEnds({ openedAt, exits: { maxHoldSeconds } }: Position): number | undefined {
  return maxHoldSeconds === undefined ? undefined : openedAt + millis(maxHoldSeconds)
}

function shareOf(tokens: bigint, percent: number): bigint {
  return (tokens * BigInt(Math.round(percent * 1e6))) / 100_000_000n
}

/** As a share of what is held: the one size of a part whose unit no service can misread. */
function sizeOfStep(position: Position): Size {
  const hundredths = Number((stepTokensDue(position) * 10_000n + position.tokens / 2n) / position.tokens)
  // Of what a step of 100 % leaves nobody could sell the rest.
  return hundredths >= 9_990 ? { kind: 'all' } : { kind: 'percent', percent: Math.max(1, hundredths) / 100 }
}

function millis(seconds: number): Millis {
  return Math.round(seconds * 1000)
}
