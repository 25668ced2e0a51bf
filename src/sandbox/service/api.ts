import type { Clock } from '../../base/machine.ts'
import type { ServedEndpoint, ServedInterface, ServedRoute } from '../../orders/served-interface.ts'
import { isPublicKey } from '../../solana/base58.ts'
import { decodeTokenAccount } from '../../solana/token-account.ts'
import type { Ledger } from '../chain/ledger.ts'
import { type Faults, parseFault } from '../faults.ts'
import type { Market } from '../market/market.ts'
import { type Answer, type Answers, type Holding, json } from './answers.ts'
import type { Builder } from './builder.ts'
import type { Customer, Customers } from './customers.ts'
import type { Handle, Request } from './http.ts'
import { type Parsed, parseBuy, parseSell } from './requests.ts'
import type { TradeResult, TradingDesk } from './trading-desk.ts'

export interface ApiOptions {
  answers: Answers
  builder: Builder
  clock: Clock
  customers: Customers
  desk: TradingDesk
  faults: Faults
  ledger: Ledger
  market: Market
  endpoints: ServedInterface['endpoints']
}

/** Handles a request after its key and the rate limit were checked. `argument` is the last part of the path. */
type Route = (request: Request, customer: Customer, argument: string) => Answer

/** Handles all requests to the REST interface, whose paths begin with /api. */
export class Api {
  readonly #options: ApiOptions
  readonly #routes: readonly { readonly method: string; readonly path: RegExp; readonly route: Route }[]

  constructor(options: ApiOptions) {
    this.#options = options
    const { desk, builder } = options
    const routes: Record<ServedEndpoint, Route> = {
      buy: ({ body }, { plan }) => this.#trade(parseBuy(parseJson(body), plan.maxBuySol), (buy) => desk.buy(buy)),
      sell: ({ body }) => this.#trade(parseSell(parseJson(body)), (sell) => desk.sell(sell)),
      tokenInfo: (_request, _customer, mint) => this.#token(mint),
      portfolio: (_request, _customer, publicKey) => this.#portfolio(publicKey),
      buildBuy: ({ body }, { plan }) =>
        this.#built(parseBuy(parseJson(body), plan.maxBuySol), (buy) => builder.buy(buy)),
      buildSell: ({ body }) => this.#built(parseSell(parseJson(body)), (sell) => builder.sell(sell)),
    }
    this.#routes = Object.entries(options.endpoints).map(([name, served]) => {
      return { method: served.method, path: patternOf(served), route: routes[name as ServedEndpoint] }
    })
  }

  readonly handle: Handle = (request) => {
    const { answers, clock, customers, faults } = this.#options
    const customer = customers.byKey(bearer(request))
    if (!customer) return answers.refusal('UNAUTHORIZED', 'API key missing or invalid')
    const { path } = request
    if (faults.strike('dropBefore', path)) return undefined
    const admission = customer.window.admit(clock.now())
    if (!admission.accepted || faults.strike('rateLimit', path)) return answers.rateLimited(admission)
    if (faults.strike('planRefused', path)) return json(403, { message: 'your plan does not include this' })
    const failure = faults.strike('serverError', path)
    if (failure && !failure.executed) return serverError(failure.status)
    const answer = this.#route(request, customer)
    if (failure) return serverError(failure.status)
    if (faults.strike('dropAfter', path)) return undefined
    const delay = faults.strike('delay', path)
    return delay ? new Promise((resolve) => clock.after(delay.ms ?? 1_000, () => resolve(answer))) : answer
  }

  #route(request: Request, customer: Customer): Answer {
    for (const { method, path, route } of this.#routes) {
      const match = path.exec(request.path)
      if (match && method === request.method) return route(request, customer, match[1] ?? '')
    }
    return this.#options.answers.refusal('NOT_FOUND', `no ${request.method} ${request.path}`)
  }

  #trade<T>(parsed: Parsed<T>, execute: (value: T) => TradeResult): Answer {
    const { answers } = this.#options
    if (!parsed.ok) return answers.refusal(parsed.code, parsed.message)
    const result = execute(parsed.value)
    return result.ok ? answers.trade(result.signature) : answers.refusal(result.code, result.message)
  }

  #built<T>(parsed: Parsed<T>, build: (value: T) => Answer): Answer {
    return parsed.ok ? build(parsed.value) : this.#options.answers.refusal(parsed.code, parsed.message)
  }

  #token(mint: string): Answer {
    const { answers, market } = this.#options
    const token = market.token(mint)
    return token ? answers.token(token) : answers.refusal('INVALID_MINT', 'unknown token')
  }

  #portfolio(publicKey: string): Answer {
    const { answers, ledger } = this.#options
    if (!isPublicKey(publicKey))
      return answers.refusal('INVALID_PARAMETERS', 'publicKey must be a base58 key of 32 bytes')
    const lamports = ledger.account(publicKey, 'confirmed')?.lamports ?? 0
    const holdings = ledger.tokenAccounts(publicKey, 'confirmed').map((address): Holding => {
      return decodeTokenAccount(ledger.account(address, 'confirmed')!.data)!
    })
    return answers.portfolio(publicKey, lamports, holdings)
  }
}

/** Returns the pattern that the path of a request must match. The path of a GET request ends with the public key of a
 *  wallet. */
function patternOf({ method, path }: ServedRoute): RegExp {
  return new RegExp(`^/api${path}${method === 'GET' ? '/([^/]+)' : ''}$`)
}

function bearer({ headers }: Request): string {
  return /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1] ?? ''
}

/** Parses JSON. Returns undefined if it is invalid; every request refuses undefined. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function serverError(status = 500): Answer {
  return { status, body: '<html><h1>Something went wrong</h1></html>', headers: { 'content-type': 'text/html' } }
}

/** Handles /sandbox/faults. POST sets one fault or a list of faults, GET lists the faults that have not struck, and
 *  DELETE removes them. Every answer contains the remaining faults. */
export function controlEndpoint(faults: Faults): Handle {
  return ({ method, path, body }) => {
    if (path !== '/sandbox/faults') return json(404, { error: 'POST, GET or DELETE /sandbox/faults' })
    if (method === 'POST') return setFaults(faults, body)
    if (method === 'DELETE') faults.clear()
    return json(200, { active: faults.active })
  }
}

function setFaults(faults: Faults, body: string): Answer {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    return json(400, { error: 'the body must be JSON' })
  }
  const parsed = (Array.isArray(value) ? value : [value]).map(parseFault)
  const wrong = parsed.find((fault) => typeof fault === 'string')
  if (wrong !== undefined) return json(400, { error: wrong })
  for (const fault of parsed) if (typeof fault !== 'string') faults.set(fault)
  return json(200, { active: faults.active })
}
