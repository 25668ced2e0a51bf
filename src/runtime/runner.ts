import assert from '../core/assert.ts'
import type { Block } from '../core/block.ts'
import type { Input } from '../core/messages.ts'
import type { EnginePort, Sink } from '../core/ports.ts'
import type { Millis, Seq } from '../core/units.ts'
import { Effects, type EffectsOptions } from './effects.ts'
import { Fifo } from './fifo.ts'

export interface RunnerOptions extends EffectsOptions {
  readonly engine: EnginePort
  /** Shown every run of rows once the engine has seen it, and before what its last row decided is carried out: where a paper market folds
   *  prices and a simulated clock is brought to that row. So no fill knows a later row than its order did. */
  readonly observe?: (block: Block, from: number, to: number) => void
  /** Number of the first row or input of this process, above all in the journal. */
  readonly firstSeq: Seq
  /** Time of the last one in the journal; ours never falls below it. */
  readonly lastTime?: Millis
}

/** The one door to the engine: numbers and times every row and input once, journals them with what the engine decided, and carries that
 *  out. One thing at a time: what is posted while another is being handled waits for its turn. */
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

  /** Rows carry the time of their arrival, which the source takes from the same clock, once for what it read together. Where an input was
   *  stamped since, they take its time, in the block too: that is what the journal keeps and a replay sees. */
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
