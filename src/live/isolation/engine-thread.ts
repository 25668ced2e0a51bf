import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import type { Millis, Seq } from '../../base/units.ts'
import type { Mark } from '../../engine/accounting/position.ts'
import type { Input, Output, StartInput } from '../../engine/messages.ts'
import type { Block } from '../../market/block.ts'
import { LiveBlock } from '../../market/live-block.ts'
import { type MintNews, MintTeller } from '../../market/mints.ts'
import type { MemoryLimits } from './memory-guard.ts'
import type { EngineLink } from './threaded-runner.ts'

/** What the thread is started with. It loads what every engine needs and then waits for `begin`, so that one may stand
 *  ready. */
export interface EngineThreadStart {
  readonly port: MessagePort
  /** Counted up when a message has to be looked at. */
  readonly bell: Int32Array
  /** By `Cell`. */
  readonly cells: Int32Array
}

/** What the thread shows of itself while it has no time to say anything. */
export const Cell = {
  /** Whose handler runs: an index into the bots of the start, -1 for none. */
  active: 0,
  /** Counted up with every handler, every few rows, every input, every module loaded. Behind `active`, as the engine
   *  wants it. */
  progress: 1,
  /** How long until the next count, ms, is too long; 0 while it waits for work. */
  deadlineMs: 2,
  /** The system's number of the thread, 0 where it has none. */
  thread: 3,
} as const

/** How a thread's engine begins. */
export interface BeginMessage {
  readonly kind: 'begin'
  readonly seq: Seq
  readonly time: Millis
  readonly start: StartInput
  /** Whose tape the strategies are warmed up with. */
  readonly journal: string
  readonly memory: MemoryLimits
  readonly inspects: boolean
}

export interface RowsMessage {
  readonly kind: 'rows'
  /** The first rows of a block bring its memory along. */
  readonly memory: { readonly buffer: SharedArrayBuffer; readonly capacity: number } | null
  readonly from: number
  readonly to: number
  readonly firstSeq: Seq
  /** Since the message before. */
  readonly news: MintNews
}

export type ToEngine =
  | BeginMessage
  | RowsMessage
  | { readonly kind: 'input'; readonly seq: Seq; readonly time: Millis; readonly input: Input }

export type FromEngine =
  | { readonly kind: 'begun'; readonly outputs: readonly Output[]; readonly warmed: number }
  | { readonly kind: 'did'; readonly next: number; readonly outputs: readonly Output[] }
  | { readonly kind: 'marks'; readonly marks: readonly Mark[] }
  /** What a strategy wrote to the console. */
  | { readonly kind: 'log'; readonly bot: number; readonly text: string }
  /** The engine cannot go on; it does nothing more. */
  | ({ readonly kind: 'broke' } & Death)

export interface Death {
  /** Whose doing it is, -1 where that is not known. */
  readonly bot: number
  readonly reason: string
  /** Too much memory is held. */
  readonly isFull?: boolean
}

export interface EngineThreadEvents {
  begun(outputs: readonly Output[], warmed: number): void
  did(next: number, outputs: readonly Output[]): void
  marks(marks: readonly Mark[]): void
  log(bot: number, text: string): void
  /** Once; nothing comes after it. */
  died(death: Death): void
}

/** Beyond the limit a thread has room to find out whose the memory is; then it is ended. */
const HARD_HEAP = 2

const NOBODY: EngineThreadEvents = { begun() {}, did() {}, marks() {}, log() {}, died() {} }

/** A thread with an engine, from the side that everything else runs on. */
export class EngineThread implements EngineLink {
  readonly cells = new Int32Array(new SharedArrayBuffer(16)).fill(-1, 0, 1)
  /** Who is told. A thread that stands ready has nobody. */
  on: EngineThreadEvents = NOBODY
  /** Its engine also finds out whose the memory is, which costs time. */
  inspects = false
  readonly #mints = new MintTeller()
  readonly #bell = new Int32Array(new SharedArrayBuffer(4))
  readonly #worker: Worker
  readonly #port: MessagePort
  readonly #journal: string
  readonly #memory: MemoryLimits
  #isOver = false
  #death: Death | undefined
  #block: LiveBlock | undefined

  /** `entry`: the module that the thread runs. `journal`: where the tape lies. */
  constructor(entry: URL, journal: string, memory: MemoryLimits) {
    const { port1, port2 } = new MessageChannel()
    const workerData: EngineThreadStart = { port: port2, bell: this.#bell, cells: this.cells }
    this.#journal = journal
    this.#memory = memory
    this.#port = port1
    this.#port.on('message', (message: FromEngine) => this.#receive(message))
    // The stack is as deep as the main thread's, so that what fits here fits in a replay.
    const resourceLimits = {
      maxOldGenerationSizeMb: HARD_HEAP * memory.heapMb,
      maxYoungGenerationSizeMb: 32,
      stackSizeMb: 1.15,
    }
    this.#worker = new Worker(entry, { workerData, transferList: [port2], resourceLimits })
    this.#worker.on('error', (error: unknown) => this.#die({ bot: this.#active, reason: textOf(error) }))
    this.#worker.on('exit', (code) => this.#ended(code))
  }

  begin(seq: Seq, time: Millis, start: StartInput): void {
    const { inspects } = this
    const death = this.#death
    if (death !== undefined) setImmediate(() => this.#tell(death))
    else this.#post({ kind: 'begin', seq, time, start, journal: this.#journal, memory: this.#memory, inspects })
  }

  rows(block: Block, from: number, to: number, firstSeq: Seq): void {
    if (!(block instanceof LiveBlock)) throw new TypeError('an engine thread takes rows of live blocks only')
    const memory = block === this.#block ? null : { buffer: block.buffer, capacity: block.capacity }
    this.#block = block
    this.#post({ kind: 'rows', memory, from, to, firstSeq, news: this.#mints.news(block.mints) })
  }

  input(seq: Seq, time: Millis, input: Input): void {
    this.#post({ kind: 'input', seq, time, input })
  }

  /** Ends the thread, whatever it is doing; nothing is heard of it any more. */
  async end(): Promise<void> {
    this.#isOver = true
    this.#port.close()
    await this.#worker.terminate()
  }

  #post(message: ToEngine): void {
    if (this.#isOver) return
    this.#port.postMessage(message)
    Atomics.add(this.#bell, 0, 1)
    Atomics.notify(this.#bell, 0)
  }

  #receive(message: FromEngine): void {
    if (this.#isOver) return
    switch (message.kind) {
      case 'begun':
        this.on.begun(message.outputs, message.warmed)
        break
      case 'did':
        this.on.did(message.next, message.outputs)
        break
      case 'marks':
        this.on.marks(message.marks)
        break
      case 'log':
        this.on.log(message.bot, message.text)
        break
      case 'broke':
        this.#die(message)
    }
  }

  get #active(): number {
    return Atomics.load(this.cells, Cell.active)
  }

  /** What it said last may still lie in the port. */
  #ended(code: number): void {
    for (let last = this.#next(); last !== undefined; last = this.#next()) this.#receive(last)
    this.#die({ bot: this.#active, reason: `its thread ended (exit code ${code})` })
  }

  #next(): FromEngine | undefined {
    return this.#isOver ? undefined : (receiveMessageOnPort(this.#port)?.message as FromEngine | undefined)
  }

  #die(death: Death): void {
    if (this.#isOver || this.#death !== undefined) return
    this.#death = death
    this.#tell(death)
  }

  #tell(death: Death): void {
    if (this.#isOver || this.on === NOBODY) return
    this.#isOver = true
    this.on.died(death)
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : 'it threw something that is no error'
}
