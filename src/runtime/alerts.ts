import type { Clock } from '../core/ports.ts'
import { printable } from '../core/printable.ts'
import type { Millis } from '../core/units.ts'

/** What a person is told of at once. */
export type AlertKind =
  | 'unknown'
  | 'held'
  | 'foreign'
  | 'late-fill'
  | 'reversed'
  | 'mint-refused'
  | 'halted'
  | 'disk'
  | 'key-refused'
  | 'plan-unknown'
  | 'loss-limit'
  | 'unsellable'
  | 'pool-unread'
  | 'list-broken'
  | 'strategy-threw'
  | 'strategy-asks'
  | 'unit-contradicted'
  | 'ledger'

export interface Alert {
  readonly kind: AlertKind
  /** '' where it concerns all. */
  readonly bot: string
  readonly text: string
  readonly time: Millis
}

export type AlertShape = 'generic' | 'slack' | 'discord'

export interface AlertsOptions {
  readonly shape: AlertShape
  readonly clock: Clock
  /** Posts one body; false when it was not accepted. Never throws. */
  readonly post: (body: string) => Promise<boolean>
  /** For the log: alerts that could not be delivered. */
  readonly warn: (text: string) => void
}

/** What comes together is told together. */
const GATHER_MS = 2_000
const MOST_WAITING = 100
const TRIES = 4
/** Discord takes 2,000 characters, Slack about 4,000. */
const LONGEST_TEXT = 1_800

/** A webhook for what cannot wait. Batched, bounded, never in the way: what does not fit is counted, what cannot be delivered is logged. */
export class Alerts {
  readonly #options: AlertsOptions
  #waiting: Alert[] = []
  #dropped = 0
  #isBusy = false

  constructor(options: AlertsOptions) {
    this.#options = options
  }

  raise(alert: Alert): void {
    if (this.#waiting.length === MOST_WAITING) {
      this.#dropped++
      return
    }
    this.#waiting.push(alert)
    if (this.#isBusy) return
    this.#isBusy = true
    this.#options.clock.after(GATHER_MS, () => this.#deliver(TRIES))
  }

  #deliver(tries: number): void {
    const { shape, clock, post, warn } = this.#options
    const alerts = [...this.#waiting]
    const dropped = this.#dropped
    void post(bodyOf(shape, alerts, dropped)).then((accepted) => {
      if (accepted || tries === 1) {
        if (!accepted) warn(`${alerts.length} alerts could not be delivered`)
        this.#waiting = this.#waiting.slice(alerts.length)
        this.#dropped -= dropped
      }
      if (this.#waiting.length === 0) this.#isBusy = false
      else if (accepted || tries === 1) clock.after(GATHER_MS, () => this.#deliver(TRIES))
      else clock.after(GATHER_MS * 2 ** (TRIES - tries), () => this.#deliver(tries - 1))
    })
  }
}

/** The body of one message. Everything a stranger may have written is escaped for the place where it is shown. */
export function bodyOf(shape: AlertShape, alerts: readonly Alert[], dropped: number): string {
  if (shape === 'generic') return JSON.stringify({ source: 'sluice', alerts, dropped })
  const lines = alerts.map(({ kind, bot, text }) => `${kind}${bot === '' ? '' : ` (${bot})`}: ${text}`)
  if (dropped > 0) lines.push(`and ${dropped} more`)
  const text = lines
    .map((line) => plain(printable(line)))
    .join('\n')
    .slice(0, LONGEST_TEXT)
  return JSON.stringify(
    shape === 'slack' ? { text, mrkdwn: false } : { content: text, allowed_mentions: { parse: [] } },
  )
}

/** No mention, link or markup survives: chat programs read more into a text than its writer may say. */
function plain(line: string): string {
  return line
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/[*_~`|@#[\]]/g, (sign) => `${sign}\u200b`)
}
