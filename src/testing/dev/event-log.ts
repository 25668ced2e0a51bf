import { formatSol, type Millis, type Seq, wholeTokens } from '../../base/units.ts'
import { alarmText } from '../../engine/bots/thrown-value.ts'
import type { Input, Output } from '../../engine/messages.ts'
import type { Order } from '../../engine/order.ts'
import type { Journal } from '../../orders/ports.ts'
import type { VersionEvent } from './version-report.ts'

/** Number of events that are kept for display. The results count all events. */
const MOST_KEPT = 20_000

/** Journal that keeps the decisions and fills of a run, to show them to the user. */
export class EventLog implements Journal {
  readonly events: VersionEvent[] = []
  readonly #provisional = new Set<string>()

  rows(): void {}

  write(): void {}

  commit(then: () => void): void {
    then()
  }

  input(_seq: Seq, time: Millis, input: Input): void {
    if (input.kind !== 'report' || input.report.fill === undefined) return
    const { bot, mint, side, signature, tradeLamports } = input.report.fill
    if (this.#provisional.delete(signature)) return
    this.#provisional.add(signature)
    const text = side === 'buy' ? 'bought' : 'sold'
    this.#add({ time, bot, kind: 'filled', mint, amount: `${formatSol(Math.abs(tradeLamports))} SOL`, text })
  }

  output(_seq: Seq, time: Millis, _index: number, output: Output): void {
    switch (output.kind) {
      case 'order': {
        const { bot, side, mint, size, reason } = output.order
        this.#add({ time, bot, kind: side, mint, amount: amountOf(size), text: reason })
        break
      }
      case 'refused': {
        const { bot, mint, code, reason } = output
        this.#add({ time, bot, kind: 'refused', mint, amount: '', text: `${code}: ${reason}` })
        break
      }
      case 'note': {
        const { bot, mint, reason } = output
        this.#add({ time, bot, kind: 'note', mint, amount: '', text: reason })
        break
      }
      case 'cancel':
        this.#add({ time, bot: '', kind: 'cancel', mint: '', amount: '', text: `${output.orderId}: ${output.code}` })
        break
      case 'alarm':
        this.#add({ time, bot: output.bot, kind: 'alarm', mint: '', amount: '', text: alarmText(output) })
        break
      default: // not shown
    }
  }

  #add(event: VersionEvent): void {
    if (this.events.length < MOST_KEPT) this.events.push(event)
  }
}

function amountOf(size: Order['size']): string {
  switch (size.kind) {
    case 'sol':
      return `${formatSol(size.lamports)} SOL`
    case 'tokens':
      return `${wholeTokens(size.tokens, size.decimals)} tokens`
    case 'percent':
      return `${size.percent} %`
    case 'all':
      return 'all'
  }
}
