import { readFileSync, readlinkSync } from 'node:fs'
import { Cell } from './engine-thread.ts'

const EVERY_MS = 20
/** If the process grows by more than this during one handler, the thread is ended: the computer's memory could be
 *  exhausted before the deadline. */
const MOST_GROWTH_MB = 1024
/** A thread that received little processor time counts as late only after this many deadlines. */
const MOST_DEADLINES = 10

/** Detects from the main thread that a handler in a watched thread has exceeded its deadline. It counts its own polls
 *  instead of reading a clock, so that a pause of the whole computer or of the main thread does not make a handler
 *  late. After the deadline, a handler is late in three cases: its thread has used the processor for half of the
 *  deadline, it has slept all the time, or MOST_DEADLINES deadlines have passed. */
export class Watchdog {
  readonly #cells: Int32Array
  readonly #stuck: (bot: number, ms: number) => void
  readonly #usageOf: (thread: number) => ThreadUsage | undefined
  /** For each bot's index, the number of polls that found a handler of this bot running since the thread last made
   *  progress. */
  readonly #seen = new Map<number, number>()
  #progress = 0
  #looks = 0
  #cpuMs = 0
  #slept = true
  #rssMb = 0
  #isOver = false

  /** `stuck` is called once when the thread is late. `bot`: index of the bot that most polls found running; -1 if no
   *  handler ran. `ms`: time for which the thread has made no progress. */
  constructor(cells: Int32Array, stuck: (bot: number, ms: number) => void, usageOf = threadUsage) {
    this.#cells = cells
    this.#stuck = stuck
    this.#usageOf = usageOf
  }

  /** Polls until the returned function is called. */
  start(): () => void {
    const timer = setInterval(() => this.look(), EVERY_MS)
    return () => clearInterval(timer)
  }

  /** Makes one poll; called every 20 ms. */
  look(): void {
    const progress = Atomics.load(this.#cells, Cell.progress)
    const deadlineMs = Atomics.load(this.#cells, Cell.deadlineMs)
    if (progress !== this.#progress || deadlineMs === 0) {
      this.#progress = progress
      this.#looks = 0
      this.#seen.clear()
      return
    }
    const active = Atomics.load(this.#cells, Cell.active)
    this.#seen.set(active, (this.#seen.get(active) ?? 0) + 1)
    const usage = this.#usageOf(Atomics.load(this.#cells, Cell.thread))
    if (this.#looks++ === 0) {
      this.#cpuMs = usage?.cpuMs ?? 0
      this.#slept = true
      this.#rssMb = rssMb()
    }
    this.#slept &&= usage?.sleeps !== false
    const ms = this.#looks * EVERY_MS
    const isGreedy = rssMb() - this.#rssMb > MOST_GROWTH_MB
    if (this.#isOver || (!isGreedy && (ms < deadlineMs || !this.#isItsOwnDoing(usage, ms, deadlineMs)))) return
    this.#isOver = true
    const [[bot] = [-1]] = [...this.#seen].sort(([, one], [, other]) => other - one)
    this.#stuck(bot, ms)
  }

  #isItsOwnDoing(usage: ThreadUsage | undefined, ms: number, deadlineMs: number): boolean {
    if (usage === undefined || this.#slept || ms >= MOST_DEADLINES * deadlineMs) return true
    return usage.cpuMs - this.#cpuMs >= deadlineMs / 2
  }
}

function rssMb(): number {
  return process.memoryUsage.rss() / 2 ** 20
}

/** Processor time that a thread has used, ms (`cpuMs`), and whether the thread waits at the moment (`sleeps`). */
export interface ThreadUsage {
  readonly cpuMs: number
  readonly sleeps: boolean
}

/** Milliseconds in a tick. Linux reports processor time in hundredths of a second on every architecture that Node
 *  supports. */
const MS_A_TICK = 10

/** The system's id of the calling thread; 0 if unavailable. */
export function threadId(): number {
  try {
    return Number(readlinkSync('/proc/thread-self').split('/').at(-1))
  } catch {
    return 0
  }
}

/** Usage of a thread of this process; undefined if the system does not report it. */
export function threadUsage(id: number): ThreadUsage | undefined {
  if (id === 0) return undefined
  try {
    const stat = readFileSync(`/proc/self/task/${id}/stat`, 'latin1')
    const [state, ...numbers] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { cpuMs: (Number(numbers[10]) + Number(numbers[11])) * MS_A_TICK, sleeps: state === 'S' }
  } catch {
    return undefined
  }
}
