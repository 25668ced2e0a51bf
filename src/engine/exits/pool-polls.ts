import type { Refusal } from '../../base/errors.ts'
import type { Millis } from '../../base/units.ts'
import type { PoolPrice } from '../../market/pool-price.ts'
import { type PoolReading, poolPrice } from '../../market/pool-price.ts'
import type { Position } from '../accounting/position.ts'
import type { EngineState } from '../engine-state.ts'
import type { Input } from '../messages.ts'
import { pollSeconds } from './exit-rules.ts'
import type { ExitWatch } from './exit-watch.ts'

/** A reading that would change what is held waits for the next one so long, and not for the next round. */
const SOON_MS = 1_000
/** The chain's clock, ours, and the way of a print differ by no more. */
const CLOCKS_MS = 5_000
/** Older than this a price is nothing to act on: the node is behind, or one of the clocks is wrong. */
const OLDEST_MS = 60_000

/** Acts on a reading of a pool. */
export interface PoolReader {
  /** Returns false if another reading is needed to decide whether an exit is due. `price`: SOL a token. */
  poolRead(position: Position, pool: PoolPrice, price: number, slot: number): boolean
}

/** Has the pools read of those tokens that are held, and that the feed has said nothing of for as long as `whenStale`
 *  says. */
export class PoolPolls {
  readonly #session: EngineState
  readonly #watch: ExitWatch
  /** Nobody has answered since: said once, however many wait for it. */
  #isSilent = false
  /** Of each position the last reason that was said and still holds, from one silence to the next. */
  readonly #said = new WeakMap<Position, string>()

  constructor(session: EngineState, watch: ExitWatch) {
    this.#session = session
    this.#watch = watch
  }

  /** From when on a position is looked after; a timer runs from then. */
  begin(position: Position): void {
    const everyMs = everyMsOf(position)
    if (everyMs === undefined) return
    this.#set(position, Math.max(this.#session.now, this.#watch.heardAt(position) + everyMs))
  }

  /** Its timer fired. */
  due(position: Position): void {
    const everyMs = everyMsOf(position)
    if (everyMs === undefined || !isHeld(position)) return
    const { now } = this.#session
    const quietAt = this.#watch.heardAt(position) + everyMs
    if (now < quietAt) {
      this.#set(position, quietAt)
      return
    }
    this.#watch.askPool(position)
    this.#session.emit({ kind: 'poll', bot: position.bot, mint: position.mint })
    // On a grid, so that all that are quiet for as long are read together.
    this.#set(position, (Math.floor(now / everyMs) + 1) * everyMs)
  }

  /** Passes an answer on to the positions whose pool was asked for. */
  take({ mint, answer }: Extract<Input, { kind: 'pool' }>, reader: PoolReader): void {
    for (const position of this.#session.book.positions.ofMint(mint)) {
      // Nobody asked, or the token was traded since: the feed says more.
      const pool = this.#watch.poolOf(position)
      if (pool === undefined || everyMsOf(position) === undefined || !isHeld(position)) continue
      const refusal = 'code' in answer ? answer : this.#tooOld(position, answer)
      if (refusal === undefined) this.#read(position, pool, answer as PoolReading, reader)
      else this.#complain(position, refusal)
    }
  }

  #read(position: Position, pool: PoolPrice, reading: PoolReading, reader: PoolReader): void {
    this.#said.delete(position)
    this.#isSilent = false
    const isSettled = reader.poolRead(position, pool, poolPrice(reading), reading.slot)
    if (!isSettled && isHeld(position)) this.#set(position, this.#session.now + SOON_MS)
  }

  #tooOld(position: Position, { time }: PoolReading): Refusal | undefined {
    const { now } = this.#session
    if (time >= Math.max(now - OLDEST_MS, this.#watch.heardAt(position) - CLOCKS_MS)) return undefined
    const age = Math.round((now - time) / 1000)
    return { code: 'POOL_BEHIND', reason: `the pool was read as it was ${age} s ago by the chain's clock` }
  }

  /** It is held on: that nobody can say the price is no reason to sell. */
  #complain(position: Position, { code, reason }: Refusal): void {
    const { bot, mint } = position
    const isSaid = this.#said.get(position) === code || (code === 'POOL_SILENT' && this.#isSilent)
    this.#said.set(position, code)
    if (code === 'POOL_SILENT') this.#isSilent = true
    if (!isSaid) this.#session.emit({ kind: 'alarm', bot, code, reason: `${mint} is held without a price: ${reason}` })
  }

  #set(position: Position, at: Millis): void {
    this.#session.timers.setExit(position, 'poll', at)
  }
}

function everyMsOf({ exits }: Position): Millis | undefined {
  const seconds = pollSeconds(exits)
  return seconds === undefined ? undefined : Math.round(seconds * 1000)
}

/** What is being sold is not asked for any more. */
function isHeld({ tokens, exiting }: Position): boolean {
  return tokens > 0n && exiting === ''
}
