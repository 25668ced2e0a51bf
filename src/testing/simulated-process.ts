import type { Lamports, Millis } from '../base/units.ts'
import { botSettings } from '../config/accounts.ts'
import type { Config } from '../config/config.ts'
import type { FillModel } from '../engine/accounting/fill-assumptions.ts'
import type { Position } from '../engine/accounting/position.ts'
import { type Alarm, isStrategyEnd, type StartInput } from '../engine/messages.ts'
import type { Sink } from '../engine/ports.ts'
import { NO_MONEY } from '../engine/recovered-money.ts'
import type { JournalReader } from '../journal/reader/reader.ts'
import { NO_PAST, type Recovered } from '../journal/reader/recovery.ts'
import type { Mints } from '../market/mints.ts'
import { Limiter } from '../orders/plan-limiter.ts'
import type { Journal } from '../orders/ports.ts'
import { PaperWorld } from '../runtime/paper-world.ts'
import type { RunnerOptions } from '../runtime/runner.ts'
import { Segment } from '../runtime/segment.ts'
import { NOT_WARM, recoveredStart, startInput } from '../runtime/start-input.ts'
import { SimulatedClock } from '../simulation/simulated-clock.ts'
import { venueOf } from '../venues/registry.ts'

const BOOT = 'simulated'
const CODE = 'test'

export interface SimulatedProcessOptions {
  readonly config: Config
  readonly journal: Journal
  readonly mints: Mints
  /** Changes the assumptions about fills. */
  readonly adjust?: (model: FillModel) => FillModel
  /** Called when the engine ends a strategy, for example because it threw. */
  readonly ended: (alarm: Alarm) => void
  readonly said?: RunnerOptions['said']
  readonly startsAt: Millis
  /** The journal that an earlier process left; undefined for the first process. */
  readonly reader?: JournalReader
}

/** One process of a paper run on simulated time. Its owner advances the clock and delivers the rows and inputs. */
export class SimulatedProcess {
  readonly clock: SimulatedClock
  readonly segment: Segment
  /** Receives the rows and inputs of the feed. */
  readonly sink: Sink
  readonly #paper: PaperWorld
  #wanted: readonly string[] = []

  constructor(options: SimulatedProcessOptions) {
    const { config, startsAt, mints, reader, adjust } = options
    this.clock = new SimulatedClock(startsAt)
    this.#paper = new PaperWorld(config, this.clock, mints, adjust)
    const past = reader?.recover() ?? NO_PAST
    this.segment = this.#newSegment(options, past)
    this.sink = this.#paper.withInputs(this.segment.runner)
    const start = startOf(config, past, reader)
    const unreported = past.untaken.flatMap(({ report: { fill } }) => fill ?? [])
    this.#paper.restore(start.bots, start.money, (key) => this.#limiter(key, start), unreported)
    this.segment.begin(start, reader?.warmup(mints, start.warm) ?? [])
    this.segment.resume(start)
  }

  /** Current subscription keys: those of the strategy, of its watches and of its positions. */
  get wanted(): readonly string[] {
    return this.#wanted
  }

  /** Proceeds of selling a position now, lamports, at the price that the position's exits would use. */
  valueOf(position: Position): Lamports {
    return this.#paper.valueOf(position, this.segment.engine.exitPriceOf(position))
  }

  #newSegment({ config, journal, mints, ended, said }: SimulatedProcessOptions, past: Recovered): Segment {
    const { clock } = this
    return new Segment({
      machine: { clock, monotonicMs: () => clock.now(), boot: BOOT },
      ...{ journal, mints, past, said },
      strategies: new Map(config.bots.map(({ strategy }) => [strategy.name, strategy.strategy])),
      route: ({ account }) => {
        const route = this.#paper.route(account)
        if (route === undefined) throw new Error(`no executor for ${account}`)
        return route
      },
      want: (keys) => {
        this.#wanted = keys
      },
      observe: (block, from, to) => {
        this.#paper.market.observe(block, from, to)
        this.clock.advanceTo(block.time[to - 1] as number)
      },
      alarm: (alarm) => {
        if (isStrategyEnd(alarm.code)) ended(alarm)
      },
    })
  }

  #limiter(key: string, { plan }: StartInput): Limiter {
    const { clock } = this
    const { requestsPerMinute } = plan
    return new Limiter({
      ...{ key, clock, monotonicMs: () => clock.now(), boot: BOOT, past: 'fresh', write: () => {} },
      requestsPerMinute,
    })
  }
}

function startOf(config: Config, past: Recovered, reader: JournalReader | undefined): StartInput {
  const { settings: bots } = botSettings(config, {
    service: 'test',
    cluster: '',
    publicKeyOf: () => '',
    allow: 'paper',
  })
  const plan = venueOf(config.service).plans.first(config.service.plan)
  if (reader === undefined)
    return startInput(config, { segment: 1, code: CODE, bots, plan, money: NO_MONEY, warm: NOT_WARM })
  return recoveredStart({ config, bots, plan, code: CODE, past, reader })
}
