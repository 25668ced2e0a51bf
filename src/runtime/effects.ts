import type { Alarm, Input, Output } from '../core/messages.ts'
import type { Timer } from '../core/money.ts'
import type { Cancel, Clock, GatewayPort, Journal } from '../core/ports.ts'
import type { Millis, Seq } from '../core/units.ts'

export interface EffectsOptions {
  readonly clock: Clock
  readonly journal: Journal
  readonly gateway: GatewayPort
  /** The source's `want`. */
  readonly want: (keys: readonly string[]) => void
  /** Has the pool of a mint read; left out where there is no chain, and then nothing comes of it. */
  readonly poll?: ((mint: string) => void) | undefined
  /** A person should see it. */
  readonly alarm: (alarm: Alarm) => void
}

/** What follows from what the engine decided. */
export class Effects {
  readonly #options: EffectsOptions
  readonly #post: (input: Input) => void
  readonly #timers = new Map<number, Cancel>()

  /** `post`: takes timers that fired. */
  constructor(options: EffectsOptions, post: (input: Input) => void) {
    this.#options = options
    this.#post = post
  }

  /** First the whole of a step's outputs is written, then acted on: an order's commit takes along what was decided with it. */
  carryOut(seq: Seq, time: Millis, outputs: readonly Output[]): void {
    const { journal } = this.#options
    const count = outputs.length
    for (let index = 0; index < count; index++) journal.output(seq, time, index, outputs[index] as Output)
    for (let index = 0; index < count; index++) this.#act(outputs[index] as Output, time)
  }

  /** No timer of the engine fires any more. */
  stop(): void {
    for (const cancel of this.#timers.values()) cancel()
    this.#timers.clear()
  }

  #act(output: Output, time: Millis): void {
    switch (output.kind) {
      case 'order':
        this.#options.gateway.submit(output.order)
        break
      case 'cancel':
        this.#options.gateway.cancel(output.orderId, output.code)
        break
      case 'account':
        this.#options.gateway.trust(output.money.account, output.money.breached !== true)
        this.#options.gateway.halt(output.money.account, output.money.halted)
        break
      case 'timer':
        this.#setTimer(output.timer, time)
        break
      case 'timerCleared':
        this.#timers.get(output.id)?.()
        this.#timers.delete(output.id)
        break
      case 'keys':
        this.#options.want(output.want)
        break
      case 'poll':
        this.#options.poll?.(output.mint)
        break
      case 'alarm':
        this.#options.alarm(output)
        break
      default: // rows of the journal, nothing to do
    }
  }

  /** The engine never hears of a timer before its time, even where the clock was set back or fires early. */
  #setTimer(timer: Timer, now: Millis): void {
    const { clock } = this.#options
    const fire = (): void => {
      if (clock.now() < timer.at) {
        this.#setTimer(timer, clock.now())
        return
      }
      this.#timers.delete(timer.id)
      this.#post({ kind: 'timer', id: timer.id })
    }
    this.#timers.get(timer.id)?.()
    this.#timers.set(timer.id, clock.after(Math.max(0, timer.at - now), fire))
  }
}
