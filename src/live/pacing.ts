import Bottleneck from 'bottleneck'
import PQueue from 'p-queue'

/** What goes first where not everything can go at once: Bottleneck's scale, on which what is smaller goes first. */
export const Pace = { first: 0, status: 2, fill: 3, normal: 5, audit: 6, history: 8 } as const
export type Pace = (typeof Pace)[keyof typeof Pace]

// One at a time: without that, Bottleneck gives every job its time at once, and a priority comes too late.
const evenly = (perSecond: number) => ({ minTime: 1000 / perSecond, maxConcurrent: 1 })
const TURN = async (): Promise<void> => {}

/** Outgoing WebSocket messages of one connection, evenly spaced; the plan's rate may change. */
export class MessagePacer {
  readonly #bottleneck: Bottleneck

  /** `perSecond`: the plan's messages a second. */
  constructor(perSecond: number) {
    this.#bottleneck = new Bottleneck(evenly(perSecond))
  }

  /** Runs `send` when it is its turn. */
  async run<T>(send: () => Promise<T> | T, priority: Pace = Pace.normal): Promise<T> {
    await this.#bottleneck.schedule({ priority }, TURN)
    return send()
  }

  setPerSecond(perSecond: number): void {
    this.#bottleneck.updateSettings(evenly(perSecond))
  }
}

export interface RpcRates {
  readonly requestsPerSecond: number
  readonly sendsPerSecond: number
}

const RPC_RATES: RpcRates = { requestsPerSecond: 8, sendsPerSecond: 1 }

/** Solana's own endpoints, which anybody may use and nobody much: 4 in 10 s a method. */
const PUBLIC_HOSTS = new Set([
  'api.mainnet-beta.solana.com',
  'api.mainnet.solana.com',
  'api.devnet.solana.com',
  'api.testnet.solana.com',
])

const PUBLIC_METHODS_PER_SECOND = 4 / 10

export function isPublicHost(url: string): boolean {
  return PUBLIC_HOSTS.has(new URL(url).hostname)
}

/** Calls to RPC providers: each host has a budget of its own; within it `sendTransaction`, and on public hosts every
 *  method. */
export class RpcPacer {
  readonly #hosts: Bottleneck.Group
  readonly #sends: Bottleneck.Group
  readonly #methods = new Bottleneck.Group(evenly(PUBLIC_METHODS_PER_SECOND))

  constructor(rates: RpcRates = RPC_RATES) {
    this.#hosts = new Bottleneck.Group(evenly(rates.requestsPerSecond))
    this.#sends = new Bottleneck.Group(evenly(rates.sendsPerSecond))
  }

  /** Runs `call` when it is its turn. How many are under way at once is not its business: see `IoQueue`. */
  async run<T>(url: string, method: string, call: () => Promise<T>, priority: Pace = Pace.normal): Promise<T> {
    const { host } = new URL(url)
    if (isPublicHost(url)) await this.#methods.key(`${host} ${method}`).schedule({ priority }, TURN)
    if (method === 'sendTransaction') await this.#sends.key(host).schedule({ priority }, TURN)
    await this.#hosts.key(host).schedule({ priority }, TURN)
    return call()
  }
}

/** Bounds how much I/O is under way at once; never in the way of an order whose slot is free, as long as `concurrency`
 *  exceeds the plan's slots that can be under way. */
export class IoQueue {
  readonly #queue: PQueue

  constructor(concurrency: number) {
    this.#queue = new PQueue({ concurrency })
  }

  run<T>(priority: Pace, io: () => Promise<T>): Promise<T> {
    return this.#queue.add(io, { priority: -priority })
  }

  /** When nothing is under way or waits. */
  async idle(): Promise<void> {
    await this.#queue.onIdle()
  }
}
