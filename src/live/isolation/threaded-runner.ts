import { assert } from '../../base/errors.ts'
import { Fifo } from '../../base/fifo.ts'
import type { Millis, Seq } from '../../base/units.ts'
import type { Input, Output, StartInput } from '../../engine/messages.ts'
import type { Sink } from '../../engine/ports.ts'
import type { Block } from '../../market/block.ts'
import { Effects, type EffectsOptions } from '../../runtime/runner.ts'

/** Rows that the engine is given before it has answered: an operator's word waits for no more. */
const ROWS_AHEAD = 64

/** An engine in another thread: takes what it is given in that order, and answers each in that order. */
export interface EngineLink {
  /** Answered by `begun`. */
  begin(seq: Seq, time: Millis, start: StartInput): void
  /** Answered by `did`, once for each row that decided something and once at the end. */
  rows(block: Block, from: number, to: number, firstSeq: Seq): void
  /** Answered by `did`. */
  input(seq: Seq, time: Millis, input: Input): void
}

export interface ThreadedRunnerOptions extends EffectsOptions {
  /** As a Runner's. */
  readonly observe: (block: Block, from: number, to: number) => void
  /** Shown every input in its place between the rows that `observe` is shown. */
  readonly heard: (input: Input) => void
  readonly firstSeq: Seq
  readonly lastTime: Millis
  /** How long rows took from the door until what they decided was known, microseconds a row. */
  readonly decided: (us: number) => void
}

/** Something that the engine was given, and has not answered to the end; numbered when it is given. */
type Given =
  | {
      readonly kind: 'rows'
      readonly block: Block
      from: number
      readonly to: number
      firstSeq: Seq
      readonly at: number
    }
  | { readonly kind: 'input'; readonly input: Input; seq: Seq; time: Millis; readonly at: number }

/** As a `Runner`, for an engine in another thread. Nothing is journaled, shown or carried out before the engine has
 *  answered: what it was given and did not answer has not happened. So an engine may be lost at any instant: what was
 *  not answered waits here for the next one, which takes over what the journal holds. */
export class ThreadedRunner implements Sink {
  readonly #options: ThreadedRunnerOptions
  readonly #effects: Effects
  readonly #standing = new StandingInputs()
  #link: EngineLink | undefined
  #start: { readonly seq: Seq; readonly time: Millis; readonly input: StartInput } | undefined
  #given = new Fifo<Given>()
  /** Rows among them. */
  #rowsAhead = 0
  /** Answered, and shown to whoever looks on, since the start. */
  #rowsHandled = 0
  /** Came while there was no engine, or while it had enough to do. */
  #waiting = new Fifo<Given>()
  /** Of the next row or input that is given. */
  #nextSeq: Seq
  #lastTime: Millis
  /** Of the last that was answered. */
  #answered: { seq: Seq; time: Millis }

  constructor(options: ThreadedRunnerOptions) {
    this.#options = options
    this.#effects = new Effects(options, (input) => this.post(input))
    this.#nextSeq = options.firstSeq
    this.#lastTime = options.lastTime
    this.#answered = { seq: options.firstSeq - 1, time: options.lastTime }
  }

  /** All rows are taken at once. */
  rows(block: Block, from: number, to: number): number {
    assert(from < to && to <= block.length, 'no rows, or rows that the block does not have')
    this.#take({ kind: 'rows', block, from, to, firstSeq: 0, at: performance.now() })
    return to
  }

  post(input: Input): void {
    this.#take(asGiven(input))
  }

  /** Gives the money that the journal holds to an engine that knows nothing yet; what comes meanwhile waits. */
  begin(link: EngineLink, input: StartInput): void {
    assert(this.#link === undefined, 'an engine runs already')
    const { clock } = this.#options
    const start = { seq: this.#answered.seq + 1, time: Math.max(clock.now(), this.#answered.time), input }
    this.#start = start
    link.begin(start.seq, start.time, input)
  }

  /** The engine has begun, its strategies warmed up. It is told what no row holds, then what waited: an operator's word
   *  first. */
  begun(link: EngineLink, outputs: readonly Output[]): void {
    const start = this.#start
    assert(start !== undefined, 'nothing was begun')
    this.#start = undefined
    const isAgain = this.#standing.all()
    const { seq, time, input } = start
    this.#answered = { seq, time }
    this.#lastTime = time
    this.#nextSeq = seq + 1
    this.#options.journal.input(seq, time, input)
    this.#effects.carryOut(seq, time, outputs)
    this.#link = link
    const waiting = this.#waiting
    this.#waiting = new Fifo()
    for (const standing of isAgain) this.#give(asGiven(standing))
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
      if (isCommand(one)) this.#give(one)
      else this.#waiting.push(one)
    }
    this.#giveMore()
  }

  /** The engine has done with the next input, or with rows up to `next`. */
  did(next: number, outputs: readonly Output[]): void {
    const one = this.#given.peek()
    assert(one !== undefined, 'the engine answers what it was not given')
    if (one.kind === 'input') this.#didInput(one, outputs)
    else this.#didRows(one, next, outputs)
    this.#giveMore()
  }

  /** There is no engine any more; what it did not answer waits for the next. */
  lost(): void {
    this.#link = undefined
    this.#start = undefined
    this.#rowsAhead = 0
    const unanswered = this.#given
    this.#given = new Fifo()
    for (let one = this.#waiting.shift(); one !== undefined; one = this.#waiting.shift()) unanswered.push(one)
    this.#waiting = unanswered
  }

  /** How long the oldest of what is not answered waits, ms. */
  get lagMs(): number {
    const oldest = this.#given.peek() ?? this.#waiting.peek()
    return oldest === undefined ? 0 : performance.now() - oldest.at
  }

  get rowsHandled(): number {
    return this.#rowsHandled
  }

  /** Everything was answered. */
  get isIdle(): boolean {
    return this.#link !== undefined && this.#given.length === 0 && this.#waiting.length === 0
  }

  /** No timer of the engine fires any more. */
  stop(): void {
    this.#effects.stop()
  }

  #take(one: Given): void {
    if (this.#link !== undefined && isCommand(one)) this.#give(one)
    else {
      this.#waiting.push(one)
      this.#giveMore()
    }
  }

  #giveMore(): void {
    while (this.#link !== undefined && this.#rowsAhead < ROWS_AHEAD) {
      const one = this.#waiting.shift()
      if (one === undefined) return
      this.#give(one)
    }
  }

  /** Numbers and times it. Rows that were read before an input was stamped take its time, in the block too: that is
   *  what the journal keeps. */
  #give(one: Given): void {
    const link = this.#link as EngineLink
    this.#given.push(one)
    if (one.kind === 'rows') {
      const { block, from, to } = one
      const { time } = block
      for (let late = from; late < to && (time[late] as number) < this.#lastTime; late++) time[late] = this.#lastTime
      one.firstSeq = this.#nextSeq
      this.#nextSeq += to - from
      this.#rowsAhead += to - from
      this.#lastTime = time[to - 1] as number
      link.rows(block, from, to, one.firstSeq)
    } else {
      one.seq = this.#nextSeq++
      one.time = Math.max(this.#options.clock.now(), this.#lastTime)
      this.#lastTime = one.time
      link.input(one.seq, one.time, one.input)
    }
  }

  #didInput({ input, seq, time }: Given & { kind: 'input' }, outputs: readonly Output[]): void {
    this.#given.shift()
    this.#answered = { seq, time }
    this.#standing.take(input)
    this.#options.journal.input(seq, time, input)
    this.#options.heard(input)
    if (input.kind === 'timer') this.#effects.fired(input.id, time)
    this.#effects.carryOut(seq, time, outputs)
  }

  #didRows(one: Given & { kind: 'rows' }, next: number, outputs: readonly Output[]): void {
    const { journal, observe, decided } = this.#options
    const { block, from, to, firstSeq, at } = one
    assert(from < next && next <= to, 'the engine answers rows that it was not given')
    const seq = firstSeq + next - from - 1
    const time = block.time[next - 1] as number
    one.from = next
    one.firstSeq = seq + 1
    this.#rowsAhead -= next - from
    if (next === to) this.#given.shift()
    this.#answered = { seq, time }
    journal.rows(block, from, next, firstSeq)
    observe(block, from, next)
    this.#rowsHandled += next - from
    if (outputs.length > 0) this.#effects.carryOut(seq, time, outputs)
    decided(((performance.now() - at) * 1000) / (next - from))
  }
}

function asGiven(input: Input): Given {
  return { kind: 'input', input, seq: 0, time: 0, at: performance.now() }
}

function isCommand(one: Given): boolean {
  return one.kind === 'input' && one.input.kind === 'command'
}

/** More is not kept by an engine either. */
const MINTS_KEPT = 1000

/** What an engine knows from inputs alone, and no row of the journal holds: a fresh one has to be told again. */
export class StandingInputs {
  readonly #byKey = new Map<string, Input>()

  take(input: Input): void {
    const key = keyOf(input)
    if (key === undefined) return
    this.#byKey.delete(key)
    this.#byKey.set(key, input)
    if (this.#byKey.size <= MINTS_KEPT) return
    const oldest = [...this.#byKey].find(([, { kind }]) => kind === 'mint')
    if (oldest !== undefined) this.#byKey.delete(oldest[0])
  }

  all(): readonly Input[] {
    return [...this.#byKey.values()]
  }
}

function keyOf(input: Input): string | undefined {
  switch (input.kind) {
    case 'feed':
    case 'plan':
      return input.kind
    case 'gate':
      return `gate ${input.account} ${input.code ?? ''}`
    case 'mint':
      return `mint ${input.mint}`
    case 'command':
      return input.command.name === 'stop' ? 'stop' : undefined
    default:
      return undefined
  }
}
