import type { Block } from './core/block.ts'
import { Engine } from './core/engine.ts'
import type { Input, Output, StartInput } from './core/messages.ts'
import type { Mints } from './core/mints.ts'
import type { Journal, Machine } from './core/ports.ts'
import type { Strategy } from './core/strategy.ts'
import type { Recovered } from './journal/recovery.ts'
import { Gateway, type GatewayOptions } from './runtime/gateway.ts'
import { Runner, type RunnerOptions } from './runtime/runner.ts'

export interface SegmentParts {
  readonly machine: Machine
  readonly journal: Journal
  readonly mints: Mints
  /** By the name that the bots' settings use. */
  readonly strategies: ReadonlyMap<string, Strategy>
  readonly past: Recovered
  readonly route: GatewayOptions['route']
  readonly want: RunnerOptions['want']
  readonly observe: (block: Block, from: number, to: number) => void
  readonly alarm: (alarm: Extract<Output, { kind: 'alarm' }>) => void
}

/** One start of one process: the engine, the gateway and the runner between them, on top of what the journal holds. */
export class Segment {
  readonly engine: Engine
  readonly gateway: Gateway
  readonly runner: Runner
  readonly #past: Recovered

  constructor({ machine, journal, mints, strategies, past, route, want, observe, alarm }: SegmentParts) {
    const { clock, monotonicMs } = machine
    const post = (input: Input): void => this.runner.post(input)
    this.#past = past
    this.engine = new Engine(mints, strategies)
    this.gateway = new Gateway({ clock, monotonicMs, journal, route, post, nextReport: past.nextReport })
    this.runner = new Runner({
      ...{ clock, engine: this.engine, journal, gateway: this.gateway, want, alarm, observe },
      firstSeq: past.nextSeq,
      lastTime: past.lastTime,
    })
  }

  /** Money from rows, then the strategies are shown the past; how many rows that were. */
  begin(start: StartInput, blocks: Iterable<Block>): number {
    this.runner.post(start)
    let warmed = 0
    for (const block of blocks) {
      for (let row = 0; row < block.length; row++) this.engine.warm(block, row)
      warmed += block.length
    }
    return warmed
  }

  /** Open orders of these bots are taken up, exits first. */
  resume({ bots, money }: StartInput): void {
    const { orders, attempts, untaken } = this.#past
    for (const { account, breached } of money.accounts) this.gateway.trust(account, breached !== true)
    const own = new Set(bots.map(({ account }) => account.id))
    this.gateway.resume({
      orders: orders.filter(({ order }) => own.has(order.account)),
      attempts: attempts.filter(({ account }) => own.has(account)),
      untold: untaken,
      fills: [...money.fills, ...untaken.flatMap(({ report: { fill } }) => fill ?? [])],
    })
  }
}
