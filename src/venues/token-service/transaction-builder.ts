import type { HttpResult } from '../../base/machine.ts'
import type { Attempt } from '../../orders/attempt.ts'
import type { AskedTrade, Built } from '../../orders/trade-request.ts'
import type { Builder, BuilderParts } from '../venue.ts'
import { headersOf, urlOf } from './endpoints.ts'
import { type Verdict, verdictOf } from './outcome.ts'
import { termsOf } from './trade-terms.ts'
import { readBuiltReply } from './wire/built-reply.ts'

/** Maximum wait for a built transaction. A transaction that arrives later would be based on an old price, so a new one
 *  is requested instead. */
const PATIENCE_MS = 5_000

/** Requests unsigned transactions through POST /transaction/buy and /transaction/sell. */
export class TransactionBuilder implements Builder {
  readonly #parts: BuilderParts

  constructor(parts: BuilderParts) {
    this.#parts = parts
  }

  /** Requests one transaction, with a single request. Never throws. */
  async build(attempt: Attempt): Promise<Built> {
    const { http, baseUrl, apiKey } = this.#parts
    const terms = termsOf(attempt, this.#parts)
    if ('code' in terms) return { kind: 'refused', ...terms, retry: 'never' }
    const { asked, body } = terms
    let headers: Record<string, string>
    try {
      headers = headersOf(apiKey())
    } catch {
      return { kind: 'unsent', reason: 'the API key cannot be read' }
    }
    const url = urlOf(baseUrl, attempt.side === 'buy' ? 'buildBuy' : 'buildSell')
    return this.#take(await this.#patiently(http({ method: 'POST', url, headers, body })), asked)
  }

  #take(result: HttpResult, asked: AskedTrade): Built {
    const { clock, check } = this.#parts
    const isAnswer = result.kind === 'answered' && result.status >= 200 && result.status < 300
    const reply = isAnswer ? readBuiltReply(result.bytes ?? Buffer.from(result.body), check) : undefined
    if (reply?.ok) return { kind: 'built', asked, ...reply }
    const verdict = verdictOf(result, clock.now())
    if (verdict.kind === 'refused' || verdict.kind === 'unsent') return verdict
    if (reply === undefined)
      return { kind: 'refused', code: 'BUILDER_SILENT', reason: reasonOf(verdict), retry: 'wait' }
    const { code, reason } = reply
    return { kind: 'refused', code, reason, retry: code === 'TX_VERSION' ? 'never' : 'wait' }
  }

  #patiently(answer: Promise<HttpResult>): Promise<HttpResult> {
    return new Promise((resolve) => {
      const late = { kind: 'lost', reason: `no answer within ${PATIENCE_MS / 1_000} s` } as const
      const cancel = this.#parts.clock.after(PATIENCE_MS, () => resolve(late))
      void answer.then((result) => {
        cancel()
        resolve(result)
      })
    })
  }
}

function reasonOf(verdict: Verdict): string {
  return 'reason' in verdict ? verdict.reason : 'the answer is not a transaction'
}
