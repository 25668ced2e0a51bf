import { assert } from '../../base/errors.ts'
import { Fifo } from '../../base/fifo.ts'
import type { Millis, Seq } from '../../base/units.ts'
import type { Input, Output, StartInput } from '../../engine/messages.ts'
import type { Sink } from '../../engine/ports.ts'
import type { Block } from '../../market/block.ts'
import { Effects, type EffectsOptions } from '../../runtime/runner.ts'

/** Maximum number of market rows that the engine has received and not answered. An operator's command therefore waits
 *  for at most this many rows. */
const ROWS_AHEAD = 64

/** An engine in another thread. It answers everything that it receives, in the order of receipt. */
export interface EngineLink {
  /** Starts the engine, which answers with `begun`. */
  begin(seq: Seq, time: Millis, start: StartInput): void
  /** Sends market rows. The engine answers with `did`: once for each row with a decision, and once at the end of the
   *  rows. */
  rows(block: Block, from: number, to: number, firstSeq: Seq): void
  /** Sends an input, which the engine answers with `did`. */
  input(seq: Seq, time: Millis, input: Input): void
}

export interface ThreadedRunnerOptions extends EffectsOptions {
  /** Called with every batch of market rows; see `observe` of `Runner`. */
  readonly observe: (block: Block, from: number, to: number) => void
  /** Called with every input after the engine has answered it. Calls of `heard` and `observe` have the order in which
   *  the engine received the inputs and market rows. */
  readonly heard: (input: Input) => void
  readonly firstSeq: Seq
  readonly lastTime: Millis
  /** Called with the time from the arrival of market rows until their decisions were known, microseconds per row. */
  readonly decided: (us: number) => void
}

/** Market rows or an input for the engine. A number (seq) is assigned to them when they are sent. */
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

/** A `Runner` for an engine in another thread. An input or a market row is journaled and observed, and its decisions
 *  are carried out, only after the engine has answered it. An engine may therefore be lost at any instant: everything
 *  unanswered waits here for the next engine, which recovers from the journal. */
export class ThreadedRunner implements Sink {
  readonly #options: ThreadedRunnerOptions
  readonly #effects: Effects
  readonly #standing = new StandingInputs()
  #link: EngineLink | undefined
  #start: { readonly seq: Seq; readonly time: Millis; readonly input: StartInput } | undefined
  #given = new Fifo<Given>()
  /** Number of market rows that were sent to the engine and are not answered yet. */
  #rowsAhead = 0
  /** Number of market rows that were answered and observed since the start. */
  #rowsHandled = 0
  /** Inputs and groups of market rows that wait to be sent, because there is no engine, or because the engine has not
   *  answered ROWS_AHEAD market rows yet. */
  #waiting = new Fifo<Given>()
  /** Number that the next market row or input receives when it is sent. */
  #nextSeq: Seq
  #lastTime: Millis
  /** Number and time of the market row or input that was answered last. */
  #answered: { seq: Seq; time: Millis }

  constructor(options: ThreadedRunnerOptions) {
    this.#options = options
    this.#effects = new Effects(options, (input) => this.post(input))
    this.#nextSeq = options.firstSeq
    this.#lastTime = options.lastTime
    this.#answered = { seq: options.firstSeq - 1, time: options.lastTime }
  }

  /** Accepts the market rows of a block from the index `from` up to, but not including, the index `to`. Returns `to`.
   *  */
  rows(block: Block, from: number, to: number): number {
    assert(from < to && to <= block.length, 'no rows, or rows that the block does not contain')
    this.#take({ kind: 'rows', block, from, to, firstSeq: 0, at: performance.now() })
    return to
  }

  post(input: Input): void {
    this.#take(asGiven(input))
  }

  /** Starts a new engine with the state that the journal contains. Inputs and market rows that arrive before the engine
   *  has begun must wait. */
  begin(link: EngineLink, input: StartInput): void {
    assert(this.#link === undefined, 'an engine runs already')
    const { clock } = this.#options
    const start = { seq: this.#answered.seq + 1, time: Math.max(clock.now(), this.#answered.time), input }
    this.#start = start
    link.begin(start.seq, start.time, input)
  }

  /** Called when the engine has begun and its strategies are warmed up. Sends the inputs that every new engine needs
   *  (`StandingInputs`), then the commands of an operator that wait, then the other inputs and market rows that wait.
   *  */
  begun(link: EngineLink, outputs: readonly Output[]): void {
    const start = this.#start
    assert(start !== undefined, 'no engine was started')
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

  /** Called when the engine has answered the oldest unanswered input, or rows of the oldest unanswered group of market
   *  rows. `next`: for rows, the index in the block after the last answered row. */
  did(next: number, outputs: readonly Output[]): void {
    const one = this.#given.peek()
    assert(one !== undefined, 'the engine answered something that was not sent')
    if (one.kind === 'input') this.#didInput(one, outputs)
    else this.#didRows(one, next, outputs)
    this.#giveMore()
  }

  /** Called when the engine is lost. The inputs and market rows that it has not answered wait for the next engine. */
  lost(): void {
    this.#link = undefined
    this.#start = undefined
    this.#rowsAhead = 0
    const unanswered = this.#given
    this.#given = new Fifo()
    for (let one = this.#waiting.shift(); one !== undefined; one = this.#waiting.shift()) unanswered.push(one)
    this.#waiting = unanswered
  }

  /** Time for which the oldest unanswered input or market row has waited, ms. */
  get lagMs(): number {
    const oldest = this.#given.peek() ?? this.#waiting.peek()
    return oldest === undefined ? 0 : performance.now() - oldest.at
  }

  get rowsHandled(): number {
    return this.#rowsHandled
  }

  /** Whether an engine runs and has answered all market rows and inputs. */
  get isIdle(): boolean {
    return this.#link !== undefined && this.#given.length === 0 && this.#waiting.length === 0
  }

  /** Cancels every timer of the engine. */
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

  /** Gives an input or a group of market rows its number and its time, and sends it. If market rows have an older
   *  time than an input that was sent before them, they get the time of that input. The time is changed in the block,
   *  because the journal stores the block. */
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
    assert(from < next && next <= to, 'the engine answered rows that were not sent')
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

/** Maximum number of inputs about mints that are kept. An engine has the same limit. */
const MINTS_KEPT = 1000

/** Inputs that change the state of an engine and that a new engine cannot recover from the journal. They are kept here,
 *  and a new engine receives them again. */
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
