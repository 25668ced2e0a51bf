import type { Input, Output } from '../../src/engine/messages.ts'
import type { Timer } from '../../src/engine/recovered-money.ts'

/** Limits of a bot's timers (see engine/bots/bot.ts): how many may fire without a pause, and how many per second on
 *  average. */
const AT_ONCE = 2_000
const PER_SECOND = 100

/** Checks the timers of strategies, based on the records that a process writes into its journal. */
export class TimerWatch {
  firings = 0
  readonly #timers = new Map<number, { readonly timer: Timer; lastBeat: number }>()
  readonly #ended = new Set<string>()
  readonly #fired = new Map<string, { readonly since: number; count: number }>()
  readonly #complain: (what: string) => void

  constructor(complain: (what: string) => void) {
    this.#complain = complain
  }

  output(output: Output): void {
    if (output.kind === 'timer' && output.timer.owner === 'strategy')
      this.#timers.set(output.timer.id, { timer: output.timer, lastBeat: -1 })
    else if (output.kind === 'timerCleared') this.#timers.delete(output.id)
    else if (output.kind === 'bot' && output.money.status === 'exits-only') this.#ended.add(output.money.bot)
  }

  input(input: Input, time: number): void {
    const known = input.kind === 'timer' ? this.#timers.get(input.id) : undefined
    if (known === undefined) return
    const { bot, name, at, everyMs } = known.timer
    this.firings++
    if (this.#ended.has(bot)) this.#complain(`timer ${name} of ${bot} fires although the bot's strategy was stopped`)
    const fired = this.#fired.get(bot) ?? { since: time, count: 0 }
    this.#fired.set(bot, fired)
    fired.count++
    if (fired.count > AT_ONCE + 1 + (PER_SECOND * (time - fired.since)) / 1_000)
      this.#complain(`the timers of ${bot} fire more often than a bot is allowed`)
    if (everyMs === 0) return
    const beat = Math.floor((time - at) / everyMs)
    if (beat <= known.lastBeat) this.#complain(`timer ${name} of ${bot} fires twice for one period`)
    known.lastBeat = beat
  }
}
