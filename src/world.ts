import { createHash } from 'node:crypto'
import type { Config } from './config/config.ts'
import { type Block, RowKind } from './core/block.ts'
import { ExitCode } from './core/errors.ts'
import type { Input } from './core/messages.ts'
import type { Mints } from './core/mints.ts'
import type { Money } from './core/money.ts'
import type { Order } from './core/order.ts'
import type { Clock, Http, Journal, Sink } from './core/ports.ts'
import { deriveSeed, seededRandom } from './core/random.ts'
import type { BotSettings, Plan } from './core/settings.ts'
import { DecisionTime } from './decision-time.ts'
import type { Recovered } from './journal/recovery.ts'
import { type LiveChain, reachChain } from './live-chain.ts'
import { PaperWorld } from './paper-world.ts'
import { type Alert, Alerts } from './runtime/alerts.ts'
import type { Gateway } from './runtime/gateway.ts'
import { Limiter } from './runtime/limiter.ts'
import type { Log } from './runtime/log.ts'
import { MessagePacer } from './runtime/pacing.ts'
import { bootId, monotonicMs } from './runtime/system-clock.ts'
import type { Route } from './runtime/working-order.ts'
import { CloudExecutor } from './service/cloud-executor.ts'
import { dialWebSocket } from './service/dial.ts'
import { Feed } from './service/feed.ts'
import { openHttp } from './service/http.ts'
import { loopLoad } from './service/overload.ts'
import { planOf, STANDARD } from './service/plans.ts'
import type { ServiceAccess } from './service-access.ts'
import type { Tally } from './tally.ts'

export interface WorldParts {
  readonly config: Config
  readonly service: ServiceAccess
  readonly clock: Clock
  readonly journal: Journal
  readonly mints: Mints
  readonly tally: Tally
  readonly past: Recovered
  readonly log: Log
  /** Somebody may trade: the chain is asked who it is. */
  readonly live: boolean
  /** This key was never used on this machine. */
  readonly freshKey: boolean
  readonly post: (input: Input) => void
  readonly end: (exitCode: ExitCode, message: string) => void
}

/** Everything outside of the engine that a live or paper run talks to: the feed, the executors, and the budget that they share. */
export class LiveWorld {
  readonly feed: Feed
  readonly limiter: Limiter
  /** undefined where nobody trades. */
  readonly chain: LiveChain | undefined
  readonly decisionTime = new DecisionTime()
  readonly #parts: WorldParts
  readonly #paper: PaperWorld
  readonly #cloud: Route | undefined
  readonly #http: ReturnType<typeof openHttp>
  readonly #pacer: MessagePacer
  readonly #alerts: Alerts | undefined
  #gateway: Gateway | undefined
  #plan: Plan
  #requestsOut = 0
  #wasAuthenticated = false

  constructor(parts: WorldParts, http: ReturnType<typeof openHttp>, chain: LiveChain | undefined) {
    const { config, service, clock, mints, past, journal, log } = parts
    this.#parts = parts
    this.#http = http
    this.chain = chain
    this.#plan =
      typeof config.service.plan === 'object'
        ? config.service.plan
        : config.service.plan === 'auto'
          ? STANDARD
          : planOf(config.service.plan).plan
    this.#pacer = new MessagePacer(this.#shareOf(this.#plan.messagesPerSecond))
    this.#paper = new PaperWorld(config, clock, mints)
    const key = createHash('sha256').update(service.apiKey()).digest('hex').slice(0, 16)
    const slots = past.slots.filter((slot) => slot.key === key)
    this.limiter = this.#limiterOf(key, parts.freshKey ? 'fresh' : slots)
    if (chain !== undefined) {
      const executor = new CloudExecutor({
        http: (request) => this.#counted(request),
        clock,
        baseUrl: service.baseUrl,
        apiKey: service.apiKey,
        wallet: service.wallet,
        maxBuyLamports: () => this.#plan.maxBuyLamports,
        sellUnit: () => sellUnitOf(config),
        holding: (mint) => parts.tally.holdingOf(mint),
        resolve: chain.wallet.resolver,
      })
      this.#cloud = { kind: 'cloud', executor, limiter: this.limiter, baseline: chain.wallet.baseline }
    }
    const { alerts } = config
    this.#alerts =
      alerts &&
      new Alerts({
        shape: alerts.shape,
        clock,
        post: postTo(http.http, alerts.url.read()),
        warn: (text) => log.warn(text),
      })
    this.feed = new Feed({
      url: service.wsUrl,
      apiKey: service.apiKey,
      dial: dialWebSocket,
      clock,
      random: seededRandom(deriveSeed(past.lastSegment, 'redial')),
      pace: (job) => void this.#pacer.run(job),
      mints,
      isHeld: (token) => parts.tally.holds(mints.list[token] as string),
      load: loopLoad(),
      on: {
        authenticated: (_userId, plan) => this.#authenticated(plan),
        refused: (reason) => this.#refused(reason),
        misfit: (why, text) => journal.write({ kind: 'frame', time: clock.now(), why, text }),
        notice: (text) => log.warn(text),
      },
    })
  }

  /** The robust price of a mint, SOL a token. */
  priceOf(mint: string): number | undefined {
    return this.#paper.market.price(mint)
  }

  /** The runner's door, timed. */
  timed(sink: Sink): Sink {
    return {
      rows: (block, from, to) => {
        const start = performance.now()
        const next = sink.rows(block, from, to)
        this.decisionTime.add(((performance.now() - start) * 1000) / (next - from))
        return next
      },
      post: (input) => sink.post(input),
    }
  }

  plan(): Plan {
    return this.#plan
  }

  attach(gateway: Gateway): void {
    this.#gateway = gateway
    this.chain?.attach(gateway)
  }

  /** Gives the executors their money. */
  restore(bots: readonly BotSettings[], money: Money): void {
    this.#paper.restore(bots, money, (key) => this.#limiterOf(key, 'fresh'))
  }

  readonly route = ({ account }: Pick<Order, 'account' | 'bot'>): Route => {
    const route = this.#paper.route(account) ?? this.#cloud
    if (route === undefined) throw new Error(`no executor for ${account}`)
    return route
  }

  /** Shown every run of rows behind the engine: prices for paper fills, and our own trades as the feed shows them. */
  readonly observe = (block: Block, from: number, to: number): void => {
    this.#paper.market.observe(block, from, to)
    const { tally, service } = this.#parts
    if (this.chain === undefined || !tally.awaitsFill) return
    for (let row = from; row < to; row++) {
      if ((block.kind[row] as number) > RowKind.sell || block.texts.trader(row) !== service.wallet) continue
      const mint = block.mints[block.token[row] as number] as string
      this.chain.wallet.resolver.hint(mint, block.texts.signature(row))
    }
  }

  /** Waits until everything is sent and no answer of the service is out any more, at most `ms`. */
  async lastAnswers(ms: number, isSent: () => boolean): Promise<void> {
    for (let waited = 0; (this.#requestsOut > 0 || !isSent()) && waited < ms; waited += 20)
      await new Promise((resolve) => setTimeout(resolve, 20))
  }

  /** Tells a person, where one is configured. */
  alert(alert: Alert): void {
    this.#alerts?.raise({ ...alert, text: this.#parts.service.redact(alert.text) })
  }

  async close(): Promise<void> {
    this.chain?.stop()
    await this.#http.close()
  }

  /** What the service says goes into the journal: it may say what it was sent. */
  #counted: Http = async (request) => {
    this.#requestsOut++
    const result = await this.#http.http(request)
    this.#requestsOut--
    return result.kind === 'answered' ? { ...result, body: this.#parts.service.redact(result.body) } : result
  }

  #limiterOf(key: string, past: ConstructorParameters<typeof Limiter>[0]['past']): Limiter {
    const { clock, journal } = this.#parts
    const requestsPerMinute = this.#shareOf(this.#plan.requestsPerMinute)
    return new Limiter({
      key,
      clock,
      monotonicMs,
      boot: bootId(),
      requestsPerMinute,
      past,
      write: (slot) => journal.write({ kind: 'slot', slot }),
    })
  }

  #shareOf(perInterval: number): number {
    return Math.max(1, Math.floor(perInterval * this.#parts.config.service.share))
  }

  #authenticated(name: string): void {
    this.#wasAuthenticated = true
    this.#gateway?.keyAccepted(this.limiter)
    const { plan } = this.#parts.config.service
    if (plan !== 'auto' && typeof plan !== 'object') return
    const known = planOf(name, typeof plan === 'object' ? plan : undefined)
    if (known.notice !== '') this.#parts.log.warn(known.notice)
    this.#takePlan(typeof plan === 'object' ? plan : known.plan)
  }

  #takePlan(plan: Plan): void {
    if (plan === this.#plan) return
    this.#plan = plan
    for (const limiter of [this.limiter, ...this.#paper.limiters])
      limiter.setRequestsPerMinute(this.#shareOf(plan.requestsPerMinute))
    this.#pacer.setPerSecond(this.#shareOf(plan.messagesPerSecond))
    this.#parts.post({ kind: 'plan', plan })
  }

  /** At the start a refused key ends the command; later it may be replaced, and what is held still has its exits. */
  #refused(reason: string): void {
    const { end, log } = this.#parts
    if (!this.#wasAuthenticated) end(ExitCode.refused, `the service refuses the API key: ${reason}`)
    else {
      const text = 'the service refuses the API key; entries stop, the key is read again every 30 s'
      log.error({ reason }, text)
      this.alert({ kind: 'key-refused', bot: '', text, time: this.#parts.clock.now() })
    }
    this.#gateway?.keyRefused(this.limiter)
  }
}

/** Reaches the chain and builds the world. Throws a SluiceError where the chain cannot be asked and somebody wants to trade. */
export async function buildWorld(parts: WorldParts): Promise<LiveWorld> {
  const http = openHttp()
  try {
    return new LiveWorld(parts, http, await reachChain(parts, http.http))
  } catch (error) {
    await http.close()
    throw error
  }
}

/** A webhook: accepted is any 2xx. */
function postTo(http: Http, url: string): (body: string) => Promise<boolean> {
  return async (body) => {
    const result = await http({ method: 'POST', url, headers: { 'content-type': 'application/json' }, body })
    return result.kind === 'answered' && result.status >= 200 && result.status < 300
  }
}

function sellUnitOf({ service }: Config): 'tokens' | 'base' | 'unproved' {
  const { sell } = service.units
  return sell === 'tokens' ? 'tokens' : sell === 'baseUnits' ? 'base' : 'unproved'
}
