import type { Server } from 'node:http'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Clock } from '../../base/machine.ts'
import type { Dialect } from '../dialect.ts'
import type { Fault, Faults } from '../faults.ts'
import type { MarketEvent } from '../market/market.ts'
import { Connection, type Host } from './connection.ts'
import { type Customers, PLAN_NAMES } from './customers.ts'
import type { Frames } from './frames.ts'

const CHANNEL = { trade: 'trades', newToken: 'newTokens', priceUpdate: 'priceUpdates' } as const
const LARGEST_MESSAGE_BYTES = 1_000_000
const DEFAULT_SILENCE_MS = 60_000

export interface StreamOptions {
  server: Server
  path: string
  clock: Clock
  customers: Customers
  dialect: Dialect
  faults: Faults
  frames: Frames
}

/** Serves the WebSocket: sends every market event to the connections with a subscription key that matches it. */
export class Stream implements Host {
  readonly clock: Clock
  readonly customers: Customers
  readonly dialect: Dialect
  readonly #faults: Faults
  readonly #frames: Frames
  readonly #sockets: WebSocketServer
  readonly #connections = new Set<Connection>()
  readonly #subscribers = new Map<string, Set<Connection>>()
  #silentUntil = 0
  /** Event that the fault `reorder` holds until the next event was sent. */
  #held: MarketEvent | undefined
  #garbage = 0

  constructor({ server, path, clock, customers, dialect, faults, frames }: StreamOptions) {
    this.clock = clock
    this.customers = customers
    this.dialect = dialect
    this.#faults = faults
    this.#frames = frames
    this.#sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: LARGEST_MESSAGE_BYTES })
    server.on('upgrade', (request, socket, head) => {
      if (request.url?.split('?', 1)[0] !== path) return socket.destroy()
      return this.#sockets.handleUpgrade(request, socket, head, (client) => this.#open(client))
    })
    faults.onNow((fault) => this.#strike(fault))
  }

  get silent(): boolean {
    return this.clock.now() < this.#silentUntil
  }

  get connections(): number {
    return this.#connections.size
  }

  added(connection: Connection, keys: string[]): void {
    for (const key of keys) {
      const subscribers = this.#subscribers.get(key)
      if (subscribers) subscribers.add(connection)
      else this.#subscribers.set(key, new Set([connection]))
    }
  }

  removed(connection: Connection, keys: string[]): void {
    for (const key of keys) {
      const subscribers = this.#subscribers.get(key)
      if (subscribers?.delete(connection) && subscribers.size === 0) this.#subscribers.delete(key)
    }
  }

  publish(event: MarketEvent): void {
    const held = this.#held
    this.#held = undefined
    if (!held && this.#faults.strike('reorder')) {
      this.#held = event
      return
    }
    if (this.#faults.strike('garbage')) this.#sendGarbage(event)
    this.#deliver(event)
    if (this.#faults.strike('duplicate')) this.#deliver(event)
    if (held) this.#deliver(held)
  }

  close(): void {
    for (const connection of this.#connections) connection.terminate()
    this.#sockets.close()
  }

  /** Sends an event to its receivers. The event is serialized once, and only if there is a receiver. */
  #deliver(event: MarketEvent): void {
    const receivers = this.#receivers(event)
    if (receivers.length === 0) return
    const now = this.clock.now()
    const frame = Buffer.from(this.#frames.event(event, now))
    for (const connection of receivers) connection.deliver(frame)
    const unannounced = this.#frames.unannounced(event, now)
    if (unannounced) for (const connection of receivers) connection.deliver(Buffer.from(unannounced))
  }

  #receivers(event: MarketEvent): Connection[] {
    const all = this.#subscribers.get(CHANNEL[event.type])
    const one = this.#mintKeyCovers(event) ? this.#subscribers.get(event.mint) : undefined
    if (!one) return all ? [...all] : []
    if (!all) return [...one]
    const twice = this.dialect.overlap === 'twice'
    return [...all, ...[...one].filter((connection) => twice || !all.has(connection))]
  }

  #mintKeyCovers({ type }: MarketEvent): boolean {
    const { mintKey } = this.dialect
    if (type === 'trade') return mintKey === 'both' || mintKey === 'trades'
    return type === 'priceUpdate' && (mintKey === 'both' || mintKey === 'updates')
  }

  #sendGarbage(event: MarketEvent): void {
    const frame = garbageFrame(this.#garbage++)
    for (const connection of this.#receivers(event)) connection.send(frame, typeof frame !== 'string')
  }

  #open(client: WebSocket): void {
    const connection = new Connection(client, this)
    this.#connections.add(connection)
    // `ws` itself closes the connection of a client that violates the protocol, so this handler does nothing.
    client.on('error', () => {})
    client.on('close', () => this.#forget(connection))
    client.on('message', (data: Buffer, binary) => connection.receive(data.toString(), binary))
    if (this.#faults.strike('connectionLimit')) connection.refuse('CONNECTION_LIMIT', 'Too many connections')
  }

  #forget(connection: Connection): void {
    this.#connections.delete(connection)
    this.removed(connection, [...connection.keys])
    if (connection.customer) connection.customer.connections--
  }

  #strike({ kind, ms, plan }: Fault): void {
    if (kind === 'silence') this.#silentUntil = this.clock.now() + (ms ?? DEFAULT_SILENCE_MS)
    if (kind === 'disconnect') for (const connection of this.#connections) connection.terminate()
    if (kind === 'keyRevoked') this.#revoke(PLAN_NAMES.find((name) => name === plan) ?? 'standard')
  }

  #revoke(plan: (typeof PLAN_NAMES)[number]): void {
    const customer = this.customers.revoke(plan)
    for (const connection of this.#connections) {
      if (connection.customer === customer) connection.refuse('AUTHENTICATION_FAILED', 'API key deleted')
    }
  }
}

/** Invalid frames, sent in turn: examples of frames from a broken or malicious service. */
const GARBAGE: readonly (() => string | Buffer)[] = [
  () => 'not json',
  () => '',
  () => 'null',
  () => '[]',
  () => '42',
  () => '{"type":"trade"}',
  () => '{"type":"trade","mint":7,"price":"1e400","timestamp":"soon"}',
  () => '{"type":"trade","mint":"11111111111111111111111111111111","price":NaN}',
  () =>
    '{"type":"trade","mint":"x","amount":1e999,"tokensTraded":-1,"price":-0,"marketCap":null,"timestamp":-1,"side":"hold"}',
  () => '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"type":"trade"}',
  () => '{"type":"newToken","mint":"11111111111111111111111111111111","name":{"toString":1},"metadata":"none"}',
  () => '{"type":"error","code":null}',
  () => '{"type":"authenticated"}',
  () => Buffer.from([0, 255, 254, 1, 2, 3]),
  () => `${'['.repeat(20000)}${']'.repeat(20000)}`,
  () => `{"type":"newToken","name":"${'x'.repeat(10000000)}"}`,
]

function garbageFrame(index: number): string | Buffer {
  return GARBAGE[index % GARBAGE.length]!()
}
