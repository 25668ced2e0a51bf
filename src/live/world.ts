import { ExitCode } from '../base/errors.ts'
import type { Http, Machine, Stop } from '../base/machine.ts'
import { deriveSeed, seededRandom } from '../base/random.ts'
import type { AlertKind } from '../config/alert-kinds.ts'
import type { Config } from '../config/config.ts'
import type { Input } from '../engine/messages.ts'
import type { Order } from '../engine/order.ts'
import type { Sink } from '../engine/ports.ts'
import type { RecoveredMoney } from '../engine/recovered-money.ts'
import type { BotSettings, Plan } from '../engine/settings.ts'
import type { Recovered } from '../journal/reader/recovery.ts'
import type { Block } from '../market/block.ts'
import type { Mints } from '../market/mints.ts'
import type { Gateway } from '../orders/gateway.ts'
import type { Limiter } from '../orders/plan-limiter.ts'
import type { Journal } from '../orders/ports.ts'
import type { Route } from '../orders/working-order.ts'
import type { Log } from '../runtime/log.ts'
import type { Notices } from '../runtime/notices.ts'
import { PaperWorld } from '../runtime/paper-world.ts'
import type { AnySegment } from '../runtime/segment.ts'
import type { ViewModel } from '../runtime/view/view-model.ts'
import { busier, loopLoad } from '../venues/feed-overload.ts'
import { openHttp } from '../venues/http.ts'
import type { VenueFeed } from '../venues/venue.ts'
import { dialWebSocket } from '../venues/web-socket.ts'
import { type Alert, Alerts, webhook } from './alerts.ts'
import { DecisionTime } from './decision-time.ts'
import { Routes } from './executor-routes.ts'
import { FilterLists } from './filter-lists.ts'
import { type LiveChain, openPools, reachChain } from './live-chain.ts'
import type { Signing } from './local-trading.ts'
import { MessagePacer } from './pacing.ts'
import type { KeyUse, ServiceAccess, WalletKeys } from './service-access.ts'
import { SourcePolls } from './source-polls.ts'
import { openTelegram, type Shown } from './telegram/telegram.ts'
import { raiseTrades } from './telegram/trade-events.ts'
import type { Probe } from './trading.ts'
import { Trading } from './trading.ts'
import { UnitWatch } from './unit-watch.ts'

export interface WorldParts {
  readonly config: Config
  readonly service: ServiceAccess
  readonly machine: Machine
  readonly journal: Journal
  readonly mints: Mints
  readonly model: ViewModel
  readonly past: Recovered
  readonly log: Log
  /** Receives every alert, for the view. */
  readonly notices: Notices
  readonly probe: Probe | undefined
  /** Whether at least one bot may trade real money; the wallet must then be known. */
  readonly live: boolean
  /** Exclusive use of the API key; also shows whether this machine has used the key before. */
  readonly keyUse: KeyUse
  /** The wallets with which live bots trade. */
  readonly wallets: readonly WalletKeys[]
  /** Signer and policy of local orders, by the name of the wallet. */
  readonly signing: ReadonlyMap<string, Signing>
  readonly post: (input: Input) => void
  readonly end: (exitCode: ExitCode, message: string) => void
}

/** How far the engine is behind the stream of market rows. */
type Progress = Pick<AnySegment, 'lagMs' | 'rowsHandled'>

/** In a live or paper run, connects the engine to the feed, to the executors, and to the request limit that the
 *  executors share. */
export class LiveWorld {
  readonly feed: VenueFeed
  readonly decisionTime = new DecisionTime()
  readonly #parts: WorldParts
  readonly #paper: PaperWorld
  readonly #trading: Trading
  readonly #routes: Routes
  readonly #http: ReturnType<typeof openHttp>
  readonly #pools: ReturnType<typeof openPools>
  readonly #pacer: MessagePacer
  readonly #alerts: Alerts | undefined
  readonly #telegram: ReturnType<typeof openTelegram> | undefined
  readonly lists = new FilterLists()
  /** Number of raised alerts by kind. */
  readonly raised = new Map<AlertKind, number>()
  readonly sources: SourcePolls
  /** Checks the unit of the feed's amounts; undefined if the unit is configured, or was proved by a probe. */
  readonly #units: UnitWatch | undefined
  #gateway: Gateway | undefined
  #segment: Progress = { lagMs: 0, rowsHandled: 0 }
  #wasAuthenticated = false

  constructor(parts: WorldParts, http: ReturnType<typeof openHttp>, chain: LiveChain | undefined) {
    const { config, service, machine, mints, past, journal, log } = parts
    const { clock } = machine
    this.#parts = parts
    this.#http = http
    const post = (input: Input): void => {
      this.#paper.hear(input)
      parts.post(input)
    }
    this.#pools = openPools({ ...parts, post }, http.http, chain)
    this.#trading = new Trading({ ...parts, http: this.#shown, chain })
    this.sources = new SourcePolls({
      ...{ config, clock, log, post: parts.post, redact: service.redact },
      alert: (alert) => this.alert(alert),
    })
    this.#pacer = new MessagePacer(this.#trading.shareOf(this.plan().messagesPerSecond))
    this.#paper = new PaperWorld(config, clock, mints)
    this.#paper.market.addKeeper((mint) => parts.model.holds(mint))
    this.#routes = new Routes(this.#paper, config, this.#trading, clock)
    const isKnown = config.service.units.tradeAmount === 'sol' || chain?.proof?.tradeAmount === 'sol'
    const alert = (text: string): void => this.alert({ kind: 'unit-contradicted', bot: '', text, time: clock.now() })
    this.#units = isKnown ? undefined : new UnitWatch({ post, log, alert })
    const { alerts, telegram } = config
    this.#telegram = telegram && openTelegram(telegram, { clock, log })
    this.#alerts =
      alerts &&
      new Alerts({
        shape: alerts.shape,
        clock,
        post: webhook(http.http, alerts.url.read()),
        warn: (text) => log.warn(text),
      })
    this.feed = service.venue.openFeed({
      url: service.wsUrl,
      apiKey: service.apiKey,
      dial: dialWebSocket,
      clock,
      random: seededRandom(deriveSeed(past.lastSegment, 'redial')),
      pace: (job) => void this.#pacer.run(job),
      mints,
      isHeld: (token) => parts.model.holds(mints.list[token] as string),
      load: busier(loopLoad(), () => this.#segment.lagMs),
      rowsHandled: () => this.#segment.rowsHandled,
      on: {
        authenticated: (_userId, plan) => this.#authenticated(plan),
        refused: (reason) => this.#refused(reason),
        misfit: (why, text) => journal.write({ kind: 'frame', time: clock.now(), why, text }),
        notice: (text) => log.warn(text),
      },
    })
  }

  get limiter(): Limiter {
    return this.#trading.limiter
  }

  /** Chain of the live bots; undefined if no bot may trade real money. */
  get chain(): LiveChain | undefined {
    return this.#trading.chain
  }

  /** Robust price of a mint, SOL per token. */
  priceOf(mint: string): number | undefined {
    return this.#paper.market.price(mint)
  }

  /** Returns a sink that passes market rows and inputs to the runner, and measures the runner's decision time. */
  timed(runner: Sink): Sink {
    const sink = this.#paper.withInputs(runner)
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

  /** Starts the feed and every other source of inputs. `segment` shows how far the engine is behind the stream. */
  listen(sink: Sink, segment: Progress): Stop {
    this.#segment = segment
    const { config, log, post, machine } = this.#parts
    const unwatch = this.lists.watch(config, log, post, (text) =>
      this.alert({ kind: 'list-broken', bot: '', text, time: machine.clock.now() }),
    )
    const stopSources = this.sources.start()
    const stop = this.feed.start(sink)
    return () => {
      unwatch()
      stopSources()
      return stop()
    }
  }

  /** Sets the subscription keys. A bot may soon buy the mints among them, so their data is read in advance. */
  want(keys: readonly string[]): void {
    this.feed.want(keys)
    for (const key of keys) this.chain?.mints.prepare(key)
  }

  /** Requests that the mint's pool is read on the chain. The result arrives as an input. */
  poll(mint: string): void {
    this.#pools.ask(mint)
  }

  plan(): Plan {
    return this.#trading.plan
  }

  /** Reason why the limits of the plan are unknown; '' if they are known. */
  get planNotice(): string {
    return this.#trading.planNotice
  }

  attach(gateway: Gateway): void {
    this.#gateway = gateway
    this.chain?.attach(gateway)
  }

  /** Restores the balances and open orders of the paper executors, and the price impact of their earlier fills.
   *  `tapeOf` returns the recorded market rows of the last hour. */
  restore(bots: readonly BotSettings[], money: RecoveredMoney, tapeOf: (mints: Mints) => Iterable<Block>): void {
    const unreported = this.#parts.past.untaken.flatMap(({ report: { fill } }) => fill ?? [])
    this.#paper.restore(bots, money, (key) => this.#trading.limiterOf(key, 'fresh'), unreported)
    const booked = new Set(money.fills.map(({ signature }) => signature))
    this.#paper.recall([...money.fills, ...unreported.filter(({ signature }) => !booked.has(signature))], tapeOf)
  }

  readonly route = (order: Pick<Order, 'account' | 'bot'>): Route => this.#routes.of(order)

  /** Called with each group of market rows after the engine has handled it: updates the prices for paper fills, and
   *  detects the wallet's own trades. */
  readonly observe = (block: Block, from: number, to: number): void => {
    this.#paper.market.observe(block, from, to)
    this.#trading.observe(block, from, to)
    this.#units?.observe(block, from, to)
  }

  /** Called with every input of an engine in another thread. */
  readonly heard = (input: Input): void => this.#paper.hear(input)

  /** Shows an alert in the view, and sends it to the webhook and to Telegram, if they are configured. */
  alert(alert: Alert): void {
    const shown = { ...alert, text: this.#parts.service.redact(alert.text) }
    this.raised.set(alert.kind, (this.raised.get(alert.kind) ?? 0) + 1)
    this.#parts.notices.add({ ...shown, level: 'alert' })
    this.#alerts?.raise(shown)
    this.#telegram?.telegram.raise(shown)
  }

  /** Number of alerts that the webhook did not receive. */
  get lostAlerts(): number {
    return this.#alerts?.lost ?? 0
  }

  /** If Telegram is configured, starts to answer questions, to take commands, and to send messages about trades. */
  serveTelegram(shown: Shown): void {
    const telegram = this.#telegram?.telegram
    if (telegram === undefined) return
    const { model, service } = this.#parts
    raiseTrades(model, (event) => telegram.raise({ ...event, text: service.redact(event.text) }))
    telegram.serve(shown)
  }

  async close(): Promise<void> {
    this.#pools.stop()
    this.chain?.stop()
    await Promise.all([this.#http.close(), this.sources.close(), this.#telegram?.close()])
  }

  /** HTTP client that removes secrets from answers of the service before they are journaled, because an answer may
   *  repeat the request. */
  #shown: Http = async (request) => {
    const result = await this.#http.http(request)
    this.#parts.probe?.answered(request, result)
    return result.kind === 'answered' ? { ...result, body: this.#parts.service.redact(result.body) } : result
  }

  #authenticated(name: string): void {
    this.#wasAuthenticated = true
    this.#gateway?.keyAccepted(this.limiter)
    const before = { plan: this.plan(), notice: this.planNotice }
    this.#trading.planNamed(name)
    if (this.planNotice !== before.notice && this.planNotice !== '') this.#warnOfPlan(this.planNotice)
    if (this.plan() !== before.plan) this.#planChanged(this.plan())
  }

  #warnOfPlan(text: string): void {
    this.#parts.log.warn(text)
    this.alert({ kind: 'plan-unknown', bot: '', text, time: this.#parts.machine.clock.now() })
  }

  #planChanged(plan: Plan): void {
    for (const limiter of this.#paper.limiters)
      limiter.setRequestsPerMinute(this.#trading.shareOf(plan.requestsPerMinute))
    this.#pacer.setPerSecond(this.#trading.shareOf(plan.messagesPerSecond))
    this.#parts.post({ kind: 'plan', plan })
  }

  /** Handles a refused API key. At the start, this ends the command. Later, the bots continue, because the key may be
   *  replaced, and open positions still need their exits. */
  #refused(reason: string): void {
    const { end, log, service } = this.#parts
    const { name } = service.venue
    if (!this.#wasAuthenticated) end(ExitCode.refused, `${name} refuses the API key: ${reason}`)
    else {
      const text = `${name} refuses the API key; entries stop and the key is read again every 30 s`
      log.error({ reason }, text)
      this.alert({ kind: 'key-refused', bot: '', text, time: this.#parts.machine.clock.now() })
    }
    this.#gateway?.keyRefused(this.limiter)
  }
}

/** Connects to the chain, then creates the feed and the executors. Throws SluiceError if a bot trades live and the
 *  chain cannot be read. */
export async function buildWorld(parts: WorldParts): Promise<LiveWorld> {
  const http = openHttp()
  try {
    return new LiveWorld(parts, http, await reachChain(parts, http.http))
  } catch (error) {
    await http.close()
    throw error
  }
}
