import { Session } from 'node:inspector'
import { getHeapStatistics } from 'node:v8'
import { runInThisContext } from 'node:vm'
import type { Handlers, Strategy } from '../../engine/strategy.ts'

/** Memory limits that apply to all strategies together: for the heap, and for buffers outside of it. */
export interface MemoryLimits {
  readonly heapMb: number
  readonly buffersMb: number
}

const SAMPLE_BYTES = 16_384
const LOOK_EVERY_MS = 20
const MB = 2 ** 20

/** A breach of a memory limit. `bot`: index of the bot that caused it, -1 if it is unknown. */
export interface Breach {
  readonly bot: number
  readonly reason: string
}

interface SampledNode {
  readonly callFrame: { readonly functionName: string }
  readonly selfSize: number
  readonly children: readonly SampledNode[]
}

/** Checks between two handlers whether this thread has exceeded a memory limit, which takes almost no time. With
 *  `inspects`, it also finds the bot that uses the memory: it counts the buffers of each handler and samples the heap
 *  allocations. This takes time, so `inspects` is set only for an engine that replaces one that has exceeded a limit.
 *  */
export class MemoryGuard {
  readonly #limits: MemoryLimits
  readonly #session: Session | undefined
  /** Bytes of the buffers that were allocated while a bot's handlers ran, by bot. */
  readonly #buffers = new Map<number, number>()
  #lookedAt = 0

  constructor(limits: MemoryLimits, inspects: boolean) {
    this.#limits = limits
    if (!inspects) return
    this.#session = new Session()
    this.#session.connect()
    this.#session.post('HeapProfiler.startSampling', { samplingInterval: SAMPLE_BYTES })
  }

  /** Returns the strategy. If the memory of each bot is measured, the handlers of the returned strategy are wrapped for
   *  this. `indexOf`: index of a bot by its name. */
  watched(strategy: Strategy, indexOf: (bot: string) => number): Strategy {
    if (this.#session === undefined) return strategy
    return {
      ...strategy,
      start: (params, bot) => this.#counted(strategy.start(params, bot) as Handlers<unknown>, indexOf(bot.name)),
    } as Strategy
  }

  look(): Breach | undefined {
    const now = performance.now()
    if (now - this.#lookedAt < LOOK_EVERY_MS) return undefined
    this.#lookedAt = now
    const { used_heap_size: heap, external_memory: buffers } = getHeapStatistics()
    if (heap < this.#limits.heapMb * MB && buffers < this.#limits.buffersMb * MB) return undefined
    this.#collect()
    const left = getHeapStatistics()
    const heapMb = Math.round(left.used_heap_size / MB)
    const buffersMb = Math.round(left.external_memory / MB)
    if (heapMb >= this.#limits.heapMb)
      return { bot: this.#most(this.#heapByBot()), reason: `the strategies hold ${heapMb} MB of memory` }
    if (buffersMb < this.#limits.buffersMb) return undefined
    return { bot: this.#most(this.#buffers), reason: `the strategies hold ${buffersMb} MB of buffers` }
  }

  #most(bytes: ReadonlyMap<number, number>): number {
    const [[bot] = [-1]] = [...bytes].sort(([, one], [, other]) => other - one)
    return bot
  }

  /** Wraps each handler in a function whose name contains the index of the bot. A heap sample contains this name. */
  #counted(handlers: Handlers<unknown>, bot: number): Handlers<unknown> {
    const counted: Record<string, unknown> = {}
    for (const name in handlers) {
      const run = handlers[name as keyof typeof handlers] as ((...args: unknown[]) => unknown) | undefined
      if (typeof run !== 'function') continue
      const measured = (args: unknown[]): unknown => {
        const before = getHeapStatistics().external_memory
        try {
          return run.apply(handlers, args)
        } finally {
          const made = getHeapStatistics().external_memory - before
          if (made > 0) this.#buffers.set(bot, (this.#buffers.get(bot) ?? 0) + made)
        }
      }
      const named = runInThisContext(`(run) => function handlerOfBot${bot}(...args) { return run(args) }`)
      counted[name] = named(measured)
    }
    return counted as Handlers<unknown>
  }

  #collect(): void {
    const session = this.#session ?? new Session()
    if (this.#session === undefined) session.connect()
    session.post('HeapProfiler.collectGarbage')
    if (this.#session === undefined) session.disconnect()
  }

  /** Sampled heap bytes that are still in use, by the bot whose handler allocated them. */
  #heapByBot(): Map<number, number> {
    const bytes = new Map<number, number>()
    const walk = ({ callFrame, selfSize, children }: SampledNode, owner: number): void => {
      const named = /^handlerOfBot(\d+)$/.exec(callFrame.functionName)?.[1]
      const bot = named === undefined ? owner : Number(named)
      if (bot >= 0) bytes.set(bot, (bytes.get(bot) ?? 0) + selfSize)
      for (const child of children) walk(child, bot)
    }
    this.#session?.post('HeapProfiler.getSamplingProfile', (error, result) => {
      if (error === null) walk(result.profile.head as SampledNode, -1)
    })
    return bytes
  }
}
