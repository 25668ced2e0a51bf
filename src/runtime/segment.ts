import type { Machine } from '../base/machine.ts'
import { stackReader } from '../config/strategy-trace.ts'
import type { Owner } from '../engine/accounting/by-mint.ts'
import type { Mark } from '../engine/accounting/position.ts'
import { Engine } from '../engine/engine.ts'
import type { PositionReading } from '../engine/exits/exit-levels.ts'
import type { Alarm, Input, StartInput } from '../engine/messages.ts'
import type { Sink } from '../engine/ports.ts'
import { isStopped } from '../engine/recovered-money.ts'
import type { Strategy } from '../engine/strategy.ts'
import type { Recovered } from '../journal/reader/recovery.ts'
import type { Block } from '../market/block.ts'
import type { Mints } from '../market/mints.ts'
import { Gateway, type GatewayOptions } from '../orders/gateway.ts'
import type { GatewayPort, Journal } from '../orders/ports.ts'
import { Runner, type RunnerOptions } from './runner.ts'

export interface SegmentParts {
  readonly machine: Machine
  readonly journal: Journal
  readonly mints: Mints
  /** Strategies by the name in the bots' settings. */
  readonly strategies: ReadonlyMap<string, Strategy>
  readonly past: Recovered
  readonly route: GatewayOptions['route']
  readonly want: RunnerOptions['want']
  readonly poll?: RunnerOptions['poll']
  readonly hold?: RunnerOptions['hold']
  /** For a replay: wraps the gateway, so that an order which the recorded run also made receives the recorded
   *  reports. */
  readonly orderPath?: ((gateway: GatewayPort, post: (input: Input) => void) => GatewayPort) | undefined
  readonly observe: (block: Block, from: number, to: number) => void
  readonly alarm: (alarm: Alarm) => void
  readonly said?: RunnerOptions['said']
}

/** The interface of a segment, for an engine in this thread or in another one. */
export interface AnySegment {
  readonly gateway: Gateway
  readonly runner: Sink
  begin(start: StartInput, blocks: Iterable<Block>): number | Promise<number>
  resume(start: StartInput): void
  takeMarks(): readonly Mark[]
  /** Returns the value and the prices of a position, as the engine has computed them; undefined without a position. The
   *  result may be a quarter of a second old. */
  readingOf(owner: Owner): PositionReading | undefined
  /** Whether the engine has handled all market rows and inputs so far. */
  readonly isIdle: boolean
  /** Waiting time of the oldest row or input that the engine has not answered, ms. */
  readonly lagMs: number
  /** Number of market rows handled since the start. */
  readonly rowsHandled: number
  close(): unknown
}

/** One start of one process: the engine, the gateway and the runner that connects them. They write to a journal. */
export class Segment implements AnySegment {
  readonly engine: Engine
  readonly gateway: Gateway
  readonly runner: Runner
  readonly #past: Recovered

  constructor(parts: SegmentParts) {
    const { machine, journal, mints, strategies, past, route, want, poll, hold, observe, alarm, said } = parts
    const { clock, monotonicMs } = machine
    const post = (input: Input): void => this.runner.post(input)
    this.#past = past
    this.engine = new Engine(mints, strategies, { thrownAt: stackReader() })
    mints.addHolder(this.engine)
    this.gateway = new Gateway({ clock, monotonicMs, journal, route, post, nextReport: past.nextReport })
    const gateway = parts.orderPath?.(this.gateway, post) ?? this.gateway
    this.runner = new Runner({
      ...{ clock, engine: this.engine, journal, gateway, want, poll, hold, alarm, said, observe },
      firstSeq: past.nextSeq,
      lastTime: past.lastTime,
    })
  }

  /** Restores money from the journal and warms the strategies up. Returns the number of market rows in the warm-up. */
  begin(start: StartInput, blocks: Iterable<Block>): number {
    this.runner.post(start)
    let warmed = 0
    for (const block of blocks) {
      for (let row = 0; row < block.length; row++) this.engine.warm(block, row)
      warmed += block.length
    }
    return warmed
  }

  /** Resumes the open orders of these bots, exits first. */
  resume(start: StartInput): void {
    takeUp(this.gateway, this.#past, start)
  }

  /** Returns the positions whose high-water mark (highest price) has risen since the last call. */
  takeMarks(): readonly Mark[] {
    return this.engine.takeMarks()
  }

  readingOf(owner: Owner): PositionReading | undefined {
    return this.engine.readingOf(owner)
  }

  readonly isIdle = true
  readonly lagMs = 0
  readonly rowsHandled = Number.POSITIVE_INFINITY

  close(): void {
    this.runner.stop()
  }
}

/** Resumes the open orders of these bots, exits first. A report about an account that no bot uses now stays in the
 *  journal, because the engine does not have the positions of this account. */
export function takeUp(gateway: Gateway, past: Recovered, { bots, money }: StartInput): void {
  for (const account of money.accounts) {
    gateway.trust(account.account, account.breached !== true)
    gateway.halt(account.account, isStopped(account))
  }
  const own = new Set(bots.map(({ account }) => account.id))
  const accounts = new Map(past.orders.map(({ order: { id, account } }) => [id, account]))
  const untaken = past.untaken.filter(({ report: { orderId, fill } }) => {
    const account = fill?.account ?? accounts.get(orderId)
    return account === undefined || own.has(account)
  })
  gateway.resume({
    orders: past.orders.filter(({ order }) => own.has(order.account)),
    attempts: past.attempts.filter(({ account }) => own.has(account)),
    untaken,
    fills: [...money.fills, ...untaken.flatMap(({ report: { fill } }) => fill ?? [])],
  })
}
