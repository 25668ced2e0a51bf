import type { Http } from '../base/machine.ts'
import { counted } from '../base/text.ts'
import type { Millis } from '../base/units.ts'
import { durationOf } from '../runtime/time-text.ts'

/** Whether the process at one address answered its last health check. */
export interface HealthState {
  readonly url: string
  readonly isUp: boolean
  /** Reason why the last check got no answer; '' if it got one. */
  readonly reason: string
}

export interface HealthWatchParts {
  /** Address that answers with a 2xx status while the process runs. */
  readonly url: string
  readonly http: Http
  /** Number of consecutive checks without an answer after which the process counts as down. */
  readonly misses: number
  readonly now: () => Millis
  /** Reports to a person that the process is down, or that it answers again. */
  readonly tell: (text: string) => void
}

/** Watches one running process from another machine. Reports once when the process goes down, and once when it answers
 *  again. */
export class HealthWatch {
  readonly #parts: HealthWatchParts
  #missed = 0
  /** Time of the first check without an answer. */
  #since: Millis = 0
  #reason = ''

  constructor(parts: HealthWatchParts) {
    this.#parts = parts
  }

  get state(): HealthState {
    const { url, misses } = this.#parts
    return { url, isUp: this.#missed < misses, reason: this.#reason }
  }

  async look(): Promise<void> {
    const { url, http, misses, now, tell } = this.#parts
    const asked = now()
    const answer = await http({ method: 'GET', url, headers: { accept: 'application/json' } })
    this.#reason = answer.kind === 'answered' ? problemOf(answer.status) : answer.reason
    const { host } = new URL(url)
    if (this.#reason === '') {
      if (this.#missed >= misses) tell(`${host} answers again, after ${durationOf(now() - this.#since)}`)
      this.#missed = 0
      return
    }
    if (this.#missed++ === 0) this.#since = asked
    if (this.#missed === misses)
      tell(
        `${host} is down: ${this.#reason}, ${counted(misses, 'time')} in a row. Its positions may be without exits: log in to that machine and run \`sluice status\``,
      )
  }
}

function problemOf(status: number): string {
  if (status >= 200 && status < 300) return ''
  return status === 503 ? 'the process answers, but its bots do not run (503)' : `it answers with ${status}`
}
