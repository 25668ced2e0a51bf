import { readText } from '../buy-and-sell-options.ts'
import type { EngineState } from '../engine-state.ts'
import type { LogField, LogLine } from '../messages.ts'
import type { LogFields, StrategyLog } from '../strategy.ts'
import { Allowance } from './allowance.ts'

const MOST_FIELDS = 20
const LONGEST_NAME = 50
const LONGEST_VALUE = 200

/** Implements `bot.log` and `bot.message`. Lines and messages are outputs of the engine, so they also leave the thread
 *  of an isolated strategy. Beyond a limit they are dropped without an error, because a log line must not end a
 *  strategy. The limits use the engine's time, so that a replay drops the same lines. */
export class BotSpeech {
  readonly log: StrategyLog
  readonly #state: EngineState
  readonly #bot: string
  readonly #assertHandling: () => void
  /** Limit of the lines that are not warnings: a burst of 200, then 2 a second. */
  readonly #lines = new Allowance(200, 2)
  /** Limit of warnings: a burst of 20, then one in 10 s. It is lower than the limit of other lines, because the journal
   *  records warnings. */
  readonly #warnings = new Allowance(20, 0.1)
  /** Limit of messages to the operator: a burst of 5, then 5 a minute. */
  readonly #messages = new Allowance(5, 5 / 60)
  /** Number of lines that were dropped since the last line that was written. */
  #dropped = 0

  constructor(state: EngineState, bot: string, assertHandling: () => void) {
    this.#state = state
    this.#bot = bot
    this.#assertHandling = assertHandling
    this.log = Object.freeze({
      debug: (text: string, fields?: LogFields) => this.#line('debug', this.#lines, text, fields),
      info: (text: string, fields?: LogFields) => this.#line('info', this.#lines, text, fields),
      warn: (text: string, fields?: LogFields) => this.#line('warn', this.#warnings, text, fields),
    })
  }

  message(text: unknown): boolean {
    this.#assertHandling()
    const cut = readText(text)
    if (cut === undefined) throw new TypeError('bot.message requires a text')
    if (this.#state.warming || !this.#messages.takeIfLeft(this.#state.now, 1)) return false
    this.#state.emit({ kind: 'message', bot: this.#bot, text: cut })
    return true
  }

  #line(level: LogLine['level'], allowance: Allowance, text: unknown, fields: unknown): void {
    this.#assertHandling()
    if (this.#state.warming) return
    if (!allowance.takeIfLeft(this.#state.now, 1)) {
      this.#dropped++
      return
    }
    const dropped = this.#dropped
    this.#dropped = 0
    this.#state.emit({
      ...{ kind: 'log', bot: this.#bot, level, text: readText(text) ?? `(${typeof text} instead of a text)` },
      ...(fields !== undefined && { fields: readFields(fields) }),
      ...(dropped > 0 && { dropped }),
    })
  }
}

/** Returns fields as plain values. Values of other types are replaced by the names of their types. */
function readFields(fields: unknown): Record<string, LogField> {
  if (typeof fields !== 'object' || fields === null) return {}
  const given = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(
    given.slice(0, MOST_FIELDS).map(([name, value]) => [name.slice(0, LONGEST_NAME), readField(value)]),
  )
}

function readField(value: unknown): LogField {
  if (value === null || typeof value === 'boolean') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  if (typeof value === 'bigint') return String(value)
  return readText(value, LONGEST_VALUE) ?? `(${typeof value})`
}
