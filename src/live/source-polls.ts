import type { Cancel, Clock, Http, HttpResult } from '../base/machine.ts'
import { counted } from '../base/text.ts'
import type { Config } from '../config/config.ts'
import { checkSource } from '../config/source-check.ts'
import type { Input } from '../engine/messages.ts'
import type { Log } from '../runtime/log.ts'
import { openHttp } from '../venues/http.ts'
import type { Alert } from './alerts.ts'
import { type LiveSource, sourcesOf } from './source-addresses.ts'

/** Longest answer, bytes. */
const LONGEST_ANSWER = 262_144
const TIMEOUT_MS = 10_000
/** Number of consecutive failures after which the operator gets an alert. */
const FAILURES_BEFORE_ALERT = 5

export interface PollParts {
  readonly config: Pick<Config, 'bots'>
  readonly clock: Clock
  readonly log: Log
  /** Removes secrets from an answer, because an answer may repeat its request. */
  readonly redact: (text: string) => string
  readonly post: (input: Input) => void
  readonly alert: (alert: Alert) => void
}

/** Reads the sources of the bots at their intervals, and posts each valid answer as an input. */
export class SourcePolls {
  readonly #http = openHttp({ timeoutMs: TIMEOUT_MS, longestBody: LONGEST_ANSWER })
  readonly #polls: readonly SourcePoll[]

  constructor(parts: PollParts) {
    this.#polls = sourcesOf(parts.config).map((source) => new SourcePoll(source, this.#http.http, parts))
  }

  /** Problems of sources whose last answer was not valid. */
  get broken(): readonly string[] {
    return this.#polls.flatMap(({ problem }) => problem ?? [])
  }

  start(): Cancel {
    const stops = this.#polls.map((poll) => poll.start())
    return () => {
      for (const stop of stops) stop()
    }
  }

  close(): Promise<void> {
    return this.#http.close()
  }
}

/** Reads one source at a fixed interval. An answer that is not valid is dropped. Of several consecutive failures, only
 *  the first one is logged. The first valid answer after them is logged too. */
export class SourcePoll {
  readonly #source: LiveSource
  readonly #http: Http
  readonly #parts: Omit<PollParts, 'config'>
  /** JSON of the last valid data. */
  #last: string | undefined
  #failures = 0
  #problem = ''
  #isBusy = false
  #isStopped = false

  constructor(source: LiveSource, http: Http, parts: Omit<PollParts, 'config'>) {
    this.#source = source
    this.#http = http
    this.#parts = parts
  }

  get problem(): string | undefined {
    const { name, bot } = this.#source
    return this.#failures === 0
      ? undefined
      : `source ${name} of ${bot}: ${this.#problem} (${this.#failures} failures in a row)`
  }

  start(): Cancel {
    const { clock } = this.#parts
    const { everyMs } = this.#source
    const startedAt = clock.now()
    let cancel: Cancel = () => {}
    const next = (): void => {
      const passed = clock.now() - startedAt
      cancel = clock.after(everyMs - (passed % everyMs), next)
      if (!this.#isBusy) void this.#ask()
    }
    next()
    return () => {
      this.#isStopped = true
      cancel()
    }
  }

  async #ask(): Promise<void> {
    this.#isBusy = true
    const result = await this.#read()
    this.#isBusy = false
    if (this.#isStopped) return
    const answer = answerOf(result, this.#parts.redact)
    const checked =
      'problem' in answer ? { ok: false as const, ...answer } : checkSource(this.#source.schema, answer.value)
    if (!checked.ok) {
      this.#fail(checked.problem)
      return
    }
    const { bot, name } = this.#source
    if (this.#failures > 0)
      this.#parts.log.info(
        { bot, source: name },
        `the source answers again, after ${counted(this.#failures, 'failure')}`,
      )
    this.#failures = 0
    const json = JSON.stringify(checked.data)
    this.#parts.post({ kind: 'source', bot, name, ...(json !== this.#last && { data: checked.data }) })
    this.#last = json
  }

  async #read(): Promise<HttpResult> {
    try {
      const headers = { accept: 'application/json', 'user-agent': 'sluice' }
      return await this.#http({ method: 'GET', url: this.#source.url.read(), headers })
    } catch (error) {
      return { kind: 'unsent', reason: (error as Error).message }
    }
  }

  #fail(problem: string): void {
    const { log, alert, clock } = this.#parts
    const { bot, name } = this.#source
    this.#problem = problem
    this.#failures++
    const text = `the source ${name} returned no valid answer: ${problem}; the strategy keeps its last data`
    if (this.#failures === 1) log.warn({ bot, source: name }, text)
    if (this.#failures !== FAILURES_BEFORE_ALERT) return
    alert({ kind: 'source-broken', bot, text: `${text} (${this.#failures} times in a row)`, time: clock.now() })
  }
}

/** The JSON of an answer, or its problem. */
function answerOf(result: HttpResult, redact: (text: string) => string): { value: unknown } | { problem: string } {
  if (result.kind !== 'answered') return { problem: result.reason }
  const { status, body } = result
  if (status >= 300 && status < 400)
    return {
      problem: `HTTP ${status}: the address redirects, and Sluice does not follow redirects; write the final address`,
    }
  if (status < 200 || status >= 300) return { problem: `HTTP ${status}` }
  try {
    return { value: JSON.parse(redact(body)) }
  } catch {
    return { problem: 'the answer is not JSON' }
  }
}
