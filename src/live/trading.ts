import { createHash } from 'node:crypto'
import type { Http, HttpRequest, HttpResult, Machine } from '../base/machine.ts'
import type { TokenAmount } from '../base/units.ts'
import type { Config } from '../config/config.ts'
import type { Plan } from '../engine/settings.ts'
import type { Recovered } from '../journal/reader/recovery.ts'
import { type Block, RowKind } from '../market/block.ts'
import type { SellUnit } from '../orders/asked-trade.ts'
import type { Attempt } from '../orders/attempt.ts'
import { shareOf } from '../orders/budget.ts'
import type { ServiceProof } from '../orders/learned.ts'
import { Limiter, type LimiterOptions } from '../orders/limiter.ts'
import type { Journal } from '../orders/ports.ts'
import type { Route } from '../orders/working-order.ts'
import type { LiveChain } from './live-chain.ts'
import type { LiveStats } from './live-stats.ts'
import type { Signing } from './local-trading.ts'
import { localExecutor } from './local-trading.ts'
import type { KeyUse, ServiceAccess } from './service-access.ts'

export interface TradingParts {
  readonly config: Config
  readonly service: Pick<ServiceAccess, 'venue' | 'baseUrl' | 'apiKey' | 'wallet'>
  readonly machine: Machine
  readonly journal: Journal
  readonly tally: LiveStats
  readonly past: Pick<Recovered, 'slots'>
  /** Whether this key was ever used on this machine. */
  readonly keyUse: KeyUse
  /** To the service. */
  readonly http: Http
  /** undefined where nobody trades. */
  readonly chain: LiveChain | undefined
  readonly onlooker?: Probe | undefined
  /** undefined where nobody signs here. */
  readonly signing?: Signing | undefined
}

/** How live orders go out: the executor at the service, and the budget of the plan that all requests share. */
export class Trading {
  readonly limiter: Limiter
  /** undefined where nobody trades. */
  readonly chain: LiveChain | undefined
  /** Through the service, and where it only builds. */
  readonly cloud: Route | undefined
  readonly local: Route | undefined
  readonly #parts: TradingParts
  #plan: Plan
  #planNotice = ''
  /** A sale has shown that its number counts something else than was thought. */
  #isContradicted = false

  constructor(parts: TradingParts) {
    const { config, service, machine, past, http, chain, tally, journal, signing, keyUse } = parts
    this.#parts = parts
    this.#plan = service.venue.plans.first(config.service.plan)
    const key = createHash('sha256').update(service.apiKey()).digest('hex').slice(0, 16)
    const slots = past.slots.filter((slot) => slot.key === key)
    const isFresh = keyUse.isFresh && slots.length === 0
    this.limiter = this.limiterOf(key, isFresh ? 'fresh' : slots, () => keyUse.began())
    this.chain = chain
    if (chain === undefined) return
    const common = {
      ...{ http, clock: machine.clock, journal, chain },
      ...{ baseUrl: service.baseUrl, apiKey: service.apiKey, wallet: service.wallet },
      maxBuyLamports: () => this.#plan.maxBuyLamports,
      sellUnit: () => parts.onlooker?.sellUnit() ?? this.#sellUnit(chain),
      holding: (mint: string) => tally.holdingOf(mint),
    }
    const executor = service.venue.openExecutor({
      ...common,
      resolve: chain.wallet.resolver,
      contradicted: (attempt, sold) => this.#contradicted(chain, attempt, sold),
    })
    const route = { limiter: this.limiter, baseline: chain.wallet.baseline }
    this.cloud = { ...route, kind: 'cloud', executor }
    if (signing !== undefined)
      this.local = { ...route, kind: 'local', executor: localExecutor({ ...common, venue: service.venue, signing }) }
  }

  #sellUnit(chain: LiveChain): SellUnit {
    return this.#isContradicted ? 'unproved' : sellUnitOf(this.#parts.config, chain.proof)
  }

  /** From now on parts are sold by percent; a probe tries on purpose what may be wrong. */
  #contradicted(chain: LiveChain, { id, size }: Attempt, sold: TokenAmount): void {
    if (this.#isContradicted || this.#parts.onlooker !== undefined || size.kind !== 'tokens') return
    this.#isContradicted = true
    chain.disproved(
      `${id} was to sell ${size.tokens} base units and sold ${sold}: a sale's number counts something else`,
    )
  }

  get plan(): Plan {
    return this.#plan
  }

  /** Why the plan that the service named last has no known numbers; '' where it has. */
  get planNotice(): string {
    return this.#planNotice
  }

  /** The service has named the plan of the key. A plan that the configuration names is not up to the service. */
  planNamed(name: string): void {
    if (this.#parts.config.service.plan !== 'auto') return
    const { plan, notice } = this.#parts.service.venue.plans.named(name, this.#plan)
    this.#planNotice = notice
    if (plan === this.#plan) return
    this.#plan = plan
    this.limiter.setRequestsPerMinute(this.shareOf(plan.requestsPerMinute))
  }

  shareOf(perInterval: number): number {
    return shareOf(perInterval, this.#parts.config.service.share)
  }

  /** `began`: called before each request is sent. */
  limiterOf(key: string, past: LimiterOptions['past'], began = (): void => {}): Limiter {
    const { machine, journal } = this.#parts
    return new Limiter({
      ...machine,
      key,
      requestsPerMinute: this.shareOf(this.#plan.requestsPerMinute),
      past,
      write: (slot) => {
        began()
        journal.write({ kind: 'slot', slot })
      },
    })
  }

  /** Our own trades, as the feed shows them. */
  observe(block: Block, from: number, to: number): void {
    const { tally, service } = this.#parts
    if (this.chain === undefined || !tally.awaitsFill) return
    for (let row = from; row < to; row++) {
      if ((block.kind[row] as number) > RowKind.sell || block.texts.trader(row) !== service.wallet) continue
      const mint = block.mints[block.token[row] as number] as string
      this.chain.wallet.hint(mint, block.texts.signature(row))
    }
  }
}

/** The configuration's word, else what a probe has proved. */
function sellUnitOf({ service }: Config, proof: ServiceProof | undefined): SellUnit {
  const sell = service.units.sell === 'auto' ? proof?.sellNumber : service.units.sell
  return sell === 'tokens' ? 'tokens' : sell === 'baseUnits' ? 'base' : 'unproved'
}

/** Somebody who looks on while orders go out, to learn what the service's document leaves open. */
export interface Probe {
  /** The journal with him in front of it: he sees what is decided and what becomes of it, and may write. */
  watch(journal: Journal): Journal
  /** Every answer of the service. */
  answered(request: HttpRequest, result: HttpResult): void
  /** How the next sale's number is written. */
  sellUnit(): SellUnit
}
