import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import type { Millis, Seq } from '../../base/units.ts'
import type { Mark } from '../../engine/accounting/position.ts'
import type { Input, Output, StartInput } from '../../engine/messages.ts'
import type { Block } from '../../market/block.ts'
import { LiveBlock } from '../../market/live-block.ts'
import { type MintNews, MintTeller } from '../../market/mints.ts'
import type { MemoryLimits } from './memory-guard.ts'
import type { EngineLink } from './threaded-runner.ts'

/** Data that a thread starts with. It loads the engine's modules and then waits for `begin`, so that spare threads
 *  can stand ready. */
export interface EngineThreadStart {
  readonly port: MessagePort
  /** Incremented when a message waits to be read. */
  readonly bell: Int32Array
  /** Indexed by `Cell`. */
  readonly cells: Int32Array
}

/** Shared counters that show the state of the thread even while it is too busy to send a message. */
export const Cell = {
  /** Index (in the start input) of the bot whose handler runs; -1 if none. */
  active: 0,
  /** Incremented with every handler, every few rows, every input, and every loaded module. It follows `active`,
   *  because the engine needs that order. */
  progress: 1,
  /** Longest time until the next progress, ms; 0 while the thread waits for work. */
  deadlineMs: 2,
  /** The system's thread id, 0 if unavailable. */
  thread: 3,
} as const

/** How the engine of a thread begins. */
export interface BeginMessage {
  readonly kind: 'begin'
  readonly seq: Seq
  readonly time: Millis
  readonly start: StartInput
  /** Journal whose tape warms the strategies up. */
  readonly journal: string
  readonly memory: MemoryLimits
  readonly inspects: boolean
}

export interface RowsMessage {
  readonly kind: 'rows'
  /** The first rows of a block carry its memory. */
  readonly memory: { readonly buffer: SharedArrayBuffer; readonly capacity: number } | null
  readonly from: number
  readonly to: number
  readonly firstSeq: Seq
  /** Mints since the previous message. */
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
  /** Console output of a strategy. */
  | { readonly kind: 'log'; readonly bot: number; readonly text: string }
  /** The engine cannot continue and does nothing more. */
  | ({ readonly kind: 'broke' } & Death)

export interface Death {
  /** Bot that caused it, -1 if unknown. */
  readonly bot: number
  readonly reason: string
  /** The memory limit is exceeded. */
  readonly isFull?: boolean
}

export interface EngineThreadEvents {
  begun(outputs: readonly Output[], warmed: number): void
  did(next: number, outputs: readonly Output[]): void
  marks(marks: readonly Mark[]): void
  log(bot: number, text: string): void
  /** Called once, as the last event. */
  died(death: Death): void
}

/** Factor over the limit at which the thread is ended. The room between the two lets the thread find the bot that
 *  holds the memory. */
const HARD_HEAP = 2

const NOBODY: EngineThreadEvents = { begun() {}, did() {}, marks() {}, log() {}, died() {} }

/** The main thread's side of a thread with an engine. */
export class EngineThread implements EngineLink {
  readonly cells = new Int32Array(new SharedArrayBuffer(16)).fill(-1, 0, 1)
  /** Receiver of events. A spare thread has none. */
  on: EngineThreadEvents = NOBODY
  /** Whether the engine also attributes memory to bots, which costs time. */
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

  /** `entry`: module that the thread runs. `journal`: path of the journal with the tape. */
  constructor(entry: URL, journal: string, memory: MemoryLimits) {
    const { port1, port2 } = new MessageChannel()
    const workerData: EngineThreadStart = { port: port2, bell: this.#bell, cells: this.cells }
    this.#journal = journal
    this.#memory = memory
    this.#port = port1
    this.#port.on('message', (message: FromEngine) => this.#receive(message))
    // The stack is as deep as that of the main thread, so that any handler that runs here also runs in a replay.
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
    if (!(block instanceof LiveBlock)) throw new TypeError('an engine thread accepts rows of live blocks only')
    const memory = block === this.#block ? null : { buffer: block.buffer, capacity: block.capacity }
    this.#block = block
    this.#post({ kind: 'rows', memory, from, to, firstSeq, news: this.#mints.news(block.mints) })
  }

  input(seq: Seq, time: Millis, input: Input): void {
    this.#post({ kind: 'input', seq, time, input })
  }

  /** Ends the thread unconditionally. No later event of it is delivered. */
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

  /** The last messages of the thread may still wait in the port. */
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
  return error instanceof Error ? `${error.name}: ${error.message}` : 'the engine threw a value that is not an error'
}
