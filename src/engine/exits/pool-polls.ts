import type { Refusal } from '../../base/errors.ts'
import type { Millis } from '../../base/units.ts'
import type { PoolPrice } from '../../market/pool-price.ts'
import { type PoolReading, poolPrice } from '../../market/pool-price.ts'
import type { Position } from '../accounting/position.ts'
import type { EngineState } from '../engine-state.ts'
import type { Input } from '../messages.ts'
import { pollSeconds } from './exit-settings.ts'
import type { ExitWatch } from './exit-watch.ts'

/** If an exit is due at the price of the first reading, the second reading follows after this time, ms. This is sooner
 *  than the interval of the polls. */
const SOON_MS = 1_000
/** Largest expected difference between the clock of the chain and ours, plus the time that a print takes to arrive,
 *  ms. */
const CLOCKS_MS = 5_000
/** A reading older than this (ms) is refused, because the node is behind or one of the clocks is wrong. */
const OLDEST_MS = 60_000

/** Acts on a reading of a pool. */
export interface PoolReader {
  /** Checks the exits of a position at the price of a reading of its pool. Returns false if another reading is needed
   *  to decide whether an exit is due. `price`: SOL a token. */
  poolRead(position: Position, pool: PoolPrice, price: number, slot: number): boolean
}

/** Requests readings of the pools of held tokens whose last price from the feed is older than the time in
 *  `whenStale`. */
export class PoolPolls {
  readonly #state: EngineState
  readonly #watch: ExitWatch
  /** Whether no RPC has answered since the last reading. This is reported once, not for each position. */
  #isSilent = false
  /** Code of the last failed reading of each position's pool; absent after a successful reading. */
  readonly #reported = new WeakMap<Position, string>()

  constructor(state: EngineState, watch: ExitWatch) {
    this.#state = state
    this.#watch = watch
  }

  /** Starts the timer of a position. */
  begin(position: Position): void {
    const everyMs = everyMsOf(position)
    if (everyMs === undefined) return
    this.#set(position, Math.max(this.#state.now, this.#watch.heardAt(position) + everyMs))
  }

  /** Requests a reading, if the position is still without a price. Called when the timer of the position fires. */
  due(position: Position): void {
    const everyMs = everyMsOf(position)
    if (everyMs === undefined || !isHeld(position)) return
    const { now } = this.#state
    const quietAt = this.#watch.heardAt(position) + everyMs
    if (now < quietAt) {
      this.#set(position, quietAt)
      return
    }
    this.#watch.askPool(position)
    this.#state.emit({ kind: 'poll', bot: position.bot, mint: position.mint })
    // All polls happen at multiples of the interval, so that the pools of several quiet tokens are read together.
    this.#set(position, (Math.floor(now / everyMs) + 1) * everyMs)
  }

  /** Passes an answer on to the positions that requested a reading of the pool. */
  take({ mint, answer }: Extract<Input, { kind: 'pool' }>, reader: PoolReader): void {
    for (const position of this.#state.book.positions.ofMint(mint)) {
      // `poolOf` returns undefined if no reading was requested, or if the token was traded since; the feed then has a
      // newer price.
      const pool = this.#watch.poolOf(position)
      if (pool === undefined || everyMsOf(position) === undefined || !isHeld(position)) continue
      const refusal = 'code' in answer ? answer : this.#tooOld(position, answer)
      if (refusal === undefined) this.#read(position, pool, answer as PoolReading, reader)
      else this.#reportFailure(position, refusal)
    }
  }

  #read(position: Position, pool: PoolPrice, reading: PoolReading, reader: PoolReader): void {
    this.#reported.delete(position)
    this.#isSilent = false
    const isSettled = reader.poolRead(position, pool, poolPrice(reading), reading.slot)
    if (!isSettled && isHeld(position)) this.#set(position, this.#state.now + SOON_MS)
  }

  #tooOld(position: Position, { time }: PoolReading): Refusal | undefined {
    const { now } = this.#state
    if (time >= Math.max(now - OLDEST_MS, this.#watch.heardAt(position) - CLOCKS_MS)) return undefined
    const age = Math.round((now - time) / 1000)
    return { code: 'POOL_BEHIND', reason: `the reading of the pool is ${age} s old by the clock of the chain` }
  }

  /** Reports a failed reading. The position stays open, because an unknown price is no reason to sell. */
  #reportFailure(position: Position, { code, reason }: Refusal): void {
    const { bot, mint } = position
    const isReported = this.#reported.get(position) === code || (code === 'POOL_SILENT' && this.#isSilent)
    this.#reported.set(position, code)
    if (code === 'POOL_SILENT') this.#isSilent = true
    if (!isReported)
      this.#state.emit({
        kind: 'alarm',
        bot,
        code,
        reason: `the held token ${mint} has no price, so exits that need a price wait: ${reason}`,
      })
  }

  #set(position: Position, at: Millis): void {
    this.#state.timers.setExit(position, 'poll', at)
  }
}

function everyMsOf({ exits }: Position): Millis | undefined {
  const seconds = pollSeconds(exits)
  return seconds === undefined ? undefined : Math.round(seconds * 1000)
}

/** Whether a position needs readings of its pool. A position that is being sold needs none. */
function isHeld({ tokens, exiting }: Position): boolean {
  return tokens > 0n && exiting === ''
}
