import { readFileSync, readlinkSync } from 'node:fs'
import { Cell } from './engine-thread.ts'

const EVERY_MS = 20
/** If the process grows by more than this during one handler, the thread is ended: the computer's memory could be
 *  exhausted before the deadline. */
const MOST_GROWTH_MB = 1024
/** A thread that received little processor time may exceed its deadline by this factor. */
const MOST_DEADLINES = 10

/** Watches a thread from the main thread. It counts its own polls instead of reading a clock, so that no handler counts
 *  as late because the whole computer or the main thread has paused. A thread counts as late only if it ran for at
 *  least half of the time, or slept all the time. */
export class Watchdog {
  readonly #cells: Int32Array
  readonly #stuck: (bot: number, ms: number) => void
  readonly #usageOf: (thread: number) => ThreadUsage | undefined
  /** Number of polls at which a bot was running since the last progress, by the bot's index. */
  readonly #seen = new Map<number, number>()
  #progress = 0
  #looks = 0
  #cpuMs = 0
  #slept = true
  #rssMb = 0
  #isOver = false

  /** `stuck` is called once when the thread is late, with the bot that was seen most often; -1 if no handler ran. */
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

/** Processor time of a thread, ms, and whether the thread sleeps because it waits. */
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
