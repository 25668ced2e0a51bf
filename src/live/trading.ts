import { createHash } from 'node:crypto'
import type { Http, HttpRequest, HttpResult, Machine } from '../base/machine.ts'
import type { TokenAmount } from '../base/units.ts'
import type { Config } from '../config/config.ts'
import type { Plan } from '../engine/settings.ts'
import type { Recovered } from '../journal/reader/recovery.ts'
import { type Block, RowKind } from '../market/block.ts'
import type { Attempt } from '../orders/attempt.ts'
import { shareOf } from '../orders/budget-status.ts'
import { Limiter, type LimiterOptions } from '../orders/plan-limiter.ts'
import type { Journal } from '../orders/ports.ts'
import type { ServiceProof } from '../orders/service-facts.ts'
import type { SellUnit } from '../orders/trade-request.ts'
import type { Route } from '../orders/working-order.ts'
import type { ViewModel } from '../runtime/view/view-model.ts'
import type { LiveAccount } from './live-account.ts'
import type { LiveChain } from './live-chain.ts'
import type { Signing } from './local-trading.ts'
import { localExecutor } from './local-trading.ts'
import type { KeyUse, ServiceAccess } from './service-access.ts'

export interface TradingParts {
  readonly config: Config
  readonly service: Pick<ServiceAccess, 'venue' | 'baseUrl' | 'apiKey'>
  readonly machine: Machine
  readonly journal: Journal
  readonly model: ViewModel
  readonly past: Pick<Recovered, 'slots'>
  /** Exclusive use of the API key; also shows whether this machine has used the key before. */
  readonly keyUse: KeyUse
  /** HTTP client of the service. */
  readonly http: Http
  /** Chain of the live bots; undefined if no bot may trade real money. */
  readonly chain: LiveChain | undefined
  readonly probe?: Probe | undefined
  /** Signer and policy of local orders, by the name of the wallet. A wallet for which this process does not sign has
   *  none. */
  readonly signing?: ReadonlyMap<string, Signing>
}

/** Routes of the orders of one wallet. */
interface WalletRoutes {
  /** Route of orders that the service signs. The local executor only asks the service to build transactions. */
  readonly cloud: Route
  /** Route of orders that this process signs; undefined if it does not sign for the wallet. */
  readonly local: Route | undefined
}

/** The executors of live orders, and the request limit that all of them share. */
export class Trading {
  readonly limiter: Limiter
  /** Chain of the live bots; undefined if no bot may trade real money. */
  readonly chain: LiveChain | undefined
  /** Routes of the live orders, by account. */
  readonly routes: ReadonlyMap<string, WalletRoutes>
  readonly #parts: TradingParts
  /** The wallets by public key. */
  readonly #wallets: ReadonlyMap<string, LiveAccount>
  #plan: Plan
  #planNotice = ''
  /** Whether the fill of a sale has shown that the service reads the number of tokens in a unit other than the assumed
   *  one. */
  #isContradicted = false

  constructor(parts: TradingParts) {
    const { config, service, past, chain, keyUse } = parts
    this.#parts = parts
    this.#plan = service.venue.plans.first(config.service.plan)
    const key = createHash('sha256').update(service.apiKey()).digest('hex').slice(0, 16)
    const slots = past.slots.filter((slot) => slot.key === key)
    const isFresh = keyUse.isFresh && slots.length === 0
    this.limiter = this.limiterOf(key, isFresh ? 'fresh' : slots, () => keyUse.began())
    this.chain = chain
    const accounts = chain === undefined ? [] : [...chain.wallets.values()]
    this.#wallets = new Map(accounts.map((own) => [own.publicKey, own]))
    this.routes = new Map(accounts.map((own) => [own.account, this.#routesOf(own, chain as LiveChain)]))
  }

  /** Opens the executors of a wallet. Each one signs with the key of this wallet only. */
  #routesOf(own: LiveAccount, chain: LiveChain): WalletRoutes {
    const { service, machine, http, model, journal, signing, probe } = this.#parts
    const { account, publicKey, wallet } = own
    const common = {
      ...{ http, clock: machine.clock, journal, chain, own },
      ...{ baseUrl: service.baseUrl, apiKey: service.apiKey, wallet: publicKey },
      maxBuyLamports: () => this.#plan.maxBuyLamports,
      sellUnit: () => probe?.sellUnit() ?? this.#sellUnit(chain),
      holding: (mint: string) => model.holdingOf(account, mint),
    }
    const executor = service.venue.openExecutor({
      ...common,
      resolve: wallet.resolver,
      contradicted: (attempt, sold) => this.#contradicted(chain, attempt, sold),
    })
    const route = { limiter: this.limiter, baseline: wallet.baseline }
    const signer = signing?.get(own.name)
    return {
      cloud: { ...route, kind: 'cloud', executor },
      local: signer && {
        ...route,
        kind: 'local',
        executor: localExecutor({ ...common, venue: service.venue, signing: signer }),
      },
    }
  }

  #sellUnit(chain: LiveChain): SellUnit {
    return this.#isContradicted ? 'unproved' : sellUnitOf(this.#parts.config, chain.proof)
  }

  /** Handles a sale whose fill shows that the number of tokens in its request had the wrong unit: from now on, a part
   *  of a position is sold as a percentage. Sales of a probe are ignored, because a probe tests uncertain units on
   *  purpose. */
  #contradicted(chain: LiveChain, { id, size }: Attempt, sold: TokenAmount): void {
    if (this.#isContradicted || this.#parts.probe !== undefined || size.kind !== 'tokens') return
    this.#isContradicted = true
    chain.disproved(
      `${id} should have sold ${size.tokens} base units but sold ${sold}: the service does not read the number of tokens in a sale in the assumed unit`,
    )
  }

  get plan(): Plan {
    return this.#plan
  }

  /** Reason why the limits of the plan that the service named last are unknown; '' if they are known. */
  get planNotice(): string {
    return this.#planNotice
  }

  /** Applies the plan that the service has named. A plan in the configuration takes precedence. */
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

  /** Creates the limiter of an account's requests. `began` is called before each request is sent. */
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

  /** Looks for trades of our own wallets in rows of the feed. */
  observe(block: Block, from: number, to: number): void {
    if (this.chain === undefined || !this.#parts.model.awaitsFill) return
    for (let row = from; row < to; row++) {
      const own = (block.kind[row] as number) > RowKind.sell ? undefined : this.#wallets.get(block.texts.trader(row))
      if (own === undefined) continue
      const mint = block.mints[block.token[row] as number] as string
      own.wallet.hint(mint, block.texts.signature(row))
    }
  }
}

/** Unit of the number of tokens in a sale: the configured one, or the one that a probe has proved. */
function sellUnitOf({ service }: Config, proof: ServiceProof | undefined): SellUnit {
  const sell = service.units.sell === 'auto' ? proof?.sellNumber : service.units.sell
  return sell === 'tokens' ? 'tokens' : sell === 'baseUnits' ? 'base' : 'unproved'
}

/** Observes orders, to learn facts that the service's document leaves open. */
export interface Probe {
  /** Returns a wrapper of the journal, which shows each decision and its outcome to the probe. The probe may also write
   *  to the journal. */
  watch(journal: Journal): Journal
  /** Called with every answer of the service. */
  answered(request: HttpRequest, result: HttpResult): void
  /** Unit in which the next sale gives its number of tokens. */
  sellUnit(): SellUnit
}
