import type { Cancel, Socket } from '../../base/machine.ts'
import type { Random } from '../../base/random.ts'
import type { FeedParts } from '../venue.ts'
import { messages } from './wire/requests.ts'

export type ConnectionParts = Pick<FeedParts, 'url' | 'apiKey' | 'dial' | 'clock' | 'random' | 'pace'>

export interface ConnectionEvents {
  message(data: Uint8Array, binary: boolean, start: number, end: number): void
  /** As of a socket. */
  settled(): void
  /** Connected no longer, or not yet again: see `state`. */
  down(): void
  /** Silent for longer than the answer to a ping takes. */
  silent(): void
  /** Once a second, whatever the state. */
  second(): void
  notice(text: string): void
}

export type ConnectionState = 'idle' | 'dialing' | 'authenticating' | 'open' | 'waiting' | 'refused' | 'stopped'

const SECOND_MS = 1_000
/** Seconds to connect, and to be authenticated. */
const PATIENCE = 10
/** Seconds between two looks at the source of a refused key. */
const KEY_EVERY = 30

/** One authenticated socket that comes back by itself. It knows nothing of what is said on it but the first message. */
export class Connection {
  state: ConnectionState = 'idle'
  /** The key of the present or last connection: a secret. */
  apiKey = ''
  readonly #parts: ConnectionParts
  readonly #on: ConnectionEvents
  readonly #heartbeat = new Heartbeat()
  readonly #redial: Redial
  #socket: Socket | undefined
  /** Seconds in the present state. */
  #waited = 0
  #cancelSecond: Cancel | undefined
  #cancelDial: Cancel | undefined

  constructor(parts: ConnectionParts, on: ConnectionEvents) {
    this.#parts = parts
    this.#on = on
    this.#redial = new Redial(parts.random)
  }

  start(): void {
    this.#dial()
    this.#secondLater()
  }

  stop(): void {
    this.#cancelSecond?.()
    this.#cancelDial?.()
    this.#leave('stopped')
  }

  /** The service has accepted the key; false where nobody asked it. */
  authenticated(): boolean {
    if (this.state !== 'authenticating') return false
    this.#enter('open')
    return true
  }

  /** The service refuses the key: no other connection is tried with it. */
  refuse(): void {
    this.#leave('refused')
  }

  /** Ends the connection and dials again after `waitMs`. */
  lose(reason: string, waitMs = this.#redial.next()): void {
    this.#leave('waiting')
    this.#on.notice(`${reason}; dialing again in ${Math.round(waitMs)} ms`)
    this.#cancelDial = this.#parts.clock.after(waitMs, () => this.#dial())
  }

  /** Another second of being live; true when that has been long enough for earlier losses to be forgotten. */
  prove(): boolean {
    return this.#redial.tick()
  }

  /** Paced; never before the authentication, nor into another connection than it was meant for. */
  send(text: string): void {
    const socket = this.#socket
    this.#parts.pace(() => {
      if (this.#socket === socket && this.state === 'open') socket?.send(text)
    })
  }

  #dial(): void {
    this.apiKey = this.#readKey()
    this.#enter('dialing')
    const isOurs = (): boolean => this.#socket === socket
    const socket: Socket = this.#parts.dial(this.#parts.url, {
      open: () => {
        if (isOurs()) this.#authenticate()
      },
      message: (data, binary, start = 0, end = data.length) => {
        if (!isOurs()) return
        this.#heartbeat.heard()
        this.#on.message(data, binary, start, end)
      },
      settled: () => {
        if (isOurs()) this.#on.settled()
      },
      closed: (reason) => {
        if (isOurs())
          this.lose(`${this.state === 'dialing' ? 'no connection' : 'the connection was closed'}: ${reason}`)
      },
    })
    this.#socket = socket
  }

  /** '' where the source cannot be read, which the service then refuses. */
  #readKey(): string {
    try {
      return this.#parts.apiKey()
    } catch (error) {
      this.#on.notice(`the key cannot be read: ${error instanceof Error ? error.message : 'unknown error'}`)
      return ''
    }
  }

  #authenticate(): void {
    this.#enter('authenticating')
    this.#heartbeat.start()
    this.#socket?.send(messages.authenticate(this.apiKey))
  }

  /** `terminate`, never a polite close: that waits for an answer from a server that may be gone. */
  #leave(state: ConnectionState): void {
    const socket = this.#socket
    this.#socket = undefined
    socket?.terminate()
    this.#enter(state)
    this.#on.down()
  }

  #enter(state: ConnectionState): void {
    this.state = state
    this.#waited = 0
  }

  #secondLater(): void {
    this.#cancelSecond = this.#parts.clock.after(SECOND_MS, () => {
      this.#secondLater()
      this.#second()
    })
  }

  #second(): void {
    this.#waited++
    this.#on.second()
    if (this.state === 'open') this.#beat()
    else if (this.state === 'refused') this.#tryAnotherKey()
    else if (this.state === 'dialing' || this.state === 'authenticating') {
      if (this.#waited > PATIENCE) this.lose(`no answer while ${this.state}`)
    }
  }

  #beat(): void {
    const beat = this.#heartbeat.tick()
    if (beat === 'dead') this.lose('no answer to a ping for 10 s')
    else if (beat !== 'calm') this.send(messages.ping())
    if (beat === 'stale') this.#on.silent()
  }

  #tryAnotherKey(): void {
    if (this.#waited % KEY_EVERY !== 0) return
    const key = this.#readKey()
    if (key !== '' && key !== this.apiKey) this.#dial()
  }
}

/** Seconds. The document asks for a ping about every 30. */
const PING_EVERY = 30
const STALE_AFTER = 40
const DEAD_AFTER = 50

export type Beat = 'calm' | 'ping' | 'stale' | 'dead'

/** Whether a connection still breathes. It counts ticks, not times: after a suspended machine or a blocked loop one
 *  late tick is one second, so that frames which wait in the socket are read before the server is declared dead. */
class Heartbeat {
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

const START_MS = 1000
/** The longest wait, and the wait after CONNECTION_LIMIT. */
export const LONGEST_REDIAL_MS = 30000
/** Seconds of being live after which the next loss counts as the first. */
const FORGIVEN_AFTER = 60

/** When to dial again: uniform between the document's start of 1,000 ms and its doubling cap, so that clients that a
 *  restart of the server has thrown out together do not come back together. */
export class Redial {
  readonly #random: Random
  #losses = 0
  #liveSeconds = 0

  constructor(random: Random) {
    this.#random = random
  }

  /** A connection was lost or never came; the wait in ms. */
  next(): number {
    const cap = Math.min(LONGEST_REDIAL_MS, START_MS * 2 ** Math.min(this.#losses, 20))
    this.#losses++
    this.#liveSeconds = 0
    return START_MS + this.#random.next() * (cap - START_MS)
  }

  /** Once a second while live; true when that has been long enough for the past to be forgiven. */
  tick(): boolean {
    if (++this.#liveSeconds < FORGIVEN_AFTER) return false
    this.#losses = 0
    return true
  }
}
