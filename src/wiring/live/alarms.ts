import type { Output } from '../../core/messages.ts'
import { MINT_REFUSALS } from '../../core/mint-check.ts'
import { isOpen } from '../../core/order.ts'
import type { Machine } from '../../core/ports.ts'
import { alarmText } from '../../core/thrown.ts'
import type { Millis } from '../../core/units.ts'
import type { Alert, AlertKind } from '../../runtime/alerts.ts'
import type { LiveChain } from './live-chain.ts'
import type { Past } from './past.ts'
import type { Tally } from './tally.ts'

/** As what the engine's alarms are told. */
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

/** What is decided, and what a ledger does not explain, reaches a person from now on. */
export function raiseAlarms(
  {
    tally,
    past,
    machine: { clock },
    chain,
  }: {
    tally: Tally
    past: Pick<Past, 'onRemainder'>
    machine: Pick<Machine, 'clock'>
    chain?: Pick<LiveChain, 'onUndecided'> | undefined
  },
  raise: (alert: Alert) => void,
): void {
  const alarms = new Alarms(raise)
  tally.listen = (time, output) => alarms.take(time, output)
  if (chain !== undefined) chain.onUndecided = (text) => raise({ kind: 'unknown', bot: '', text, time: clock.now() })
  past.onRemainder((text) => raise({ kind: 'ledger', bot: '', text, time: clock.now() }))
}

/** Which decisions a person has to hear of, each once: an order in doubt is told when it falls into doubt, not at every look. */
class Alarms {
  readonly #raise: (alert: Alert) => void
  /** Orders in doubt or held that were told. */
  readonly #told = new Map<string, AlertKind>()
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
      case 'account':
        this.#account(time, output.money.account, output.money.halted)
        break
      case 'refused':
        if (output.code === 'LOSS_LIMIT' || output.code === 'DRAWDOWN_LIMIT')
          this.#lossLimit(time, output.bot, output.reason)
        break
      default: // nothing that cannot wait
    }
  }

  #order(time: Millis, { orderId, state, code, reason }: Extract<Output, { kind: 'orderState' }>): void {
    const bot = this.#bots.get(orderId) ?? ''
    const kind = state === 'held' ? 'held' : state === 'working' && code === 'ANSWER_LOST' ? 'unknown' : undefined
    if (kind !== undefined && this.#told.get(orderId) !== kind) {
      this.#told.set(orderId, kind)
      this.#raise({ kind, bot, text: `order ${orderId}: ${reason}`, time })
    }
    if (isOpen(state)) return
    this.#told.delete(orderId)
    this.#bots.delete(orderId)
  }

  #account(time: Millis, account: string, halted: boolean): void {
    if (halted === this.#halted.has(account)) return
    if (halted) this.#halted.add(account)
    else this.#halted.delete(account)
    if (halted) this.#raise({ kind: 'halted', bot: '', text: `entries of ${account} are halted`, time })
  }

  /** Once a day and bot: the refusal itself comes again and again. */
  #lossLimit(time: Millis, bot: string, reason: string): void {
    const day = Math.floor(time / 86_400_000)
    if (this.#atLossLimit.get(bot) === day) return
    this.#atLossLimit.set(bot, day)
    this.#raise({ kind: 'loss-limit', bot, text: reason, time })
  }
}
