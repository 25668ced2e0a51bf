import { assert } from '../base/errors.ts'
import { Fifo } from '../base/fifo.ts'
import type { Cancel, Clock } from '../base/machine.ts'
import type { Millis, Seq } from '../base/units.ts'
import { type Alarm, type Input, isRecorded, type LogLine, type Message, type Output } from '../engine/messages.ts'
import type { EnginePort, Sink } from '../engine/ports.ts'
import { isStopped, type Timer } from '../engine/recovered-money.ts'
import { nextFiring } from '../engine/timers.ts'
import type { Block } from '../market/block.ts'
import type { GatewayPort, Journal } from '../orders/ports.ts'

export interface RunnerOptions extends EffectsOptions {
  readonly engine: EnginePort
  /** Called with each group of market rows after the engine has handled it, but before the decisions of its last row
   *  are carried out. A paper market updates its prices here, and a simulated clock advances. A paper fill therefore
   *  never depends on rows that are later than the row at which its order was decided. */
  readonly observe?: (block: Block, from: number, to: number) => void
  /** Number of the first market row or input of this process. It is higher than all numbers in the journal. */
  readonly firstSeq: Seq
  /** Time of the last entry in the journal. The runner's time is never earlier. */
  readonly lastTime?: Millis
}

/** The only entrance to the engine. It gives every market row and every input a number and a time, writes it to the
 *  journal with the engine's outputs, and carries out the outputs. Inputs that are posted while a row or an input is
 *  handled wait in a queue. */
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

  /** Handles market rows. The source has stamped them with their arrival time, which it reads once per batch from the
   *  runner's clock. If an input with a later time is handled before these rows, the rows get the time of that input,
   *  so that time never decreases. The time is changed in the block, because the journal stores the block and a replay
   *  uses it. */
  rows(block: Block, from: number, to: number): number {
    assert(!this.#busy, 'a source delivered rows from inside a handler')
    assert(from < to && to <= block.length, 'no rows, or rows that the block does not contain')
    const { engine, journal } = this.#options
    const { outputs } = engine
    const { time: times } = block
    assert(outputs.length === 0, 'the engine has outputs that were not carried out')
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

  /** Number of the next market row or input. */
  get nextSeq(): Seq {
    return this.#nextSeq
  }

  /** Cancels every timer of the engine. */
  stop(): void {
    this.#effects.stop()
  }

  #takePosted(): void {
    const { clock, engine, journal } = this.#options
    for (let input = this.#posted.shift(); input !== undefined; input = this.#posted.shift()) {
      assert(engine.outputs.length === 0, 'the engine has outputs that were not carried out')
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
    assert(outputs.length === count, 'the engine added outputs while the runner carried out earlier ones')
    outputs.length = 0
  }
}

export interface EffectsOptions {
  readonly clock: Clock
  readonly journal: Journal
  readonly gateway: GatewayPort
  /** Passes the subscription keys that the bots want to the source of market rows. */
  readonly want: (keys: readonly string[]) => void
  /** Requests that a mint's pool is read on the chain. Absent if there is no chain; the requests are then ignored. */
  readonly poll?: ((mint: string) => void) | undefined
  /** For replays: schedules a timer that is due at `at` for the time at which the recorded run fired it. Returns
   *  undefined if the clock must schedule the timer. */
  readonly hold?: ((timer: Timer, at: Millis, fire: () => void) => Cancel | undefined) | undefined
  /** Reports an alarm to the operator. */
  readonly alarm: (alarm: Alarm) => void
  /** Shows a log line or a message of a strategy. */
  readonly said?: ((line: LogLine | Message, seq: Seq, time: Millis) => void) | undefined
}

/** A timer that is set, and the function that cancels its next firing. */
interface ArmedTimer {
  readonly timer: Timer
  cancel: Cancel
}

/** Carries out the outputs of the engine. */
export class Effects {
  readonly #options: EffectsOptions
  readonly #post: (input: Input) => void
  readonly #timers = new Map<number, ArmedTimer>()

  /** `post`: receives an input for each timer that fired. */
  constructor(options: EffectsOptions, post: (input: Input) => void) {
    this.#options = options
    this.#post = post
  }

  /** Writes all outputs of a market row or input before it carries out any of them, so that an order is committed
   *  together with the other decisions of the same row or input. */
  carryOut(seq: Seq, time: Millis, outputs: readonly Output[]): void {
    const { journal } = this.#options
    const count = outputs.length
    let recorded = 0
    for (let index = 0; index < count; index++) {
      const output = outputs[index] as Output
      if (isRecorded(output)) journal.output(seq, time, recorded++, output)
    }
    for (let index = 0; index < count; index++) this.#act(outputs[index] as Output, seq, time)
  }

  /** Records that the engine has received a timer that fired. Must be called before the outputs are carried out. The
   *  next firing of a repeating timer is scheduled here. An engine that is late therefore gets one firing instead of
   *  all that it missed. */
  fired(id: number, time: Millis): void {
    const armed = this.#timers.get(id)
    if (armed === undefined) return
    if (armed.timer.everyMs === 0) this.#timers.delete(id)
    else this.#arm(armed, nextFiring(armed.timer, time), time)
  }

  /** Cancels every timer of the engine. */
  stop(): void {
    for (const { cancel } of this.#timers.values()) cancel()
    this.#timers.clear()
  }

  #act(output: Output, seq: Seq, time: Millis): void {
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
      case 'log':
      case 'message':
        this.#options.said?.(output, seq, time)
        break
      default: // rows of the journal without an effect
    }
  }

  #setTimer(timer: Timer, now: Millis): void {
    this.#timers.get(timer.id)?.cancel()
    const armed = { timer, cancel: (): void => {} }
    this.#timers.set(timer.id, armed)
    this.#arm(armed, timer.at, now)
  }

  /** Schedules a firing. The engine never receives a timer before its time, even if the clock was set back or Node's
   *  timer fires early. */
  #arm(armed: ArmedTimer, at: Millis, now: Millis): void {
    const { clock, hold } = this.#options
    const fire = (): void => this.#post({ kind: 'timer', id: armed.timer.id })
    armed.cancel()
    armed.cancel =
      hold?.(armed.timer, at, fire) ??
      clock.after(Math.max(0, at - now), () => {
        if (clock.now() < at) this.#arm(armed, at, clock.now())
        else fire()
      })
  }
}
