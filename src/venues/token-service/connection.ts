import type { Cancel, Socket } from '../../base/machine.ts'
import type { Random } from '../../base/random.ts'
import type { FeedParts } from '../venue.ts'
import { messages } from './wire/requests.ts'

export type ConnectionParts = Pick<FeedParts, 'url' | 'apiKey' | 'dial' | 'clock' | 'random' | 'pace'>

export interface ConnectionEvents {
  message(data: Uint8Array, binary: boolean, start: number, end: number): void
  /** Called after all messages of one socket read were delivered. */
  settled(): void
  /** Called if the connection was lost or could not be opened. `state` has the details. */
  down(): void
  /** Called if nothing has arrived for so long that the answer to a ping is overdue. */
  silent(): void
  /** Called once a second in every state. */
  second(): void
  notice(text: string): void
}

export type ConnectionState = 'idle' | 'dialing' | 'authenticating' | 'open' | 'waiting' | 'refused' | 'stopped'

const SECOND_MS = 1_000
/** Maximum wait for the connection, and for the authentication, in seconds. */
const PATIENCE = 10
/** Interval in seconds at which the API key is read again after the service has refused it. */
const KEY_EVERY = 30

/** One authenticated WebSocket that reconnects by itself. The only message that it sends without a call of `send` is
 *  the first one, for the authentication. */
export class Connection {
  state: ConnectionState = 'idle'
  /** API key of the current or last connection. It is secret. */
  apiKey = ''
  readonly #parts: ConnectionParts
  readonly #on: ConnectionEvents
  readonly #heartbeat = new Heartbeat()
  readonly #redial: Redial
  #socket: Socket | undefined
  /** Number of seconds in the current state. */
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

  /** Handles the service's acceptance of the key. Returns false if no authentication was pending. */
  authenticated(): boolean {
    if (this.state !== 'authenticating') return false
    this.#enter('open')
    return true
  }

  /** Handles the service's refusal of the key. No further connection is opened with this key. */
  refuse(): void {
    this.#leave('refused')
  }

  /** Closes the connection, and connects again after `waitMs`. */
  lose(reason: string, waitMs = this.#redial.next()): void {
    this.#leave('waiting')
    this.#on.notice(`${reason}; connecting again in ${Math.round(waitMs)} ms`)
    this.#cancelDial = this.#parts.clock.after(waitMs, () => this.#dial())
  }

  /** Counts a second in which the feed was live. Returns true once the feed has been live long enough that earlier
   *  losses of the connection no longer count. */
  prove(): boolean {
    return this.#redial.tick()
  }

  /** Sends a message as soon as the plan's message rate allows it. If the connection is no longer open by then, the
   *  message is dropped. */
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
          this.lose(`${this.state === 'dialing' ? 'the connection failed' : 'the connection was closed'}: ${reason}`)
      },
    })
    this.#socket = socket
  }

  /** Reads the API key. Returns '' if its source cannot be read; the service then refuses the key. */
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

  /** Enters a state without a connection. Terminates the socket, because a close handshake would wait for a server that
   *  may be gone. */
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

/** All in seconds. The client sends a ping every `PING_EVERY`, as the service's document asks. If no message arrives
 *  for longer than `STALE_AFTER`, the feed counts as stale; for longer than `DEAD_AFTER`, the connection counts as
 *  dead. */
const PING_EVERY = 30
const STALE_AFTER = 40
const DEAD_AFTER = 50

export type Beat = 'calm' | 'ping' | 'stale' | 'dead'

/** Detects a dead connection. It counts the ticks of a timer that fires once a second, and reads no clock. If the
 *  machine was suspended or the event loop blocked, the late tick counts as one second, so that frames that wait in the
 *  socket are read before the connection counts as dead. */
class Heartbeat {
  #silent = 0
  #sincePing = 0

  /** Called when a connection was opened. Resets both counters to 0. */
  start(): void {
    this.#silent = 0
    this.#sincePing = 0
  }

  /** Called when a frame arrives. Any frame proves that the connection is alive. */
  heard(): void {
    this.#silent = 0
  }

  /** Counts a second and returns the action to take. Called once a second while connected. `stale` is returned once,
   *  when nothing has arrived for too long; a ping must be sent then too. */
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
/** Maximum delay before connecting again, which is also the delay after the error CONNECTION_LIMIT. */
export const LONGEST_REDIAL_MS = 30000
/** Once the feed has been live for this number of seconds, earlier losses of the connection no longer count. */
const FORGIVEN_AFTER = 60

/** Computes the delay before connecting again. It is a random number between the documented 1,000 ms and a maximum
 *  that doubles with each loss. Clients that lost the server at the same time therefore do not all return at the
 *  same time. */
export class Redial {
  readonly #random: Random
  #losses = 0
  #liveSeconds = 0

  constructor(random: Random) {
    this.#random = random
  }

  /** Returns the delay in ms after a lost or failed connection. */
  next(): number {
    const cap = Math.min(LONGEST_REDIAL_MS, START_MS * 2 ** Math.min(this.#losses, 20))
    this.#losses++
    this.#liveSeconds = 0
    return START_MS + this.#random.next() * (cap - START_MS)
  }

  /** Called once a second while the feed is live. After `FORGIVEN_AFTER` such seconds, earlier losses of the connection
   *  no longer increase the delay, and true is returned. */
  tick(): boolean {
    if (++this.#liveSeconds < FORGIVEN_AFTER) return false
    this.#losses = 0
    return true
  }
}
