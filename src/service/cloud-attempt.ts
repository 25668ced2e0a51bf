import type { Attempt } from '../core/order.ts'
import type { Cancel, Clock, Http, HttpRequest, HttpResult, Outcome } from '../core/ports.ts'
import { type Verdict, verdictOf } from './outcome.ts'

/** Tells what becomes of a signature: `filled`, provisional and then final; `reverted`; or `unknown` for a transaction that is not this
 *  attempt's or cannot be read. Silent while the chain does not show it. Never calls back from inside the call. */
export type Follow = (signature: string, attempt: Attempt, done: (outcome: Outcome) => void) => Cancel

export interface CloudAttemptParts {
  readonly http: Http
  readonly clock: Clock
  readonly follow: Follow
  /** False where another attempt has this signature already; else it is this one's from now on. */
  readonly claim: (signature: string) => boolean
  /** Nothing more will come. */
  readonly ended: () => void
}

/** When the strategy hears `unknown`; the socket is read on, and a late answer is taken. */
const SOFT_TIMEOUT_MS = 10_000
/** Signatures from the feed that are looked at for one attempt. */
const MOST_HINTS = 8
/** Block times are whole seconds, voted by validators, and our clock is not theirs. */
const CLOCK_ERROR_MS = 10_000

/** One attempt on its way, from the request to the landed transaction. */
export class CloudAttempt {
  readonly attempt: Attempt
  readonly #parts: CloudAttemptParts
  readonly #done: (outcome: Outcome) => void
  /** `unknown` was said: nothing may claim any more that it was never sent. */
  #isDoubted = false
  #isEnded = false
  #signature = ''
  /** Trades of our wallet that the feed showed while the answer was out, and those being looked up. */
  readonly #hints = new Map<string, Cancel | undefined>()

  constructor(attempt: Attempt, parts: CloudAttemptParts, done: (outcome: Outcome) => void) {
    this.attempt = attempt
    this.#parts = parts
    this.#done = done
  }

  send(request: HttpRequest): void {
    const cancel = this.#parts.clock.after(SOFT_TIMEOUT_MS, () => {
      this.#doubt({ kind: 'unknown', reason: `no answer within ${SOFT_TIMEOUT_MS / 1_000} s` })
    })
    void this.#parts.http(request).then((result) => {
      cancel()
      this.#answered(result)
    })
  }

  /** Goes on with what an earlier process sent. */
  resume(): void {
    const { signature } = this.attempt
    if (signature !== '' && this.#parts.claim(signature)) this.#follow(signature)
    else if (this.attempt.state !== 'armed')
      this.#isDoubted = true // that was said already
    else this.#doubt({ kind: 'unknown', reason: 'an earlier process sent it; its answer is not known' })
  }

  /** It was not even sent. */
  end(outcome: Extract<Outcome, { kind: 'refused' | 'unsent' }>): void {
    this.#say(outcome)
  }

  /** The feed shows a trade of our wallet in this mint: proof, if the chain has it and it is ours; nothing, if not. */
  hint(signature: string): void {
    if (this.#isEnded || this.#signature !== '' || this.#hints.has(signature) || this.#hints.size >= MOST_HINTS) return
    this.#hints.set(signature, undefined)
    if (this.#isDoubted) this.#lookUp(signature)
  }

  #answered(result: HttpResult): void {
    const verdict = verdictOf(result, this.#parts.clock.now())
    if (this.#isEnded || this.#signature !== '') return // a hint was faster
    if (verdict.kind === 'acked') this.#acked(verdict.signature)
    else if (verdict.kind === 'unknown') this.#doubt(verdict)
    // Said to be unknown first, then proved never to have left: it cannot execute any more.
    else if (verdict.kind === 'unsent' && this.#isDoubted) this.#say({ kind: 'absent', code: 'UNSENT' })
    else this.#say(verdict)
  }

  #acked(signature: string): void {
    if (this.#parts.claim(signature)) {
      this.#say({ kind: 'acked', signature })
      this.#follow(signature)
    } else this.#doubt({ kind: 'unknown', reason: 'the service answered with the signature of another order' })
  }

  #doubt(verdict: Extract<Verdict, { kind: 'unknown' }>): void {
    if (this.#isEnded || this.#signature !== '') return
    const { signature = '' } = verdict
    if (signature !== '' && this.#parts.claim(signature)) {
      this.#say(verdict)
      this.#follow(signature)
      return
    }
    const isNews = !this.#isDoubted
    this.#isDoubted = true
    if (isNews) this.#say({ kind: 'unknown', reason: verdict.reason })
    for (const [hint, cancel] of this.#hints) if (cancel === undefined) this.#lookUp(hint)
  }

  #lookUp(signature: string): void {
    const cancel = this.#parts.follow(signature, this.attempt, (outcome) => {
      if (this.#signature === signature) this.#say(outcome)
      else if (outcome.kind === 'filled' && this.#isProof(outcome) && this.#parts.claim(signature)) {
        this.#settleOn(signature)
        this.#say(outcome)
      } else if (outcome.kind !== 'filled' || outcome.final) cancel()
    })
    this.#hints.set(signature, cancel)
  }

  /** An older trade of the same mint and side, or one that somebody else made with this wallet, is no proof. */
  #isProof({ fill }: Extract<Outcome, { kind: 'filled' }>): boolean {
    return this.#signature === '' && !this.#isEnded && fill.time >= this.attempt.armedAt - CLOCK_ERROR_MS
  }

  #follow(signature: string): void {
    this.#settleOn(signature)
    this.#hints.set(
      signature,
      this.#parts.follow(signature, this.attempt, (outcome) => this.#say(outcome)),
    )
  }

  /** From now on it is this transaction or none. */
  #settleOn(signature: string): void {
    this.#signature = signature
    for (const [hint, cancel] of this.#hints) if (hint !== signature) cancel?.()
  }

  #say(outcome: Outcome): void {
    if (this.#isEnded) return
    if (isEnd(outcome)) {
      this.#isEnded = true
      for (const cancel of this.#hints.values()) cancel?.()
      this.#parts.ended()
    }
    this.#done(outcome)
  }
}

function isEnd(outcome: Outcome): boolean {
  if (outcome.kind === 'filled' || outcome.kind === 'reverted') return outcome.final
  return outcome.kind !== 'acked' && outcome.kind !== 'unknown'
}
