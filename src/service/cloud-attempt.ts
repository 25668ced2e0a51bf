import type { Attempt } from '../core/order.ts'
import type { Clock, Http, HttpRequest, HttpResult, Outcome } from '../core/ports.ts'
import { verdictOf } from './outcome.ts'

/** Where all that is learnt of an attempt goes; from there comes what became of it. */
export interface Resolution {
  /** The service gave its signature. */
  acked(signature: string): void
  /** The answer is late, or says nothing. */
  doubt(reason: string, signature?: string): void
  /** No answer can come any more, and what was sent may still be carried out. */
  hungUp(): void
  /** The service said no. */
  refused(outcome: Extract<Outcome, { kind: 'refused' }>): void
  /** Not a byte was sent. */
  unsent(outcome: Extract<Outcome, { kind: 'unsent' }>): void
}

/** Finds out what becomes of attempts. Never calls back from inside a call of these. */
export interface Resolve {
  begin(attempt: Attempt, done: (outcome: Outcome) => void): Resolution
  /** Of an earlier process. */
  resume(attempt: Attempt, done: (outcome: Outcome) => void): void
}

/** When the strategy hears `unknown`; the socket is read on, and a late answer is taken. */
const SOFT_TIMEOUT_MS = 10_000

/** Sends the request of an attempt, once, and says what the answer proves. */
export function sendOnce(request: HttpRequest, http: Http, clock: Clock, resolution: Resolution): void {
  const cancel = clock.after(SOFT_TIMEOUT_MS, () => {
    resolution.doubt(`no answer within ${SOFT_TIMEOUT_MS / 1_000} s`)
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
