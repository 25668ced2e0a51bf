import { assert } from '../base/errors.ts'
import { Fifo } from '../base/fifo.ts'
import type { Cancel, Clock } from '../base/machine.ts'
import type { Millis, Seq } from '../base/units.ts'
import type { Alarm, Input, Output } from '../engine/messages.ts'
import type { EnginePort, Sink } from '../engine/ports.ts'
import { isStopped, type Timer } from '../engine/recovered-money.ts'
import { nextFiring } from '../engine/timers.ts'
import type { Block } from '../market/block.ts'
import type { GatewayPort, Journal } from '../orders/ports.ts'

export interface RunnerOptions extends EffectsOptions {
  readonly engine: EnginePort
  /** Shown every run of rows once the engine has seen it, and before what its last row decided is carried out: where a
   *  paper market folds prices and a simulated clock is brought to that row. So no fill knows a later row than its
   *  order did. */
  readonly observe?: (block: Block, from: number, to: number) => void
  /** Number of the first row or input of this process, above all in the journal. */
  readonly firstSeq: Seq
  /** Time of the last one in the journal; ours never falls below it. */
  readonly lastTime?: Millis
}

/** The one door to the engine: numbers and times every row and input once, journals them with what the engine decided,
 *  and carries that out. One thing at a time: what is posted while another is being handled waits for its turn. */
export class Runner implements Sink {
  readonly #options: RunnerOptions
  readonly #posted = new Fifo<Input>()
  readonly #effects: Effects
  #nextSeq: Seq
  #lastTime: Millis
  #busy = false

  constructor(options: RunnerOptions) {
    this.#options = options
    this.#effects = new Effects(options, (input) => this.post(input))
    this.#nextSeq = options.firstSeq
    this.#lastTime = options.lastTime ?? 0
  }

  /** Rows carry the time of their arrival, which the source takes from the same clock, once for what it read together.
   *  Where an input was stamped since, they take its time, in the block too: that is what the journal keeps and a
   *  replay sees. */
  rows(block: Block, from: number, to: number): number {
    assert(!this.#busy, 'a source hands over rows from inside a handler')
    assert(from < to && to <= block.length, 'no rows, or rows that the block does not have')
    const { engine, journal } = this.#options
    const { outputs } = engine
    const { time: times } = block
    assert(outputs.length === 0, 'outputs were left behind')
    this.#busy = true
    const firstSeq = this.#nextSeq
    const lastTime = this.#lastTime
    for (let late = from; late < to && (times[late] as number) < lastTime; late++) times[late] = lastTime
    const row = engine.rows(firstSeq, block, from, to)
    const time = times[row - 1] as number
    this.#lastTime = time
    this.#nextSeq = firstSeq + row - from
    journal.rows(block, from, row, firstSeq)
    this.#options.observe?.(block, from, row)
    if (outputs.length > 0) this.#carryOut(this.#nextSeq - 1, time)
    this.#takePosted()
    this.#busy = false
    return row
  }

  post(input: Input): void {
    this.#posted.push(input)
    if (this.#busy) return
    this.#busy = true
    this.#takePosted()
    this.#busy = false
  }

  /** Number of the next row or input. */
  get nextSeq(): Seq {
    return this.#nextSeq
  }

  /** No timer of the engine fires any more. */
  stop(): void {
    this.#effects.stop()
  }

  #takePosted(): void {
    const { clock, engine, journal } = this.#options
    for (let input = this.#posted.shift(); input !== undefined; input = this.#posted.shift()) {
      assert(engine.outputs.length === 0, 'outputs were left behind')
      const seq = this.#nextSeq++
      const time = Math.max(clock.now(), this.#lastTime)
      this.#lastTime = time
      journal.input(seq, time, input)
      engine.input(seq, time, input)
      if (input.kind === 'timer') this.#effects.fired(input.id, time)
      if (engine.outputs.length > 0) this.#carryOut(seq, time)
    }
  }

  #carryOut(seq: Seq, time: Millis): void {
    const { outputs } = this.#options.engine
    const count = outputs.length
    this.#effects.carryOut(seq, time, outputs)
    assert(outputs.length === count, 'the engine decided while its outputs were carried out')
    outputs.length = 0
  }
}

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

  /** First the whole of a step's outputs is written, then acted on: an order's commit takes along what was decided with
   *  it. */
  carryOut(seq: Seq, time: Millis, outputs: readonly Output[]): void {
    const { journal } = this.#options
    const count = outputs.length
    for (let index = 0; index < count; index++) journal.output(seq, time, index, outputs[index] as Output)
    for (let index = 0; index < count; index++) this.#act(outputs[index] as Output, time)
  }

  /** The engine has taken a timer that fired; to be called before what it decided is carried out. Only now the next
   *  firing of one that repeats is set: an engine that is late gets one firing for all that it missed. */
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
