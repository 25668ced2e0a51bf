import type { Clock, Http, HttpRequest, HttpResult } from '../../base/machine.ts'
import type { Attempt } from '../../orders/attempt.ts'
import type { Executor, Outcome } from '../../orders/ports.ts'
import { isAsAsked } from '../../orders/trade-request.ts'
import type { ExecutorParts, Resolution } from '../venue.ts'
import { headersOf, urlOf } from './endpoints.ts'
import { verdictOf } from './outcome.ts'
import { sellAmountOf, termsOf } from './trade-terms.ts'

type Unsendable = Extract<Outcome, { kind: 'refused' | 'unsent' }>

/** Executes orders through POST /trade/buy and /trade/sell. The service builds, signs and sends the transaction. Each
 *  answer is classified once (outcome.ts), no request is repeated here, and fills are read from the chain. */
export class CloudExecutor implements Executor {
  readonly #parts: ExecutorParts

  constructor(parts: ExecutorParts) {
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

  /** Returns the callback for an attempt. If the request of a sale gives a number of tokens, the callback also compares
   *  the amount sold with the amount ordered. For other attempts, the callback is `done` itself. */
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

  /** Returns the request of an attempt, or the reason why none can be sent. */
  #requestOf(attempt: Attempt): HttpRequest | Unsendable {
    const terms = termsOf(attempt, this.#parts)
    if ('code' in terms) return { kind: 'refused', ...terms, retry: 'never' }
    try {
      const headers = headersOf(this.#parts.apiKey())
      return { method: 'POST', url: urlOf(this.#parts.baseUrl, attempt.side), headers, body: terms.body }
    } catch {
      return { kind: 'unsent', reason: 'the API key cannot be read' }
    }
  }
}

/** Time after which an attempt without an answer is reported as `unknown`. The request stays open, and a late answer
 *  still counts. */
const SOFT_TIMEOUT_MS = 10000

/** Sends the request of an attempt once, and reports to `resolution` what the answer means. */
function sendOnce(request: HttpRequest, http: Http, clock: Clock, resolution: Resolution): void {
  const cancel = clock.after(SOFT_TIMEOUT_MS, () => {
    resolution.doubt(`no answer within ${SOFT_TIMEOUT_MS / 1000} s`)
  })
  void http(request).then((result) => {
    cancel()
    take(result, clock, resolution)
  })
}

function take(result: HttpResult, clock: Clock, resolution: Resolution): void {
  const verdict = verdictOf(result, clock.now())
  switch (verdict.kind) {
    case 'acked':
      resolution.acked(verdict.signature)
      break
    case 'refused':
      resolution.refused(verdict)
      break
    case 'unsent':
      resolution.unsent(verdict)
      break
    case 'unknown':
      resolution.doubt(verdict.reason, verdict.signature)
      resolution.hungUp()
  }
}
