import type { Attempt } from '../core/order.ts'
import type { Clock, Executor, Http, HttpRequest, Outcome } from '../core/ports.ts'
import type { TokenAmount } from '../core/units.ts'
import { type Resolve, sendOnce } from './cloud-attempt.ts'
import { headersOf, urlOf } from './endpoints.ts'
import { isAsAsked, sellAmountOf } from './sell-amount.ts'
import { type TermParts, termsOf } from './trade-terms.ts'

export interface CloudParts extends TermParts {
  readonly http: Http
  readonly clock: Clock
  /** With the prefix /api. */
  readonly baseUrl: string
  readonly apiKey: () => string
  readonly resolve: Resolve
  /** A sale by number sold something else than it asked for: the number counts something else. */
  readonly contradicted?: (attempt: Attempt, sold: TokenAmount) => void
}

type Unsendable = Extract<Outcome, { kind: 'refused' | 'unsent' }>

/** Orders through POST /trade/buy and /trade/sell: the service builds, signs and sends. What it answers is classified once (outcome.ts),
 *  nothing is ever sent again from here, and what happened is read from the chain. */
export class CloudExecutor implements Executor {
  readonly #parts: CloudParts

  constructor(parts: CloudParts) {
    this.#parts = parts
  }

  execute(attempt: Attempt, done: (outcome: Outcome) => void): void {
    const { http, clock, resolve } = this.#parts
    const request = this.#requestOf(attempt)
    if ('kind' in request) clock.after(0, () => done(request))
    else sendOnce(request, http, clock, resolve.begin(attempt, this.#watched(attempt, done)))
  }

  resume(attempt: Attempt, done: (outcome: Outcome) => void): void {
    this.#parts.resolve.resume(attempt, done)
  }

  /** Compares what a sale by number has sold with what it asked for. */
  #watched(attempt: Attempt, done: (outcome: Outcome) => void): (outcome: Outcome) => void {
    const { sellUnit, holding, contradicted } = this.#parts
    const { size, mint } = attempt
    if (size.kind !== 'tokens' || contradicted === undefined) return done
    const amount = sellAmountOf(size, sellUnit(), holding(mint))
    if ('code' in amount || amount.kind !== 'number') return done
    return (outcome) => {
      if (outcome.kind === 'filled' && !isAsAsked(outcome.fill.tokens, size.tokens))
        contradicted(attempt, outcome.fill.tokens)
      done(outcome)
    }
  }

  /** The request, or why there is none. */
  #requestOf(attempt: Attempt): HttpRequest | Unsendable {
    const terms = termsOf(attempt, this.#parts)
    if ('code' in terms) return { kind: 'refused', ...terms, retry: 'never' }
    try {
      const headers = headersOf(this.#parts.apiKey())
      return { method: 'POST', url: urlOf(this.#parts.baseUrl, attempt.side), headers, body: terms.body }
    } catch {
      return { kind: 'unsent', reason: 'the key cannot be read' }
    }
  }
}
