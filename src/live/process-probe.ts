import { readFileSync } from 'node:fs'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'
import type { Clock } from '../base/machine.ts'
import type { Millis } from '../base/units.ts'
import type { ProcessStatus } from '../runtime/view/view.ts'
import type { Heartbeat } from './heartbeat.ts'
import type { LiveWorld } from './world.ts'

const EVERY_MS = 5_000
/** Number of measurements that are kept: those of the last minute. The status shows the highest of their event-loop
 *  delays. */
const KEPT = 12
/** Interval between two samples of the event loop's delay, ms. */
const RESOLUTION = 100

export interface ProbeParts {
  readonly clock: Clock
  readonly world: Pick<LiveWorld, 'decisionTime' | 'feed' | 'chain' | 'raised' | 'lostAlerts'>
  readonly heartbeat: Pick<Heartbeat, 'acceptedAt' | 'failed'> | undefined
}

/** Measures this process. */
export class ProcessProbe {
  readonly #parts: ProbeParts
  readonly #delay = monitorEventLoopDelay({ resolution: RESOLUTION })
  readonly #delays: { readonly p99: number; readonly max: number }[] = []
  readonly #version = versionOf()
  #measuredAt: Millis = Number.NEGATIVE_INFINITY
  #status: ProcessStatus | undefined

  constructor(parts: ProbeParts) {
    this.#parts = parts
    this.#delay.enable()
  }

  /** The last measurement, which is at most five seconds old. */
  get status(): ProcessStatus {
    const now = this.#parts.clock.now()
    if (this.#status === undefined || now - this.#measuredAt >= EVERY_MS) {
      this.#measuredAt = now
      this.#status = this.#measured()
    }
    return this.#status
  }

  stop(): void {
    this.#delay.disable()
  }

  #measured(): ProcessStatus {
    const { world, heartbeat } = this.#parts
    const { user, system } = process.cpuUsage()
    return {
      ...{ version: this.#version, node: process.versions.node, startedAt: performance.timeOrigin },
      cpuSeconds: (user + system) / 1e6,
      residentBytes: process.memoryUsage.rss(),
      heapBytes: getHeapStatistics().used_heap_size,
      busySeconds: performance.eventLoopUtilization().active / 1000,
      delayMs: this.#delayMs(),
      decisions: world.decisionTime.distribution,
      shedRows: world.feed.counts.shed,
      rpc: world.chain?.rpcs.use.map((use) => ({ ...use })) ?? [],
      ...{ alerts: Object.fromEntries(world.raised), lostAlerts: world.lostAlerts },
      heartbeat: heartbeat === undefined ? null : { acceptedAt: heartbeat.acceptedAt, failures: heartbeat.failed },
    }
  }

  /** The highest delays in the measurements of the last minute. */
  #delayMs(): ProcessStatus['delayMs'] {
    const delay = this.#delay
    if (delay.count > 0) this.#delays.push({ p99: beyond(delay.percentile(99)), max: beyond(delay.max) })
    if (this.#delays.length > KEPT) this.#delays.shift()
    delay.reset()
    return {
      p99: Math.max(0, ...this.#delays.map(({ p99 }) => p99)),
      max: Math.max(0, ...this.#delays.map(({ max }) => max)),
    }
  }
}

/** Returns the delay that a sample shows, ms. A sample also includes the sampling interval, which is subtracted. */
function beyond(nanoseconds: number): number {
  return Math.max(0, nanoseconds / 1e6 - RESOLUTION)
}

function versionOf(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}
