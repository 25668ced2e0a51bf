import { lamports } from '../src/base/units.ts'
import type { Order } from '../src/engine/order.ts'
import type { EnginePort } from '../src/engine/ports.ts'
import type { Block } from '../src/market/block.ts'
import { Gateway } from '../src/orders/gateway.ts'
import { Limiter } from '../src/orders/plan-limiter.ts'
import type { Executor, Journal, Outcome } from '../src/orders/ports.ts'
import { Runner } from '../src/runtime/runner.ts'
import { monotonicMs, SystemClock } from '../src/runtime/system-clock.ts'
import { type Figure, isMain, measure, printFigures } from './figure.ts'

const ORDERS = 50_000
const ROWS = 1_000_000

const nothing = (): void => {}
/** A journal that is durable immediately at no cost, so that only the gateway is measured. */
const journal: Journal = { rows: nothing, input: nothing, output: nothing, write: nothing, commit: (then) => then() }

const order: Order = {
  id: 'o1',
  seq: 1,
  time: 0,
  account: 'live|service.example|5eykt4Us|wallet',
  bot: 'dips',
  mint: '6Fzphy2B4JTUteQ8jGtj9Tc9anpttVXY3CRgGuJTpump',
  side: 'buy',
  class: 'entry',
  size: { kind: 'sol', lamports: lamports(50_000_000) },
  slippagePercents: [5],
  priorityFeeLamports: null,
  priorityFeeLadder: [],
  repeatMs: null,
  reserveLamports: lamports(60_000_000),
  notAfter: 9e15,
  price: 1e-7,
  reason: 'fell 15.0 %',
}

const REFUSED: Outcome = { kind: 'refused', code: 'INSUFFICIENT_BALANCE', reason: '', retry: 'never' }

function limiter(requestsPerMinute: number, clock: SystemClock): Limiter {
  return new Limiter({ key: 'k', clock, monotonicMs, boot: 'b', requestsPerMinute, past: 'fresh', write: nothing })
}

/** A gateway whose executor answers no order until `end` is called. */
function rig() {
  const clock = new SystemClock()
  const answers: ((outcome: Outcome) => void)[] = []
  const executor: Executor = { execute: (_attempt, done) => void answers.push(done), resume: nothing }
  const route = { kind: 'cloud' as const, executor, limiter: limiter(ORDERS * 2, clock) }
  const gateway = new Gateway({ clock, monotonicMs, journal, route: () => route, post: nothing, nextReport: 1 })
  const end = (): void => {
    for (const answer of answers.splice(0)) answer(REFUSED)
  }
  return { gateway, end }
}

/** Mean time from `submit` to the call of the executor, ns, if the request limit allows the request. Up to 50 orders
 *  are open. */
function submitNs(): number {
  const { gateway, end } = rig()
  const orders = Array.from({ length: 50 }, (_, index) => ({
    ...order,
    id: `o${index}`,
    mint: `${index}${order.mint}`,
  }))
  let elapsed = 0
  for (let round = 0; round < ORDERS / orders.length; round++) {
    const start = performance.now()
    for (const one of orders) gateway.submit(one)
    elapsed += performance.now() - start
    end()
  }
  return (elapsed * 1e6) / ORDERS
}

/** Mean time of a whole order, ns: it is submitted, executed, refused and reported, until the next order of the same
 *  mint and side is possible. */
function orderNs(): number {
  const { gateway, end } = rig()
  const start = performance.now()
  for (let index = 0; index < ORDERS; index++) {
    gateway.submit(order)
    end()
  }
  return ((performance.now() - start) * 1e6) / ORDERS
}

/** Mean time, ns, in which the limiter admits one request and counts its answer. */
function limiterNs(): number {
  const slots = limiter(ORDERS * 2, new SystemClock())
  const start = performance.now()
  for (let index = 0; index < ORDERS; index++) slots.request('entry', (slot) => slots.done(slot))
  return ((performance.now() - start) * 1e6) / ORDERS
}

/** Mean time that the runner needs per row, ns, if rows arrive in groups of `run` rows and cause no decision. */
function rowNs(run: number): number {
  const time = Float64Array.from({ length: 8_192 }, (_, row) => row)
  const block = { time, length: time.length } as unknown as Block
  let seen = 0
  const rows: EnginePort['rows'] = (firstSeq, _block, from, to) => {
    for (let row = from; row < to; row++) seen += firstSeq + row
    return to
  }
  const engine: EnginePort = { outputs: [], rows, input: nothing, warm: nothing }
  const gateway = { submit: nothing, cancel: nothing, trust: nothing, halt: nothing }
  const shown = { clock: new SystemClock(), engine, journal, gateway, want: nothing, alarm: nothing, firstSeq: 1 }
  let elapsed = 0
  for (let rows = 0; rows < ROWS; rows += time.length) {
    const runner = new Runner(shown)
    const start = performance.now()
    for (let from = 0; from < time.length; from += run) runner.rows(block, from, Math.min(from + run, time.length))
    elapsed += performance.now() - start
  }
  return seen > 0 ? (elapsed * 1e6) / (Math.ceil(ROWS / time.length) * time.length) : 0
}

export async function benchGateway(): Promise<Figure[]> {
  const atMost = (goal: number) => ({ unit: 'ns', goal, atMost: true })
  return [
    { name: 'limiter, a request admitted and ended', ...atMost(1_000), ...measure(7, limiterNs) },
    { name: 'gateway, from submit to execute', ...atMost(3_000), ...measure(7, submitNs) },
    { name: 'gateway, an order from submit to its end', ...atMost(5_000), ...measure(7, orderNs) },
    { name: 'runner, a row among 8,192 at once', ...atMost(20), ...measure(7, () => rowNs(8_192)) },
    { name: 'runner, a row alone', ...atMost(100), ...measure(7, () => rowNs(1)) },
  ]
}

if (isMain(import.meta.url)) printFigures(await benchGateway())
