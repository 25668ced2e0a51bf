import type { Clock, Http, Stop } from '../base/machine.ts'
import type { Millis } from '../base/units.ts'
import type { HeartbeatConfig } from '../config/config.ts'
import type { Log } from '../runtime/log.ts'
import { openHttp } from '../venues/http.ts'

/** A heartbeat that is not answered within this time has failed. */
const TIMEOUT_MS = 10_000
const BODY = JSON.stringify({ source: 'sluice' })

export interface HeartbeatParts {
  readonly url: string
  readonly everyMs: Millis
  readonly http: Http
  readonly clock: Clock
  readonly log: Pick<Log, 'info' | 'warn'>
}

/** Sends requests (heartbeats) to a receiver at regular intervals, to show that this process runs. A heartbeat contains
 *  nothing about the bots. At most one heartbeat is under way at a time. A failed heartbeat is not repeated, because
 *  the next one follows. */
export class Heartbeat {
  readonly #parts: HeartbeatParts
  #failures = 0
  /** Time of the last heartbeat that the receiver accepted; null before the first. */
  acceptedAt: Millis | null = null
  /** Number of heartbeats that failed. */
  failed = 0
  #isStopped = false

  constructor(parts: HeartbeatParts) {
    this.#parts = parts
    void this.#beat()
  }

  stop(): void {
    this.#isStopped = true
  }

  async #beat(): Promise<void> {
    const { url, everyMs, http, clock } = this.#parts
    const began = clock.now()
    const headers = { 'content-type': 'application/json' }
    const answer = await http({ method: 'POST', url, headers, body: BODY })
    if (this.#isStopped) return
    if (answer.kind !== 'answered') this.#failed(answer.reason)
    else if (answer.status < 200 || answer.status >= 300) this.#failed(`the receiver answered ${answer.status}`)
    else this.#worked()
    clock.after(Math.max(0, everyMs - (clock.now() - began)), () => {
      if (!this.#isStopped) void this.#beat()
    })
  }

  #failed(reason: string): void {
    const { log, everyMs } = this.#parts
    this.failed++
    if (this.#failures++ === 0) log.warn(`a heartbeat failed: ${reason}; Sluice tries again every ${everyMs / 1000} s`)
  }

  #worked(): void {
    if (this.#failures > 0) this.#parts.log.info({ failures: this.#failures }, 'the heartbeat works again')
    this.#failures = 0
    this.acceptedAt = this.#parts.clock.now()
  }
}

/** Starts the heartbeat. It uses separate connections, so that no order waits for it. */
export function startHeartbeat(
  { url, everyMs }: HeartbeatConfig,
  clock: Clock,
  log: HeartbeatParts['log'],
): { readonly heartbeat: Heartbeat; readonly stop: Stop } {
  const { http, close } = openHttp({ timeoutMs: TIMEOUT_MS, longestBody: 65_536 })
  const heartbeat = new Heartbeat({ url: url.read(), everyMs, http, clock, log })
  const stop = (): Promise<void> => {
    heartbeat.stop()
    return close()
  }
  return { heartbeat, stop }
}
