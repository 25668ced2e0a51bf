import type { Clock, Http, HttpRequest, HttpResult } from '../../src/base/machine.ts'
import type { Attempt } from '../../src/orders/attempt.ts'
import { dialectOf } from '../../src/sandbox/dialect.ts'
import type { Draws } from '../../src/sandbox/draws.ts'
import { Faults } from '../../src/sandbox/faults.ts'
import type { Market } from '../../src/sandbox/market/market.ts'
import { forgetfulRecords } from '../../src/sandbox/records.ts'
import { parseBuy, parseSell } from '../../src/sandbox/service/requests.ts'
import { type TradeResult, TradingDesk } from '../../src/sandbox/service/trading-desk.ts'
import { LATE_MS } from './configuration.ts'
import { type TimedLedger, WALLET, walletsOf } from './ledger.ts'
import type { Mutant } from './mutants.ts'
import type { Plans } from './plans.ts'
import { ANSWERS, REFUSALS, type Reply, TOO_MANY } from './replies.ts'
import type { Scenario } from './scenario.ts'
import type { Post, Truth } from './truth.ts'

const HARD_LIMIT_MS = 60_000
const WINDOW_MS = 60_000

export interface ServiceParts {
  readonly clock: Clock
  readonly draws: Draws
  /** Random numbers for the second process with the same wallet. */
  readonly companyDraws: Draws
  /** Called with the signature of each transaction of the second process. */
  readonly accompanied: (signature: string) => void
  readonly scenario: Scenario
  readonly ledger: TimedLedger
  readonly market: Market
  readonly truth: Truth
  readonly plans: Plans
  readonly isCalm: () => boolean
  readonly mutant: Mutant | undefined
  readonly note: (what: string) => void
  readonly complain: (what: string) => void
  readonly answered: () => void
  /** Called when the service accepts the API key again after it had refused the key. */
  readonly acceptKey: () => void
}

/** The calling process. */
export interface Caller {
  isAlive(): boolean
  /** The attempt whose request is being sent. */
  readonly sending: Attempt | undefined
}

interface Exchange {
  readonly post: Post
  readonly body: Record<string, unknown>
  readonly caller: Caller
  /** Whether the service executes the request only after its connection has ended. */
  afterwards: boolean
  isOver: boolean
  readonly resolve: (result: HttpResult) => void
}

/** The trading service. It consists of the sandbox's trading desk, a faulty HTTP server and a faulty network. */
export class SimulatedService {
  arrived = 0
  /** The number of forbidden actions of the service. */
  lies = 0
  readonly #parts: ServiceParts
  readonly #desk: TradingDesk
  readonly #faults: Faults
  readonly #open = new Set<Exchange>()
  readonly #arrivals: number[] = []

  constructor(parts: ServiceParts) {
    const { ledger, market, scenario } = parts
    this.#parts = parts
    this.#faults = new Faults(scenario.seed)
    const records = forgetfulRecords()
    this.#desk = new TradingDesk({
      ledger,
      market,
      records,
      faults: this.#faults,
      dialect: dialectOf(0),
      tokenPrograms: () => 'token',
      wallets: walletsOf(scenario),
    })
  }

  port(caller: Caller): Http {
    return (request) => new Promise((resolve) => this.#take(request, caller, resolve))
  }

  /** Called when a process has ended and its connections are closed. */
  cut(caller: Caller): void {
    for (const exchange of this.#open) if (exchange.caller === caller) this.#over(exchange)
  }

  #take({ body }: HttpRequest, caller: Caller, resolve: (result: HttpResult) => void): void {
    const { clock, draws, truth, note, scenario, isCalm } = this.#parts
    const { sending } = caller
    if (sending === undefined || !caller.isAlive()) return
    const post = truth.sent(sending, clock.now())
    const parsed = JSON.parse(body ?? '') as Record<string, unknown>
    const exchange: Exchange = { post, body: parsed, caller, afterwards: false, isOver: false, resolve }
    this.#open.add(exchange)
    const isLost = !isCalm() && draws.chance(scenario.network.lost)
    const fate = isLost ? draws.pick(['unsent', 'request', 'answer', 'answer'] as const) : 'whole'
    note(`network: ${post.attemptId} ${fate === 'whole' ? 'goes' : `${fate} is lost`}`)
    if (fate === 'unsent') {
      const reason = 'connection refused'
      clock.after(1 + draws.integer(draws.pick([50, 5_000])), () => this.#answer(exchange, { kind: 'unsent', reason }))
      return
    }
    clock.after(HARD_LIMIT_MS, () => this.#answer(exchange, { kind: 'lost', reason: 'no answer within 60000 ms' }))
    const reset = { kind: 'lost', reason: 'ECONNRESET' } as const
    if (fate === 'request') clock.after(draws.integer(70_000), () => this.#answer(exchange, reset))
    else {
      if (fate === 'answer')
        clock.after(draws.integer(draws.pick([50, 1_000, 70_000])), () => this.#answer(exchange, reset))
      clock.after(2 + draws.integer(40), () => this.#arrive(exchange, fate === 'answer'))
    }
  }

  /** Called when the whole request has arrived. The service handles it even if the process has ended meanwhile. */
  #arrive(exchange: Exchange, isAnswerLost: boolean): void {
    const { clock, draws, scenario, isCalm } = this.#parts
    this.arrives()
    const reply = this.#replyTo(exchange)
    const isSlow = !isCalm() && draws.chance(scenario.network.slow)
    const delayMs = isSlow ? draws.integer(70_000) : 20 + draws.integer(300)
    if (isAnswerLost || reply.kind === 'silence') return
    clock.after(delayMs, () =>
      this.#answer(exchange, reply.kind === 'trade' ? this.#traded(reply.result) : reply.answer),
    )
  }

  /** Counts a request, and checks that no minute has more requests than the plan allows. */
  arrives(): void {
    const { clock, scenario, complain, plans } = this.#parts
    const now = clock.now()
    const arrivals = this.#arrivals
    while (arrivals.length > 0 && (arrivals[0] as number) <= now - WINDOW_MS) arrivals.shift()
    arrivals.push(now)
    this.arrived++
    const most = scenario.plans === undefined ? scenario.requestsPerMinute : plans.most
    if (arrivals.length > most)
      complain(`the server received ${arrivals.length} requests within a minute, but the plan allows ${most}`)
  }

  #replyTo(exchange: Exchange): Reply {
    const { draws, scenario, isCalm, note, acceptKey, clock, plans } = this.#parts
    const { odd, refuses, lies } = scenario.service
    const { post } = exchange
    if (isCalm()) return { kind: 'trade', result: this.#execute(exchange) }
    if (plans.isStray) return { kind: 'answer', answer: TOO_MANY }
    if (draws.chance(lies)) return this.#lie(exchange)
    if (draws.chance(refuses)) {
      const answer = draws.pick(REFUSALS)
      note(`service: refuses ${post.attemptId} with ${answer.status}`)
      if (answer.status === 401 || answer.status === 403) clock.after(1_000 + draws.integer(15_000), acceptKey)
      return { kind: 'answer', answer }
    }
    if (!draws.chance(odd)) return { kind: 'trade', result: this.#execute(exchange) }
    this.#executeSomeTime(exchange)
    const isSilent = draws.chance(0.3)
    note(`service: ${isSilent ? 'is silent' : 'answers oddly'} to ${post.attemptId}`)
    return isSilent ? { kind: 'silence' } : { kind: 'answer', answer: draws.pick(ANSWERS) }
  }

  /** Executes the request now, later, after the end of its connection, or never. */
  #executeSomeTime(exchange: Exchange): void {
    const { draws } = this.#parts
    const when = draws.pick(['now', 'later', 'afterwards', 'never'] as const)
    if (when === 'now') this.#execute(exchange)
    if (when === 'later') this.#executeIn(exchange, draws.integer(HARD_LIMIT_MS), true)
    exchange.afterwards = when === 'afterwards'
  }

  /** Executes a request after `ms`. `inTime`: whether this is early enough under the service's rules. */
  #executeIn(exchange: Exchange, ms: number, inTime: boolean): void {
    const { clock } = this.#parts
    const { post } = exchange
    post.pending++
    clock.after(ms, () => {
      post.pending--
      if (!inTime || clock.now() < (post.endedAt ?? Number.POSITIVE_INFINITY) + LATE_MS) this.#execute(exchange)
    })
  }

  #lie(exchange: Exchange): Reply {
    const { draws, note, truth } = this.#parts
    const { post } = exchange
    const what = draws.pick(['twice', 'no', 'amount', 'signature', 'others', 'late'] as const)
    this.lies++
    note(`service: lies about ${post.attemptId}: ${what}`)
    switch (what) {
      case 'twice': {
        const result = this.#execute(exchange)
        if (draws.chance(0.5)) this.#execute(exchange)
        else this.#executeIn(exchange, draws.integer(30_000), false)
        return { kind: 'trade', result }
      }
      case 'no':
        this.#executeIn(exchange, draws.integer(draws.pick([10, 20_000])), false)
        return { kind: 'answer', answer: draws.pick(REFUSALS) }
      case 'amount': {
        const { amount } = exchange.body
        const other =
          typeof amount === 'number' ? Math.max(0.001, Number((amount * draws.between(0.3, 3)).toFixed(6))) : '50%'
        return {
          kind: 'trade',
          result: this.#execute({ ...exchange, body: { ...exchange.body, amount: other, sellAll: false } }),
        }
      }
      case 'signature':
        this.#execute(exchange)
        return { kind: 'trade', result: { ok: true, signature: draws.signature() } }
      case 'others': {
        const known = [...truth.executions.keys()]
        this.#execute(exchange)
        return {
          kind: 'trade',
          result: { ok: true, signature: known.length > 0 ? draws.pick(known) : draws.signature() },
        }
      }
      case 'late':
        this.#executeIn(exchange, LATE_MS + HARD_LIMIT_MS + draws.integer(60_000), false)
        return { kind: 'silence' }
    }
  }

  #execute({ post, body }: Exchange): TradeResult {
    const { draws, ledger, truth, scenario, note, isCalm } = this.#parts
    const isOdd = !isCalm() && draws.chance(scenario.service.lands)
    const how = isOdd ? draws.pick(['lost', 'slow', 'reverts'] as const) : 'lands'
    ledger.landsAfter = how === 'lost' ? Number.POSITIVE_INFINITY : 1 + draws.integer(how === 'slow' ? 140 : 4)
    this.#faults.clear()
    if (how === 'reverts') this.#faults.set({ kind: 'reverted' })
    const result = this.#trade(post, body)
    if (result.ok) truth.executed(post, result.signature)
    if (result.ok && post.side === 'buy') this.#accompany(post, body)
    note(`service: ${post.attemptId} ${result.ok ? `${result.signature.slice(0, 8)} ${how}` : result.code}`)
    return result
  }

  /** Sometimes lets the second process also send this buy, through the same service. After half of these buys, the
   *  second process sells the tokens later. */
  #accompany({ mint }: Post, body: Record<string, unknown>): void {
    const { clock, companyDraws, scenario, isCalm } = this.#parts
    if (isCalm() || !companyDraws.chance(scenario.company)) return
    const sellAfterMs = 3_000 + companyDraws.integer(20_000)
    clock.after(companyDraws.integer(1_500), () => this.#companyTrades('buy', body))
    if (companyDraws.chance(0.5))
      clock.after(sellAfterMs, () => this.#companyTrades('sell', { publicKey: WALLET, mint, amount: '50%' }))
  }

  #companyTrades(side: 'buy' | 'sell', body: Record<string, unknown>): void {
    const { companyDraws, ledger, accompanied, note } = this.#parts
    ledger.landsAfter = 1 + companyDraws.integer(4)
    this.#faults.clear()
    const result = this.#trade({ side }, body)
    if (result.ok) accompanied(result.signature)
    note(`company: ${side} ${result.ok ? result.signature.slice(0, 8) : result.code}`)
  }

  #trade({ side }: Pick<Post, 'side'>, body: Record<string, unknown>): TradeResult {
    const parsed = side === 'buy' ? parseBuy(body, 100) : parseSell(body)
    if (!parsed.ok) return { ok: false, code: parsed.code, message: parsed.message }
    return 'amountSol' in parsed.value ? this.#desk.buy(parsed.value) : this.#desk.sell(parsed.value)
  }

  #traded(result: TradeResult): Extract<HttpResult, { kind: 'answered' }> {
    const body = result.ok ? { signature: result.signature } : { error: { code: result.code, message: result.message } }
    return { kind: 'answered', status: result.ok ? 200 : 400, headers: {}, body: JSON.stringify(body) }
  }

  #answer(exchange: Exchange, result: HttpResult): void {
    if (exchange.isOver) return
    const { note, answered, plans } = this.#parts
    const { post, caller } = exchange
    note(`network: ${post.attemptId} ${result.kind === 'answered' ? result.status : result.kind}`)
    this.#over(exchange)
    if (!caller.isAlive()) return
    if (result.kind === 'answered' && result.status === 429) plans.refused(Number(result.headers['retry-after'] ?? 0))
    answered()
    exchange.resolve(this.#told(result))
  }

  /** Returns the result of the HTTP port, as the process receives it. */
  #told(result: HttpResult): HttpResult {
    const { mutant } = this.#parts
    if (mutant === 'lostCountsAsUnsent' && result.kind === 'lost') return { ...result, kind: 'unsent' }
    if (mutant === 'oddCountsAsRefused' && result.kind === 'answered' && ANSWERS.includes(result))
      return REFUSALS[0] as HttpResult
    return result
  }

  /** Called when the answer to a request can no longer arrive. */
  #over(exchange: Exchange): void {
    const { clock, draws } = this.#parts
    exchange.isOver = true
    exchange.post.endedAt = clock.now()
    this.#open.delete(exchange)
    if (exchange.afterwards) this.#executeIn(exchange, draws.integer(LATE_MS), true)
  }
}
