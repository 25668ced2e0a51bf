import type { Clock, Http, Machine } from '../base/machine.ts'
import { printable } from '../base/text.ts'
import type { Millis } from '../base/units.ts'
import type { AlertKind } from '../config/alert-kinds.ts'
import { alarmText } from '../engine/bots/thrown-value.ts'
import { MINT_REFUSALS } from '../engine/limits/token-checks.ts'
import type { Output } from '../engine/messages.ts'
import { isOpen } from '../engine/order.ts'
import type { ViewModel } from '../runtime/view/view-model.ts'
import type { LiveChain } from './live-chain.ts'
import type { RecoveredJournal } from './recovered-journal.ts'

export interface Alert {
  readonly kind: AlertKind
  /** Name of the bot; '' for an event that concerns every bot. */
  readonly bot: string
  readonly text: string
  readonly time: Millis
}

export type AlertShape = 'generic' | 'slack' | 'discord'

export interface AlertsOptions {
  readonly shape: AlertShape
  readonly clock: Clock
  /** Sends one message to the webhook. Resolves to false if the webhook did not accept it. Never throws. */
  readonly post: (body: string) => Promise<boolean>
  /** Logs the number of alerts that could not be delivered. */
  readonly warn: (text: string) => void
}

/** Time that an alert waits, ms, so that alerts that follow within this time are sent in the same message. */
const GATHER_MS = 2_000
const MOST_WAITING = 100
const TRIES = 4
/** Longest text of one message, characters. Discord accepts 2,000, Slack about 4,000. */
const LONGEST_TEXT = 1_800

/** Sends urgent events to a webhook without delaying trading. Alerts are sent together in one message, and at most 100
 *  may wait. Further alerts are only counted; alerts that cannot be delivered are logged. */
export class Alerts {
  readonly #options: AlertsOptions
  #waiting: Alert[] = []
  #dropped = 0
  #isBusy = false
  /** Number of alerts that the webhook did not accept. */
  lost = 0

  constructor(options: AlertsOptions) {
    this.#options = options
  }

  raise(alert: Alert): void {
    if (this.#waiting.length === MOST_WAITING) {
      this.#dropped++
      this.lost++
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
        if (!accepted) {
          this.lost += alerts.length
          warn(`${alerts.length} alerts could not be delivered`)
        }
        this.#waiting = this.#waiting.slice(alerts.length)
        this.#dropped -= dropped
      }
      if (this.#waiting.length === 0) this.#isBusy = false
      else if (accepted || tries === 1) clock.after(GATHER_MS, () => this.#deliver(TRIES))
      else clock.after(GATHER_MS * 2 ** (TRIES - tries), () => this.#deliver(tries - 1))
    })
  }
}

/** Returns a function that posts a body to a webhook. Any 2xx status counts as accepted. */
export function webhook(http: Http, url: string): (body: string) => Promise<boolean> {
  return async (body) => {
    const result = await http({ method: 'POST', url, headers: { 'content-type': 'application/json' }, body })
    return result.kind === 'answered' && result.status >= 200 && result.status < 300
  }
}

/** Returns the body of one message to the webhook. Text from third parties is escaped for the chat program behind the
 *  webhook. */
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

/** Removes mentions, links and markup, which chat programs would act on. */
function plain(line: string): string {
  return line
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/[*_~`|@#[\]]/g, (sign) => `${sign}\u200b`)
}

/** Kinds of alerts by the code of the alarm. */
const KINDS: Readonly<Record<string, AlertKind>> = {
  ...Object.fromEntries(MINT_REFUSALS.map((code) => [code, 'mint-refused'] as const)),
  FOREIGN_TX: 'foreign',
  QUARANTINED: 'foreign',
  HELD: 'held',
  REVERSED: 'reversed',
  STRATEGY_THREW: 'strategy-threw',
  STRATEGY_STOPPED: 'strategy-threw',
  STRATEGY_STORM: 'strategy-asks',
  TIMER_TOO_SHORT: 'strategy-asks',
  TIMERS_FULL: 'strategy-asks',
  WATCHES_FULL: 'strategy-asks',
  UNIT_CONTRADICTED: 'unit-contradicted',
  LATE_FILL: 'late-fill',
  SERVICE_DUPLICATE: 'late-fill',
  LOSING_STREAK: 'loss-limit',
  UNSELLABLE: 'unsellable',
  POOL_SILENT: 'pool-unread',
  POOL_BEHIND: 'pool-unread',
  POOL_UNREADABLE: 'pool-unread',
}

/** Sends an alert for each urgent decision, and for each difference between a ledger and its wallet. */
export function raiseAlarms(
  {
    model,
    past,
    machine: { clock },
    chain,
  }: {
    model: ViewModel
    past: Pick<RecoveredJournal, 'onRemainder'>
    machine: Pick<Machine, 'clock'>
    chain?: Pick<LiveChain, 'onUndecided'> | undefined
  },
  raise: (alert: Alert) => void,
): void {
  const alarms = new Alarms(raise)
  model.onOutput((time, output) => alarms.take(time, output))
  if (chain !== undefined) chain.onUndecided = (text) => raise({ kind: 'unknown', bot: '', text, time: clock.now() })
  past.onRemainder((text) => raise({ kind: 'ledger', bot: '', text, time: clock.now() }))
}

/** Selects the events that need an alert, and reports each once. For example, an order whose outcome is in doubt is
 *  reported only once, even if the order is examined again later. */
class Alarms {
  readonly #raise: (alert: Alert) => void
  /** The alert that was last sent about an order whose outcome is in doubt, or about a held order, by order id. */
  readonly #raised = new Map<string, AlertKind>()
  readonly #bots = new Map<string, string>()
  readonly #halted = new Set<string>()
  readonly #atLossLimit = new Map<string, number>()

  constructor(raise: (alert: Alert) => void) {
    this.#raise = raise
  }

  take(time: Millis, output: Output): void {
    switch (output.kind) {
      case 'order':
        this.#bots.set(output.order.id, output.order.bot)
        break
      case 'orderState':
        this.#order(time, output)
        break
      case 'alarm':
        this.#raise({
          kind: KINDS[output.code] ?? 'foreign',
          bot: output.bot,
          text: `${output.code}: ${alarmText(output)}`,
          time,
        })
        break
      case 'message':
        this.#raise({ kind: 'message', bot: output.bot, text: output.text, time })
        break
      case 'account':
        this.#account(time, output.money.account, output.money.halted)
        break
      case 'refused':
        if (output.code === 'LOSS_LIMIT' || output.code === 'DRAWDOWN_LIMIT')
          this.#lossLimit(time, output.bot, output.reason)
        break
      default: // other records are not urgent
    }
  }

  #order(time: Millis, { orderId, state, code, reason }: Extract<Output, { kind: 'orderState' }>): void {
    const bot = this.#bots.get(orderId) ?? ''
    const kind = state === 'held' ? 'held' : state === 'working' && code === 'ANSWER_LOST' ? 'unknown' : undefined
    if (kind !== undefined && this.#raised.get(orderId) !== kind) {
      this.#raised.set(orderId, kind)
      this.#raise({ kind, bot, text: `order ${orderId}: ${reason}`, time })
    }
    if (isOpen(state)) return
    this.#raised.delete(orderId)
    this.#bots.delete(orderId)
  }

  #account(time: Millis, account: string, halted: boolean): void {
    if (halted === this.#halted.has(account)) return
    if (halted) this.#halted.add(account)
    else this.#halted.delete(account)
    if (halted) this.#raise({ kind: 'halted', bot: '', text: `entries of ${account} are halted`, time })
  }

  /** Reports the loss limit once per bot and UTC day, because the refusal repeats with every buy. */
  #lossLimit(time: Millis, bot: string, reason: string): void {
    const day = Math.floor(time / 86400000)
    if (this.#atLossLimit.get(bot) === day) return
    this.#atLossLimit.set(bot, day)
    this.#raise({ kind: 'loss-limit', bot, text: reason, time })
  }
}
