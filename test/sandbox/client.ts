import { WebSocket } from 'ws'
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/sandbox.ts'
import { SimulatedClock } from '../../src/simulation/simulated-clock.ts'
import { venueOf } from '../../src/venues/registry.ts'
import { StillMarket } from './still-market.ts'

const SLOT_MS = 400

/** The body of an answer. Its type is `any`, because its shape depends on the variant of the protocol (dialect). */
// biome-ignore lint/suspicious/noExplicitAny: its shape depends on the dialect (variant of the protocol)
export type Answered = any

export interface Reply {
  status: number
  headers: Headers
  /** The parsed value if the body is JSON, otherwise the text. */
  body: Answered
}

/** A sandbox on real sockets, with simulated time and a market that changes only by calls of the test. */
export interface Rig extends Sandbox {
  clock: SimulatedClock
  still: StillMarket
  advance(slots: number): void
}

export async function openRig(options: SandboxOptions = {}): Promise<Rig> {
  const clock = new SimulatedClock(1_700_000_000_000)
  let still: StillMarket | undefined
  const market = (emit: ConstructorParameters<typeof StillMarket>[0]): StillMarket => {
    still = new StillMarket(emit)
    return still
  }
  const sandbox = await startSandbox(venueOf({ kind: 'sandbox' }).served, {
    clock,
    market,
    entropy: 'test',
    ...options,
  })
  return { ...sandbox, clock, still: still!, advance: (slots) => clock.advanceTo(clock.now() + slots * SLOT_MS) }
}

export async function call(url: string, init: RequestInit = {}): Promise<Reply> {
  const response = await fetch(url, init)
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: parse(text) }
}

export function get(sandbox: Sandbox, path: string, apiKey = sandbox.apiKeys.standard): Promise<Reply> {
  return call(sandbox.baseUrl + path, { headers: { authorization: `Bearer ${apiKey}` } })
}

export function post(sandbox: Sandbox, path: string, body: unknown, apiKey = sandbox.apiKeys.standard): Promise<Reply> {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  return call(sandbox.baseUrl + path, {
    method: 'POST',
    headers,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

/** Returns the `result` of a JSON-RPC call, or its `error`. */
export async function rpc(sandbox: Sandbox, method: string, ...params: unknown[]): Promise<Answered> {
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  }
  const { body } = await call(sandbox.rpcUrl, init)
  return body.error ?? body.result
}

/** A WebSocket client that records all messages. */
export class Listener {
  readonly frames: (string | Buffer)[] = []
  readonly socket: WebSocket
  closeCode: number | undefined
  #waiting: (() => void)[] = []

  constructor(url: string) {
    this.socket = new WebSocket(url, { perMessageDeflate: true })
    this.socket.on('message', (data: Buffer, binary) =>
      this.#got(() => this.frames.push(binary ? data : data.toString())),
    )
    this.socket.on('close', (code) => this.#got(() => (this.closeCode = code)))
    this.socket.on('error', () => {})
  }

  static async open(url: string): Promise<Listener> {
    const listener = new Listener(url)
    await new Promise((resolve) => listener.socket.once('open', resolve))
    return listener
  }

  /** Opens a client, authenticates and subscribes. */
  static async on(sandbox: Sandbox, keys: string[], apiKey = sandbox.apiKeys.standard): Promise<Listener> {
    const listener = await Listener.open(sandbox.wsUrl)
    listener.send({ method: 'authenticate', apiKey })
    await listener.next('authenticated')
    if (keys.length === 0) return listener
    listener.send({ method: 'subscribe', keys })
    await listener.next('subscribed')
    return listener
  }

  get messages(): Answered[] {
    return this.frames.map((frame) => (typeof frame === 'string' ? parse(frame) : frame))
  }

  of(type: string): Answered[] {
    return this.messages.filter((message) => message?.type === type)
  }

  send(message: unknown): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message))
  }

  /** Waits for the next message of a type, and returns it. Each message is returned only once. */
  async next(type: string): Promise<Answered> {
    const index = this.#taken.get(type) ?? 0
    this.#taken.set(type, index + 1)
    await this.until(() => this.of(type).length > index)
    return this.of(type)[index]
  }

  /** Waits until all earlier messages have arrived: the answer to a ping comes after them. */
  async settled(): Promise<void> {
    this.send({ method: 'ping' })
    await this.next('pong')
  }

  async closed(): Promise<number> {
    await this.until(() => this.closeCode !== undefined)
    return this.closeCode!
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  close(): void {
    this.socket.terminate()
  }

  readonly #taken = new Map<string, number>()

  #got(note: () => void): void {
    note()
    for (const resume of this.#waiting.splice(0)) resume()
  }
}

function parse(text: string): Answered {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
