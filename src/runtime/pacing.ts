import Bottleneck from 'bottleneck'

/** Bottleneck's scale: what is smaller goes first. */
export const Pace = { first: 0, soon: 3, normal: 5, late: 9 } as const
export type Pace = (typeof Pace)[keyof typeof Pace]

/** Runs something in its turn; the promise is that of `run`. */
export type Paced = <T>(run: () => Promise<T> | T, priority?: Pace) => Promise<T>

/** Outgoing WebSocket messages of one connection, evenly spaced; the plan's rate may change. */
export class MessagePacer {
  readonly #bottleneck: Bottleneck

  /** `perSecond`: the plan's messages a second. */
  constructor(perSecond: number) {
    this.#bottleneck = new Bottleneck({ minTime: 1000 / perSecond, maxConcurrent: 1 })
  }

  readonly run: Paced = (run, priority = Pace.normal) =>
    this.#bottleneck.schedule({ priority }, async () => await run())

  setPerSecond(perSecond: number): void {
    this.#bottleneck.updateSettings({ minTime: 1000 / perSecond })
  }
}

export interface RpcRates {
  readonly requestsPerSecond: number
  readonly sendsPerSecond: number
}
export const RPC_RATES: RpcRates = { requestsPerSecond: 8, sendsPerSecond: 1 }

/** Solana's own endpoints, which anybody may use and nobody much: 4 in 10 s a method. */
const PUBLIC_HOSTS = new Set([
  'api.mainnet-beta.solana.com',
  'api.mainnet.solana.com',
  'api.devnet.solana.com',
  'api.testnet.solana.com',
])
const PUBLIC_METHOD_MS = 2_500

/** Calls to RPC providers: each host has a budget of its own, and within it `sendTransaction`, and on public hosts every method. */
export class RpcPacer {
  readonly #hosts: Bottleneck.Group
  readonly #sends: Bottleneck.Group
  readonly #methods = new Bottleneck.Group({ minTime: PUBLIC_METHOD_MS })

  constructor(rates: RpcRates = RPC_RATES) {
    this.#hosts = new Bottleneck.Group({ minTime: 1000 / rates.requestsPerSecond })
    this.#sends = new Bottleneck.Group({ minTime: 1000 / rates.sendsPerSecond })
  }

  run<T>(url: string, method: string, call: () => Promise<T>, priority: Pace = Pace.normal): Promise<T> {
    const { host, hostname } = new URL(url)
    const inHost = (): Promise<T> => this.#hosts.key(host).schedule({ priority }, call)
    const inSend = (): Promise<T> =>
      method === 'sendTransaction' ? this.#sends.key(host).schedule({ priority }, inHost) : inHost()
    if (!PUBLIC_HOSTS.has(hostname)) return inSend()
    return this.#methods.key(`${host} ${method}`).schedule({ priority }, inSend)
  }
}
