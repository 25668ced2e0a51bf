import type { ErrorCode } from '../../src/base/errors.ts'
import type { Clock } from '../../src/base/machine.ts'
import { lamports } from '../../src/base/units.ts'
import { NO_COSTS } from '../../src/engine/accounting/fill-costs.ts'
import type { Input } from '../../src/engine/messages.ts'
import {
  type ExecutionReport,
  type ExecutorKind,
  isFullExit,
  isOpen,
  MOST_OPEN_EXITS,
  ORDER_MOVES,
  type Order,
} from '../../src/engine/order.ts'
import type { OpenOrder } from '../../src/engine/recovered-money.ts'
import { type Attempt, isUndecided } from '../../src/orders/attempt.ts'
import { Gateway } from '../../src/orders/gateway.ts'
import { Limiter } from '../../src/orders/plan-limiter.ts'
import type { Executor, Journal, JournalRecord, Outcome, Slot } from '../../src/orders/ports.ts'
import { SimulatedClock } from '../../src/simulation/simulated-clock.ts'

/** The outcomes of one attempt, each with its time in ms after the execution. */
export type Script = readonly (readonly [number, Outcome | ((attempt: Attempt) => Outcome)])[]

type Row = { kind: 'order'; order: Order } | { kind: 'taken'; id: number } | JournalRecord

let count = 0

/** Returns an order: by default a full exit that waits for proof. Each order has a mint of its own. */
export function anOrder(more: Partial<Order> = {}): Order {
  count++
  return {
    id: `o${count}`,
    seq: count,
    time: 0,
    account: 'a',
    bot: 'bot',
    mint: `mint${count}`,
    side: 'sell',
    class: 'exit',
    size: { kind: 'all' },
    slippagePercents: [5, 15, 30],
    priorityFeeLamports: null,
    priorityFeeLadder: [],
    repeatMs: null,
    reserveLamports: lamports(0),
    notAfter: null,
    price: null,
    reason: 'test',
    ...more,
  }
}

export function aBuy(more: Partial<Order> = {}): Order {
  const time = more.time ?? 0
  const size = { kind: 'sol', lamports: lamports(1e8) } as const
  return anOrder({ side: 'buy', class: 'entry', size, slippagePercents: [5], notAfter: time + 10_000, ...more })
}

export function fillOf(attempt: Attempt, final: boolean): Outcome {
  const { orderId, account, bot, mint, side } = attempt
  const none = lamports(0)
  const fill = {
    signature: `s${attempt.id}`,
    orderId,
    attemptId: attempt.id,
    account,
    bot,
    mint,
    side,
    slot: 1,
    time: 0,
  }
  const amounts = {
    tokens: 1n,
    decimals: 6,
    tradeLamports: none,
    feeLamports: none,
    rentLamports: none,
    costs: NO_COSTS,
  }
  return { kind: 'filled', fill: { ...fill, ...amounts, walletLamports: none, final }, final }
}

/**
 * The environment of a gateway: a clock, a journal whose commits survive a crash, an executor that follows scripts, and
 * the reactions of the engine. It checks the gateway's rules in every run.
 */
export class GatewayWorld {
  readonly clock = new SimulatedClock(1_000)
  /** The attempts that the gateway passed to the executor, in this order. */
  readonly executed: Attempt[] = []
  /** The attempts that have not ended. */
  readonly out = new Map<string, Attempt>()
  /** The reports that the engine received, in order. A crash removes those that the journal does not contain. */
  heard: ExecutionReport[] = []
  /** Returns the script of an attempt. `number` counts the attempts of its order from 1. */
  script: (attempt: Attempt, number: number) => Script = () => []
  /** The reaction of the engine to a report. */
  onReport: (report: ExecutionReport) => void = () => {}
  commitMs = 0
  commits = 0
  gateway!: Gateway
  limiter!: Limiter
  readonly #slots: number
  #rows: Row[] = []
  #durable = 0
  /** The number of rows of the journal at each commit. A crash cuts the journal off at one of the commits. */
  #commits: number[] = []
  #life = 0
  #resumedAt = 0
  #isHalted = false

  readonly #kind: ExecutorKind

  constructor(slots = 100, kind: ExecutorKind = 'cloud') {
    this.#slots = slots
    this.#kind = kind
    this.#start('fresh')
  }

  /** Writes the engine's output and then submits the order, as the runner does. */
  submit(order: Order): void {
    this.#rows.push({ kind: 'order', order })
    this.gateway.submit(order)
  }

  /** Advances the time; by default until all pending outcomes have arrived. */
  settle(ms = 3_600_000): void {
    this.clock.advanceTo(this.clock.now() + ms)
  }

  /** Calls `run` after a delay, unless the process has ended by then. */
  later(ms: number, run: () => void): void {
    const life = this.#life
    this.clock.after(ms, () => life === this.#life && run())
  }

  /** The last record of each attempt in the journal. */
  get attempts(): Attempt[] {
    const rows = this.#rows.flatMap((row) => (row.kind === 'attempt' ? [row.attempt] : []))
    return [...new Map(rows.map((attempt) => [attempt.id, attempt])).values()]
  }

  /** Returns the reported states of an order, with their codes. */
  statesOf(order: Order): string[] {
    return this.heard
      .filter(({ orderId }) => orderId === order.id)
      .map(({ state, code }) => (code === '' ? state : `${state} ${code}`))
  }

  stateOf(order: Order): ExecutionReport['state'] {
    return this.heard.findLast(({ orderId }) => orderId === order.id)?.state ?? 'accepted'
  }

  /** Returns the number of unproved attempts of a full exit, as last reported. */
  unprovedOf(order: Order): number {
    return this.heard.findLast(({ orderId }) => orderId === order.id)?.unproved ?? 0
  }

  /** The orders whose acceptance survived all crashes. */
  get orders(): Order[] {
    return this.#rows.flatMap((row) => (row.kind === 'order' ? [row.order] : []))
  }

  /**
   * Ends the process. The first `share` of the pending commits has reached the disk. After `downMs`, a new process
   * continues from the journal.
   */
  crash(share: number, downMs = 0): void {
    this.#life++
    const underWay = this.#commits.filter((length) => length > this.#durable)
    this.#durable = underWay[Math.ceil(underWay.length * share) - 1] ?? this.#durable
    this.#rows.length = this.#durable
    this.settle(downMs)
    this.#commits = []
    const records = <K extends Row['kind']>(kind: K) =>
      this.#rows.filter((row): row is Extract<Row, { kind: K }> => row.kind === kind)
    const takenIds = new Set(records('taken').map(({ id }) => id))
    const reports = records('report')
    this.heard = reports.filter(({ id }) => takenIds.has(id)).map(({ report }) => report)
    const attempts = [...new Map(records('attempt').map(({ attempt }) => [attempt.id, attempt])).values()]
    const slots = new Map(records('slot').map(({ slot }) => [slot.id, slot]))
    this.#start([...slots.values()], (reports.at(-1)?.id ?? 0) + 1)
    const orders: OpenOrder[] = this.orders
      .map((order) => ({ order, state: this.stateOf(order) }))
      .filter(
        ({ order, state }) =>
          isOpen(state) || attempts.some((one) => one.orderId === order.id && isUndecided(one.state)),
      )
    this.#trust()
    const untaken = reports.filter(({ id }) => !takenIds.has(id))
    const fills = reports.flatMap(({ report: { fill } }) => fill ?? [])
    this.gateway.resume({ orders, attempts, untaken, fills })
  }

  #start(past: readonly Slot[] | 'fresh', nextReport = 1): void {
    const life = this.#life
    const { clock } = this
    // The timers and commits of a process end with the process.
    const ours: Clock = {
      now: () => clock.now(),
      after: (ms, run) => clock.after(ms, () => life === this.#life && run()),
    }
    const monotonicMs = () => clock.now()
    const journal = this.#journal(ours)
    const write = (slot: Slot): void => journal.write({ kind: 'slot', slot })
    const limits = { key: 'k', boot: 'b', requestsPerMinute: this.#slots, past, write }
    this.limiter = new Limiter({ clock: ours, monotonicMs, ...limits })
    const route = { kind: this.#kind, executor: this.#executor(ours), limiter: this.limiter }
    const post = (input: Input): void => this.#hear(input)
    this.gateway = new Gateway({ clock: ours, monotonicMs, journal, route: () => route, post, nextReport })
  }

  #journal(clock: Clock): Journal {
    return {
      rows: () => {},
      input: () => {},
      output: () => {},
      write: (record) => {
        const isKnown = (row: Row): boolean => row.kind === 'report' && record.kind === 'report' && row.id === record.id
        if (this.#rows.some(isKnown)) throw new Error('two reports of one number')
        this.#rows.push(structuredClone(record))
      },
      commit: (then) => {
        this.commits++
        const length = this.#rows.length
        this.#commits.push(length)
        const done = (): void => {
          this.#durable = Math.max(this.#durable, length)
          then()
        }
        if (this.commitMs === 0) done()
        else clock.after(this.commitMs, done)
      },
    }
  }

  #executor(clock: Clock): Executor {
    const say = (attempt: Attempt, script: Script, done: (outcome: Outcome) => void): void => {
      for (const [ms, given] of script) {
        clock.after(ms, () => {
          const outcome = typeof given === 'function' ? given(attempt) : given
          if (isEnd(outcome)) this.out.delete(attempt.id)
          done(outcome)
        })
      }
    }
    return {
      execute: (attempt, done) => {
        const number = this.executed.filter(({ orderId }) => orderId === attempt.orderId).length + 1
        this.#checkExecution(attempt)
        this.executed.push({ ...attempt })
        this.out.set(attempt.id, attempt)
        say(attempt, this.script(attempt, number), done)
      },
      resume: (attempt, done) => say(attempt, this.#truth(attempt), done),
    }
  }

  /**
   * Checks before an execution that the order, the attempt and its request slot are durable, and that each attempt
   * executes once. Only a full exit may be repeated without proof. A mint that an open full exit may still
   * sell must not be bought.
   */
  #checkExecution(attempt: Attempt): void {
    const others = [...this.out.values()].filter(({ orderId }) => orderId === attempt.orderId).length
    if (others >= (isFullExit(attempt) ? MOST_OPEN_EXITS : 1))
      throw new Error(`${attempt.id} has too many other open attempts`)
    const isSold = [...this.out.values()].some((other) => isFullExit(other) && other.mint === attempt.mint)
    if (attempt.side === 'buy' && isSold)
      throw new Error(`${attempt.id} buys a mint that an open full exit may still sell`)
    const durable = this.#rows.slice(0, this.#durable)
    const isWritten = durable.some((row) => row.kind === 'attempt' && row.attempt.id === attempt.id)
    const isAccepted = durable.some((row) => row.kind === 'order' && row.order.id === attempt.orderId)
    if (!isWritten || !isAccepted) throw new Error(`${attempt.id} executes before its commit`)
    if (durable.filter(({ kind }) => kind === 'slot').length === 0) throw new Error(`${attempt.id} has no request slot`)
    if (this.executed.some(({ id }) => id === attempt.id)) throw new Error(`${attempt.id} executes twice`)
  }

  /** Returns what the chain shows if the attempt is looked up: the outcome of an executed attempt, otherwise the proof
   *  that it did not execute. */
  #truth(attempt: Attempt): Script {
    const number = this.executed
      .filter(({ orderId }) => orderId === attempt.orderId)
      .findIndex(({ id }) => id === attempt.id)
    // A negative number means that this world did not execute the attempt. The gateway adds such an attempt to the
    // journal when a fill matches none of the attempts that it knows.
    if (number < 0 && attempt.state === 'landed') return [[20_000, fillOf(attempt, true)]]
    const end = number < 0 ? undefined : this.script(attempt, number + 1).at(-1)?.[1]
    const outcome = typeof end === 'function' ? end(attempt) : end
    if (outcome?.kind === 'filled' || outcome?.kind === 'reverted') return [[20_000, outcome]]
    const absent: Script = [[200_000, { kind: 'absent' }]]
    return attempt.state === 'landed'
      ? [[100_000, { kind: 'unknown', reason: 'the fill was reversed' }], ...absent]
      : absent
  }

  /** Receives a report, and checks the state change of its order, as the engine does. */
  #hear(input: Input): void {
    if (input.kind !== 'report')
      throw new Error(`the gateway posts an input of the kind ${input.kind}, but may post only reports`)
    const { orderId, state } = input.report
    const before = this.heard.findLast((report) => report.orderId === orderId)?.state ?? 'accepted'
    if (before !== state && !ORDER_MOVES[before].includes(state)) throw new Error(`${orderId}: ${before} -> ${state}`)
    this.#rows.push({ kind: 'taken', id: input.id })
    this.heard.push(input.report)
    this.#trust()
    this.onReport(input.report)
  }

  /** Passes the state of the account to the gateway after each change, as the runner does. */
  #trust(): void {
    const isBreach = ({ code }: ExecutionReport): boolean => code === 'LATE_FILL' || code === 'SERVICE_DUPLICATE'
    this.gateway.trust('a', !this.heard.slice(this.#resumedAt).some(isBreach))
    this.gateway.halt('a', this.#isHalted)
  }

  /** Resumes entries after an alarm, as the operator does. */
  resume(): void {
    this.#resumedAt = this.heard.length
    this.#trust()
  }

  /** Halts entries, or ends the halt. A halt survives restarts. */
  halt(isHalted = true): void {
    this.#isHalted = isHalted
    this.#trust()
  }

  cancel(order: Order, code: ErrorCode = 'CANCELLED'): void {
    this.gateway.cancel(order.id, code)
  }
}

function isEnd(outcome: Outcome): boolean {
  if (outcome.kind === 'filled' || outcome.kind === 'reverted') return outcome.final
  return outcome.kind === 'refused' || outcome.kind === 'unsent' || outcome.kind === 'absent'
}
