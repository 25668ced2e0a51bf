import type { WebSocket } from 'ws'
import type { Clock } from '../../base/machine.ts'
import { isPublicKey } from '../../solana/base58.ts'
import type { Dialect } from '../dialect.ts'
import type { Customer, Customers } from './customers.ts'

export type StreamCode = 'AUTHENTICATION_FAILED' | 'SUBSCRIPTION_FAILED' | 'RATE_LIMIT_EXCEEDED' | 'CONNECTION_LIMIT'

/** Functions of the stream that its connections use. */
export interface Host {
  readonly clock: Clock
  readonly customers: Customers
  readonly dialect: Dialect
  /** Whether the stream is silent: then no connection sends a message. */
  readonly silent: boolean
  /** Called with the subscription keys that were added to a connection (`added`) or removed from it (`removed`). */
  added(connection: Connection, keys: string[]): void
  removed(connection: Connection, keys: string[]): void
}

const CHANNELS = ['trades', 'newTokens', 'priceUpdates']
const MAX_KEYS = 10_000
/** Number of unsent bytes at which a client that reads too slowly is disconnected, so that unsent messages do not fill
 *  the memory. */
const LARGEST_BACKLOG_BYTES = 32_000_000
/** WebSocket close code 1013, which asks the client to try again later. */
const TRY_AGAIN_LATER = 1013
const POLICY_VIOLATION = 1008

/** Connection of one client to the stream. */
export class Connection {
  customer: Customer | undefined
  readonly keys = new Set<string>()
  readonly #socket: WebSocket
  readonly #host: Host
  #second = 0
  #messages = 0

  constructor(socket: WebSocket, host: Host) {
    this.#socket = socket
    this.#host = host
  }

  receive(data: string, binary: boolean): void {
    const message = binary ? undefined : parse(data)
    if (this.#host.dialect.messageLimit === 'inbound' && !this.#admit()) {
      this.#error('RATE_LIMIT_EXCEEDED', 'Too many messages')
    } else if (message?.method === 'authenticate') {
      this.#authenticate(message.apiKey)
    } else if (message?.method === 'ping') {
      this.#reply({ type: 'pong' })
    } else if (!this.customer) {
      this.#error('AUTHENTICATION_FAILED', 'Authenticate first')
    } else if (message?.method === 'subscribe') {
      this.#subscribe(message.keys)
    } else if (message?.method === 'unsubscribe') {
      this.#unsubscribe(message.keys)
    } else {
      this.#error('SUBSCRIPTION_FAILED', 'Unknown method')
    }
  }

  /** Sends an event, which was serialized once for all connections. */
  deliver(frame: Buffer): void {
    if (this.#host.dialect.messageLimit === 'outbound' && !this.#admit()) {
      // The error is sent once per second, because it counts as an outgoing message itself.
      if (this.#messages === this.#limit + 1) this.#error('RATE_LIMIT_EXCEEDED', 'Too many messages')
      return
    }
    this.send(frame, false)
  }

  send(frame: Buffer | string, binary: boolean): void {
    if (this.#host.silent || this.#socket.readyState !== this.#socket.OPEN) return
    if (this.#socket.bufferedAmount > LARGEST_BACKLOG_BYTES) this.#socket.terminate()
    else this.#socket.send(frame, { binary })
  }

  terminate(): void {
    this.#socket.terminate()
  }

  refuse(code: StreamCode, message: string): void {
    this.#error(code, message)
    this.#socket.close(code === 'CONNECTION_LIMIT' ? TRY_AGAIN_LATER : POLICY_VIOLATION)
  }

  #authenticate(apiKey: unknown): void {
    const { customers, dialect } = this.#host
    const customer = typeof apiKey === 'string' ? customers.byKey(apiKey) : undefined
    if (!customer) {
      if (dialect.authenticationFailure === 'close') this.refuse('AUTHENTICATION_FAILED', 'Invalid API key')
      else this.#error('AUTHENTICATION_FAILED', 'Invalid API key')
      return
    }
    if (this.customer !== customer && customer.connections >= customer.plan.connections) {
      this.refuse('CONNECTION_LIMIT', 'Too many connections')
      return
    }
    if (this.customer) this.customer.connections--
    customer.connections++
    this.customer = customer
    this.#reply({ type: 'authenticated', userId: customer.userId, plan: planName(customer, dialect) })
  }

  /** Adds the subscription keys. If one key is invalid, the whole batch is refused; the error does not name the key. */
  #subscribe(keys: unknown): void {
    if (!isKeys(keys) || this.keys.size + keys.length > MAX_KEYS) {
      this.#error('SUBSCRIPTION_FAILED', 'Invalid subscription key')
      return
    }
    const added = keys.filter((key) => !this.keys.has(key))
    for (const key of added) this.keys.add(key)
    this.#host.added(this, added)
    this.#reply({ type: 'subscribed', keys: this.#shownKeys(keys), timestamp: this.#host.clock.now() })
  }

  #unsubscribe(keys: unknown): void {
    if (!isKeys(keys)) {
      this.#error('SUBSCRIPTION_FAILED', 'Invalid subscription key')
      return
    }
    const removed = keys.filter((key) => this.keys.delete(key))
    this.#host.removed(this, removed)
    const { unsubscribeReply } = this.#host.dialect
    if (unsubscribeReply === 'none') return
    const shown = unsubscribeReply === 'unsubscribed' ? keys : [...this.keys]
    this.#reply({ type: unsubscribeReply, keys: shown, timestamp: this.#host.clock.now() })
  }

  #shownKeys(requested: string[]): string[] {
    return this.#host.dialect.subscribedKeys === 'request' ? requested : [...this.keys]
  }

  get #limit(): number {
    return this.customer?.plan.messagesPerSecond ?? 50
  }

  /** Counts one message. Returns false if it exceeds the limit of this second. */
  #admit(): boolean {
    const second = Math.floor(this.#host.clock.now() / 1_000)
    if (second !== this.#second) {
      this.#second = second
      this.#messages = 0
    }
    return ++this.#messages <= this.#limit
  }

  #error(code: StreamCode, message: string): void {
    this.#reply({ type: 'error', code, message, timestamp: this.#host.clock.now() })
  }

  #reply(message: object): void {
    this.send(JSON.stringify(message), false)
  }
}

interface ClientMessage {
  method?: unknown
  apiKey?: unknown
  keys?: unknown
}

function parse(data: string): ClientMessage | undefined {
  try {
    const message: unknown = JSON.parse(data)
    return typeof message === 'object' && message !== null ? message : undefined
  } catch {
    return undefined
  }
}

function isKeys(keys: unknown): keys is string[] {
  return Array.isArray(keys) && keys.length > 0 && keys.every((key) => CHANNELS.includes(key) || isPublicKey(key))
}

function planName({ plan }: Customer, dialect: Dialect): string {
  if (dialect.planName === 'standard') return plan.name
  if (dialect.planName === 'STANDARD') return plan.name.toUpperCase()
  return plan.name.charAt(0).toUpperCase() + plan.name.slice(1)
}
