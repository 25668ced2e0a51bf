import { isOpen } from '../../engine/order.ts'
import type { RunningBots } from '../start-bots.ts'
import type { ProbeOrder, ProbeWatch } from './probe-watch.ts'
import { type Step, stepOf } from './probe-watch.ts'

export interface ProbeOrdersParts {
  /** Called with each finished step. */
  readonly show: (step: Step) => void
  /** Called with a description of the current step. */
  readonly say: (text: string) => void
  /** Promise that resolves at Ctrl-C. */
  readonly interrupted: Promise<unknown>
}

const PLACED_WITHIN_MS = 90_000
const AGAIN_MS = 1_000
const ANSWER_WITHIN_MS = 10_000
const ORDER_WITHIN_MS = 600_000
const FINAL_WITHIN_MS = 120_000
const LOOK_EVERY_MS = 50
/** Codes of temporary refusals, after which the request is repeated. */
const TRANSIENT = new Set([
  'PRICE_UNKNOWN',
  'FEED_DOWN',
  'BALANCE_UNKNOWN',
  'CHAIN_UNREAD',
  'WARMING',
  'STALE_EVENT',
  'EXIT_UNPROVED',
])

/** Thrown if the probe cannot continue. Its findings up to this point are valid. */
export class Stopped extends Error {}

interface Placed {
  readonly ok: boolean
  readonly id?: string
  readonly code?: string
  readonly reason?: string
}

/** Sends requests to the probe's bot and waits for the orders. Its methods throw `Stopped` if the process must end. */
export class ProbeOrders {
  readonly #parts: ProbeOrdersParts
  readonly #running: RunningBots
  readonly #watch: ProbeWatch
  readonly #made: { readonly name: string; readonly id: string; readonly order: ProbeOrder }[] = []
  #ending = ''
  #hasEnded = false

  constructor(parts: ProbeOrdersParts, running: RunningBots, watch: ProbeWatch) {
    this.#parts = parts
    this.#running = running
    this.#watch = watch
    void parts.interrupted.then(() => this.#stop('interrupted'))
    void running.ended.then(({ message }) => this.#stop(message))
  }

  /** Ends the probe in the normal way. After this call, an event that would have stopped the probe is ignored. */
  end(): void {
    this.#hasEnded = true
  }

  /** Present state of all orders of the probe. */
  steps(): Step[] {
    return this.#made.map(({ name, id, order }) => stepOf(name, id, order))
  }

  /** Places one order and waits until it ends. Calls `made` as soon as the order exists. */
  async order(
    name: string,
    signal: string,
    data: { readonly [name: string]: string | number },
    made: (order: ProbeOrder) => void = () => {},
  ): Promise<ProbeOrder> {
    this.#parts.say(name)
    const id = await this.#place(signal, data)
    const order = this.#watch.orders.get(id) as ProbeOrder
    this.#made.push({ name, id, order })
    made(order)
    await this.until(
      `the end of ${id}; the next run continues to wait for it`,
      () => !isOpen(order.state),
      ORDER_WITHIN_MS,
    )
    this.#parts.show(stepOf(name, id, order))
    return order
  }

  /** Waits until all fills are final. */
  final(orders: readonly ProbeOrder[]): Promise<void> {
    this.#parts.say('waiting for finality')
    const isFinal = ({ state, fills }: ProbeOrder): boolean =>
      !isOpen(state) && [...fills.values()].every(({ final }) => final)
    return this.until('finality', () => orders.every(isFinal), FINAL_WITHIN_MS)
  }

  async until(what: string, isSo: () => boolean, withinMs: number): Promise<void> {
    const end = performance.now() + withinMs
    while (!isSo()) {
      if (this.#ending !== '') throw new Stopped(this.#ending)
      if (performance.now() > end) throw new Stopped(`timeout while waiting for ${what}`)
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
    }
  }

  /** Places an order and returns its id. Repeats the request after a temporary refusal. */
  async #place(signal: string, data: { readonly [name: string]: string | number }): Promise<string> {
    for (const end = performance.now() + PLACED_WITHIN_MS; ; ) {
      const { ok, id = '', code = '', reason } = await this.#signal(signal, data)
      if (ok) return id
      if (!TRANSIENT.has(code) || performance.now() > end) throw new Stopped(`${code}, ${reason}`)
      const next = performance.now() + AGAIN_MS
      await this.until('the next try', () => performance.now() >= next, 2 * AGAIN_MS)
    }
  }

  async #signal(signal: string, data: { readonly [name: string]: string | number }): Promise<Placed> {
    const before = this.#watch.answers.length
    await this.#running.handle({ command: 'signal', signal, data }, 'doctor')
    await this.until('an answer of the engine', () => this.#watch.answers.length > before, ANSWER_WITHIN_MS)
    return JSON.parse(this.#watch.answers[before] as string) as Placed
  }

  #stop(why: string): void {
    if (!this.#hasEnded) this.#ending ||= why || 'ended'
  }
}
