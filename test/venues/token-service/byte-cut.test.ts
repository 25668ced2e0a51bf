import { createServer, type Server, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { lamports, solToLamports } from '../../../src/base/units.ts'
import type { ExecutionReport, Order } from '../../../src/engine/order.ts'
import { Gateway } from '../../../src/orders/gateway.ts'
import { Limiter } from '../../../src/orders/plan-limiter.ts'
import type { Journal, Outcome } from '../../../src/orders/ports.ts'
import { monotonicMs, SystemClock } from '../../../src/runtime/system-clock.ts'
import { encodeBase58 } from '../../../src/solana/base58.ts'
import { openHttp } from '../../../src/venues/http.ts'
import { CloudExecutor } from '../../../src/venues/token-service/cloud-executor.ts'
import { aBuy, anOrder } from '../../support/gateway-world.ts'
import { type ByteCutter, type Cut, openByteCutter } from './byte-cutter.ts'
import { signatureOf, WALLET } from './wire/samples.ts'

// Gateway, cloud executor and HTTP client against a service on loopback. The connection between them is cut after every
// byte of the request and of the answer, by an end and by a reset, on a new connection and on a reused one.

/** A service that executes every complete request. */
class Service {
  /** The number of complete requests, by mint. */
  readonly whole = new Map<string, number>()
  readonly #sockets = new Set<Socket>()
  #server!: Server

  async open(): Promise<number> {
    this.#server = createServer((socket) => {
      let text = ''
      this.#sockets.add(socket)
      socket.setNoDelay().on('error', () => {})
      socket.on('data', (data) => {
        text += data.toString('latin1')
        const head = text.indexOf('\r\n\r\n')
        const length = Number(/content-length: (\d+)/i.exec(text)?.[1])
        if (head < 0 || text.length < head + 4 + length) return
        const { mint } = JSON.parse(text.slice(head + 4)) as { mint: string }
        text = ''
        this.whole.set(mint, (this.whole.get(mint) ?? 0) + 1)
        socket.write(ANSWER)
      })
    })
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done))
    return (this.#server.address() as { port: number }).port
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((done) => this.#server.close(done))
  }
}

const BODY = JSON.stringify({ success: true, data: { signature: signatureOf(3), status: 'submitted' } })
const ANSWER = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`

interface Sent {
  readonly order: Order
  readonly outcomes: Outcome[]
  readonly reports: ExecutionReport[]
  /** The number of bytes of the request that left the client. */
  received: number
}

/** The parts of Sluice between an order and the network. */
class Client {
  readonly clock = new SystemClock()
  readonly sent = new Map<string, Sent>()
  readonly #http = openHttp({ timeoutMs: 30_000 })
  readonly #gateway: Gateway
  readonly #cutter: ByteCutter
  #count = 0
  #heard: () => void = () => {}

  constructor(cutter: ByteCutter) {
    this.#cutter = cutter
    const { clock } = this
    const journal: Journal = {
      ...{ rows: () => {}, input: () => {}, output: () => {}, write: () => {} },
      commit: (then) => void setImmediate(then),
    }
    const limiter = new Limiter({
      ...{ key: 'k', boot: 'b', requestsPerMinute: 1_000_000, past: 'fresh', clock, monotonicMs, write: () => {} },
    })
    const say = (orderId: string, done: (outcome: Outcome) => void, outcome: Outcome): void => {
      this.sent.get(orderId)?.outcomes.push(outcome)
      done(outcome)
      this.#heard()
    }
    const executor = new CloudExecutor({
      ...{ http: this.#http.http, clock, baseUrl: `http://127.0.0.1:${cutter.port}/api`, apiKey: () => 'key' },
      ...{ wallet: WALLET, maxBuyLamports: () => solToLamports(100), sellUnit: () => 'unproved' },
      holding: () => undefined,
      resolve: {
        begin: ({ orderId }, done) => ({
          acked: (signature) => say(orderId, done, { kind: 'acked', signature }),
          doubt: (reason) => say(orderId, done, { kind: 'unknown', reason }),
          hungUp: () => {},
          refused: (outcome) => say(orderId, done, outcome),
          unsent: (outcome) => say(orderId, done, outcome),
        }),
        resume: () => {},
      },
    })
    this.#gateway = new Gateway({
      ...{ clock, monotonicMs, journal, nextReport: 1, route: () => ({ kind: 'cloud', executor, limiter }) },
      post: (input) => {
        if (input.kind !== 'report') return
        const { report } = input
        const sent = this.sent.get(report.orderId)
        sent?.reports.push(report)
        if (report.state === 'expired' && sent?.outcomes.length === 0) this.#heard()
      },
    })
  }

  /**
   * Sends an order once and returns its first outcome. The order expires so soon that it is never retried. On a busy
   * machine, it may expire before its first request. This function then sends another order in the same way.
   */
  async order(cut: Cut | undefined, side: 'buy' | 'sell'): Promise<Sent> {
    for (;;) {
      const sent = await this.#orderOnce(cut, side)
      if (sent.outcomes.length > 0) return sent
      expect([sent.received, wholeOf(sent)]).toEqual([0, 0])
      this.sent.delete(sent.order.id)
    }
  }

  async #orderOnce(cut: Cut | undefined, side: 'buy' | 'sell'): Promise<Sent> {
    const mint = encodeBase58(Buffer.alloc(32, 1).fill(String(++this.#count).padStart(8, '0'), 24))
    const common = { mint, time: this.clock.now(), notAfter: this.clock.now() + 400 }
    const half = { size: { kind: 'percent', percent: 50 }, class: 'entry' } as const
    const order = side === 'buy' ? aBuy({ ...common, size: BUY }) : anOrder({ ...common, ...half })
    const sent: Sent = { order, outcomes: [], reports: [], received: 0 }
    this.sent.set(order.id, sent)
    Object.assign(this.#cutter, { cut, received: 0 })
    await new Promise<void>((heard) => {
      this.#heard = heard
      this.#gateway.submit(order)
    })
    sent.received = this.#cutter.received
    return sent
  }

  async close(): Promise<void> {
    this.clock.stop()
    await this.#http.close()
  }
}
const BUY = { kind: 'sol', lamports: lamports(50_000_000) } as const

let service: Service
let cutter: ByteCutter
let client: Client
beforeAll(async () => {
  service = new Service()
  cutter = await openByteCutter(await service.open())
  client = new Client(cutter)
})
afterAll(async () => {
  await client.close()
  await cutter.close()
  await service.close()
})

/** Waits until a connection is open and idle. */
async function warmUp(side: 'buy' | 'sell'): Promise<void> {
  for (;;) {
    const sent = await client.order(undefined, side)
    if (endOf(sent) === 'acked') return
    // The connection was already closing when the request began.
    expect([endOf(sent), sent.received, wholeOf(sent)]).toEqual(['unsent', 0, 0])
  }
}

const wholeOf = ({ order }: Sent): number => service.whole.get(order.mint) ?? 0
const endOf = ({ outcomes }: Sent): string | undefined => outcomes[0]?.kind

describe.each(['buy', 'sell'] as const)('the connection of a %s is cut after any byte', (side) => {
  let length = 0
  test('a connection that is not cut transmits one complete request and the signature in its answer', async () => {
    const sent = await client.order(undefined, side)
    length = sent.received
    expect([endOf(sent), wholeOf(sent)]).toEqual(['acked', 1])
    expect(length).toBeGreaterThan(200)
  })
  test.each(['end', 'reset'] as const)(
    'if a request is cut by an %s, the service never receives it, and its outcome is unknown',
    async (how) => {
      for (let after = 0; after < length; after++) {
        const sent = await client.order({ of: 'request', after, how }, side)
        // The result `unsent` is allowed only if the connection was cut before the client had sent a byte.
        expect([endOf(sent), wholeOf(sent)], `after ${after}`).toEqual([
          after === 0 && endOf(sent) === 'unsent' ? 'unsent' : 'unknown',
          0,
        ])
        if (endOf(sent) === 'unsent') expect(sent.received).toBe(0)
      }
    },
  )
  test.each(['end', 'reset'] as const)(
    'if an answer is cut by an %s, the outcome is unknown unless the answer was complete, and the request arrived once',
    async (how) => {
      for (let after = 0; after <= ANSWER.length; after++) {
        const sent = await client.order({ of: 'response', after, how }, side)
        expect(wholeOf(sent), `after ${after}`).toBe(1)
        if (after < ANSWER.length) expect(endOf(sent), `after ${after}`).toBe('unknown')
        else expect(endOf(sent)).toMatch(/acked|unknown/)
      }
    },
  )
  test.each(['end', 'reset'] as const)(
    'if a request on a reused connection is cut by an %s, the service never receives it, and its outcome is unknown',
    async (how) => {
      for (let after = 1; after < length; after++) {
        await warmUp(side)
        const sent = await client.order({ of: 'request', after, how }, side)
        expect([endOf(sent), wholeOf(sent)], `after ${after}`).toEqual(['unknown', 0])
      }
    },
  )
})

test('with cut connections, no request was sent twice, and the state of each order is that of its only attempt', () => {
  for (const sent of client.sent.values()) {
    expect(wholeOf(sent)).toBeLessThanOrEqual(1)
    const ends = sent.outcomes.map(({ kind }) => kind).filter((kind) => kind !== 'unsent')
    expect(ends.length).toBeLessThanOrEqual(1)
    if (endOf(sent) === 'unsent') continue
    expect(sent.outcomes).toHaveLength(1)
    expect(sent.reports.at(-1)?.state).toBe('working')
  }
})
