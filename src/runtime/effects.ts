import type { Alarm, Input, Output } from '../core/messages.ts'
import { isStopped, type Timer } from '../core/money.ts'
import type { Cancel, Clock, GatewayPort, Journal } from '../core/ports.ts'
import { nextFiring } from '../core/timers.ts'
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

/** A timer of the engine, and how to call its next firing off. */
interface ArmedTimer {
  readonly timer: Timer
  cancel: Cancel
}

/** What follows from what the engine decided. */
export class Effects {
  readonly #options: EffectsOptions
  readonly #post: (input: Input) => void
  readonly #timers = new Map<number, ArmedTimer>()

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

  /** The engine has taken a timer that fired; to be called before what it decided is carried out. Only now the next firing of one that
   *  repeats is set: an engine that is late gets one firing for all that it missed. */
  fired(id: number, time: Millis): void {
    const armed = this.#timers.get(id)
    if (armed === undefined) return
    if (armed.timer.everyMs === 0) this.#timers.delete(id)
    else this.#arm(armed, nextFiring(armed.timer, time), time)
  }

  /** No timer of the engine fires any more. */
  stop(): void {
    for (const { cancel } of this.#timers.values()) cancel()
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
        this.#options.gateway.halt(output.money.account, isStopped(output.money))
        break
      case 'timer':
        this.#setTimer(output.timer, time)
        break
      case 'timerCleared':
        this.#timers.get(output.id)?.cancel()
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

  #setTimer(timer: Timer, now: Millis): void {
    this.#timers.get(timer.id)?.cancel()
    const armed = { timer, cancel: (): void => {} }
    this.#timers.set(timer.id, armed)
    this.#arm(armed, timer.at, now)
  }

  /** The engine never hears of a timer before its time, even where the clock was set back or fires early. */
  #arm(armed: ArmedTimer, at: Millis, now: Millis): void {
    const { clock } = this.#options
    armed.cancel()
    armed.cancel = clock.after(Math.max(0, at - now), () => {
      if (clock.now() < at) this.#arm(armed, at, clock.now())
      else this.#post({ kind: 'timer', id: armed.timer.id })
    })
  }
}
