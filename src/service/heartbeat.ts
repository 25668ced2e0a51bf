/** Seconds. The document asks for a ping about every 30. */
const PING_EVERY = 30
const STALE_AFTER = 40
const DEAD_AFTER = 50

export type Beat = 'calm' | 'ping' | 'stale' | 'dead'

/** Whether a connection still breathes. It counts ticks, not times: after a suspended machine or a blocked loop one late tick is one
 *  second, so that frames which wait in the socket are read before the server is declared dead. */
export class Heartbeat {
  #silent = 0
  #sincePing = 0

  /** A new connection. */
  start(): void {
    this.#silent = 0
    this.#sincePing = 0
  }

  /** Any frame shows life. */
  heard(): void {
    this.#silent = 0
  }

  /** Once a second while connected: what to do. `stale` comes once and asks for a ping too. */
  tick(): Beat {
    this.#silent++
    this.#sincePing++
    if (this.#silent > DEAD_AFTER) return 'dead'
    if (this.#silent === STALE_AFTER + 1) return 'stale'
    if (this.#sincePing < PING_EVERY) return 'calm'
    this.#sincePing = 0
    return 'ping'
  }
}
