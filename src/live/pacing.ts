import Bottleneck from 'bottleneck'
import PQueue from 'p-queue'

/** Priorities of messages or calls that share a rate limit. As in Bottleneck, a smaller number runs first. */
export const Pace = { first: 0, status: 2, fill: 3, normal: 5, audit: 6, history: 8 } as const
export type Pace = (typeof Pace)[keyof typeof Pace]

// Only one job is scheduled at a time. Otherwise, Bottleneck would schedule every job immediately, and a job of higher
// priority that arrives later would have to wait for all of them.
const evenly = (perSecond: number) => ({ minTime: 1000 / perSecond, maxConcurrent: 1 })
const TURN = async (): Promise<void> => {}

/** Spaces the outgoing WebSocket messages of one connection evenly. The plan's rate may change. */
export class MessagePacer {
  readonly #bottleneck: Bottleneck

  /** `perSecond`: messages per second of the plan. */
  constructor(perSecond: number) {
    this.#bottleneck = new Bottleneck(evenly(perSecond))
  }

  /** Runs `send` when its turn comes. */
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

/** Solana's public endpoints, which share one small limit: 4 calls in 10 s per method. */
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

/** Spaces calls to RPC providers. Each host has its own rate, and `sendTransaction` has a separate rate at each host.
 *  At public hosts, every method has a separate rate. */
export class RpcPacer {
  readonly #hosts: Bottleneck.Group
  readonly #sends: Bottleneck.Group
  readonly #methods = new Bottleneck.Group(evenly(PUBLIC_METHODS_PER_SECOND))

  constructor(rates: RpcRates) {
    this.#hosts = new Bottleneck.Group(evenly(rates.requestsPerSecond))
    this.#sends = new Bottleneck.Group(evenly(rates.sendsPerSecond))
  }

  /** Runs `call` when its turn comes. `IoQueue` limits how many calls run at the same time. */
  async run<T>(url: string, method: string, call: () => Promise<T>, priority: Pace = Pace.normal): Promise<T> {
    const { host } = new URL(url)
    if (isPublicHost(url)) await this.#methods.key(`${host} ${method}`).schedule({ priority }, TURN)
    if (method === 'sendTransaction') await this.#sends.key(host).schedule({ priority }, TURN)
    await this.#hosts.key(host).schedule({ priority }, TURN)
    return call()
  }
}

/** Limits the number of concurrent I/O operations. `concurrency` should exceed the number of requests that the plan
 *  permits at the same time, so that no order waits here. */
export class IoQueue {
  readonly #queue: PQueue

  constructor(concurrency: number) {
    this.#queue = new PQueue({ concurrency })
  }

  run<T>(priority: Pace, io: () => Promise<T>): Promise<T> {
    return this.#queue.add(io, { priority: -priority })
  }

  /** Resolves once no operation runs or waits. */
  async idle(): Promise<void> {
    await this.#queue.onIdle()
  }
}
