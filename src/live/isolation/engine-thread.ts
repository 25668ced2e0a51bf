import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import type { Millis, Seq } from '../../base/units.ts'
import type { Mark } from '../../engine/accounting/position.ts'
import type { OwnedReading } from '../../engine/exits/exit-levels.ts'
import type { Input, Output, StartInput } from '../../engine/messages.ts'
import type { Block } from '../../market/block.ts'
import { LiveBlock } from '../../market/live-block.ts'
import { type MintNews, MintTeller } from '../../market/mints.ts'
import type { MemoryLimits } from './memory-guard.ts'
import type { EngineLink } from './threaded-runner.ts'

/** Data with which a thread starts. The thread loads the engine's modules and then waits for `begin`, so that spare
 *  threads are ready when they are needed. */
export interface EngineThreadStart {
  readonly port: MessagePort
  /** Counter that is incremented for each message. The thread sleeps until it changes, and then reads the messages. */
  readonly bell: Int32Array
  /** Shared counters, indexed by `Cell`. */
  readonly cells: Int32Array
}

/** Indexes of the shared counters. They show the state of the thread even while it is too busy to send a message. */
export const Cell = {
  /** Index of the bot whose handler is running, in the list of the `StartInput`; -1 if no handler is running. */
  active: 0,
  /** Counter that is incremented with every handler, every few market rows, every input, and every loaded module. It
   *  must directly follow `active`, because the engine receives both counters as one array. */
  progress: 1,
  /** Time within which the progress counter must change, ms; 0 while the thread waits for work. */
  deadlineMs: 2,
  /** The system's id of the thread; 0 if it is unavailable. */
  thread: 3,
} as const

/** Message that starts the engine of a thread. */
export interface BeginMessage {
  readonly kind: 'begin'
  readonly seq: Seq
  readonly time: Millis
  readonly start: StartInput
  /** Path of the journal. The strategies are warmed up with the market rows that it contains. */
  readonly journal: string
  readonly memory: MemoryLimits
  readonly inspects: boolean
}

export interface RowsMessage {
  readonly kind: 'rows'
  /** Shared memory of the block. Only the first message about a block contains it; in later messages it is null. */
  readonly memory: { readonly buffer: SharedArrayBuffer; readonly capacity: number } | null
  readonly from: number
  readonly to: number
  readonly firstSeq: Seq
  /** Mints that are new since the previous message. */
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
  /** Prices and values of all positions that are not closed. */
  | { readonly kind: 'readings'; readonly readings: readonly OwnedReading[] }
  /** Text that a strategy has written to the console. */
  | { readonly kind: 'log'; readonly bot: number; readonly text: string }
  /** The engine cannot continue. No further message follows. */
  | ({ readonly kind: 'broke' } & Death)

export interface Death {
  /** Index of the bot that caused the loss of the engine; -1 if it is unknown. */
  readonly bot: number
  readonly reason: string
  /** Whether the thread exceeded its memory limit. */
  readonly isFull?: boolean
}

export interface EngineThreadEvents {
  begun(outputs: readonly Output[], warmed: number): void
  did(next: number, outputs: readonly Output[]): void
  marks(marks: readonly Mark[]): void
  readings(readings: readonly OwnedReading[]): void
  log(bot: number, text: string): void
  /** Called once when the thread is lost; no other event follows. */
  died(death: Death): void
}

/** The main thread ends the engine's thread when that thread uses this many times its memory limit. Between the limit
 *  and this value, the engine's thread itself looks for the bot that uses the memory. */
const HARD_HEAP = 2

const NOBODY: EngineThreadEvents = { begun() {}, did() {}, marks() {}, readings() {}, log() {}, died() {} }

/** The main thread's object for an engine that runs in another thread. */
export class EngineThread implements EngineLink {
  readonly cells = new Int32Array(new SharedArrayBuffer(16)).fill(-1, 0, 1)
  /** Receiver of the thread's events. A spare thread, which is kept ready for the next engine, has none. */
  on: EngineThreadEvents = NOBODY
  /** Whether the engine measures the memory of each bot, which takes time. */
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

  /** `entry`: URL of the module that the thread runs. `journal`: path of the journal, which contains the market rows
   *  for the warm-up. */
  constructor(entry: URL, journal: string, memory: MemoryLimits) {
    const { port1, port2 } = new MessageChannel()
    const workerData: EngineThreadStart = { port: port2, bell: this.#bell, cells: this.cells }
    this.#journal = journal
    this.#memory = memory
    this.#port = port1
    this.#port.on('message', (message: FromEngine) => this.#receive(message))
    // The stack has the same size as the stack of the main thread. A replay runs in the main thread, so a handler that
    // succeeds here also succeeds in a replay.
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
    if (!(block instanceof LiveBlock))
      throw new TypeError('an engine thread accepts only rows of live blocks (blocks in shared memory)')
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
      case 'readings':
        this.on.readings(message.readings)
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

  /** Called when the thread has ended. Its last messages may still wait in the port and are read first. */
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
