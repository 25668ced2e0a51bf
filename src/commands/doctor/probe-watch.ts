import type { Block } from '../../core/block.ts'
import type { Learned } from '../../core/learned.ts'
import type { Output, UnitSettings } from '../../core/messages.ts'
import type { Attempt, Fill, OrderState } from '../../core/order.ts'
import { isOpen } from '../../core/order.ts'
import type { HttpRequest, HttpResult, Journal, JournalRecord } from '../../core/ports.ts'
import { Prices } from '../../core/price.ts'
import type { SellUnit } from '../../service/sell-amount.ts'
import { signaturePathOf } from '../../service/wire/answers.ts'
import type { Onlooker } from '../../wiring/live/onlooker.ts'

/** What became of an order of the probe; times are of `performance`. */
export interface ProbeOrder {
  state: OrderState
  code: string
  reason: string
  attempt: Attempt | undefined
  fills: Map<string, Fill>
  armedAt: number | undefined
  answeredAt: number | undefined
  seenAt: number | undefined
  finalAt: number | undefined
}

/** The probe's eyes: everything that is decided for its bot and what becomes of it, and what the service answers. */
export class ProbeWatch implements Onlooker {
  unit: SellUnit = 'unproved'
  signatureField = ''
  readonly orders = new Map<string, ProbeOrder>()
  /** What the strategy said to each signal, in order. */
  readonly answers: string[] = []
  /** For what the feed quotes; the robust price may rest on the configuration. */
  readonly quoted = new Prices({ tradePrice: 'auto', tradeAmount: 'auto' })
  /** Prints of a sensible size, by mint. */
  readonly prints = new Map<string, number>()
  readonly #bot: string
  readonly #prices: Prices
  #journal: Journal | undefined
  readonly #tokens = new Map<string, number>()

  constructor(bot: string, units: UnitSettings) {
    this.#bot = bot
    this.#prices = new Prices(units)
  }

  sellUnit(): SellUnit {
    return this.unit
  }

  answered({ method }: HttpRequest, result: HttpResult): void {
    if (method === 'POST' && result.kind === 'answered')
      this.signatureField = signaturePathOf(result.body) || this.signatureField
  }

  /** The robust price of the feed, SOL a token. */
  priceOf(mint: string): number | undefined {
    const token = this.#tokens.get(mint)
    return token === undefined ? undefined : this.#prices.at(token)
  }

  watch(journal: Journal): Journal {
    this.#journal = journal
    return {
      rows: (block, from, to, firstSeq) => {
        this.#rows(block, from, to)
        journal.rows(block, from, to, firstSeq)
      },
      input: (seq, time, input) => journal.input(seq, time, input),
      output: (seq, time, index, output) => {
        this.#output(output)
        journal.output(seq, time, index, output)
      },
      write: (record) => {
        this.#record(record)
        journal.write(record)
      },
      commit: (then) => journal.commit(then),
    }
  }

  /** Until it is durable. */
  keep(learned: Learned): Promise<void> {
    this.#journal?.write({ kind: 'learned', learned })
    return new Promise((resolve) => this.#journal?.commit(resolve))
  }

  #rows(block: Block, from: number, to: number): void {
    for (let row = from; row < to; row++) {
      const token = block.token[row] as number
      if (!((block.amount[row] as number) > 0) || !this.#prices.fold(block, row, token)) continue
      this.quoted.fold(block, row, token)
      const mint = block.mints[token] as string
      this.#tokens.set(mint, token)
      this.prints.set(mint, (this.prints.get(mint) ?? 0) + 1)
    }
  }

  #output(output: Output): void {
    if (output.kind === 'note' && output.bot === this.#bot) this.answers.push(output.reason)
    else if (output.kind === 'order' && output.order.bot === this.#bot) this.orders.set(output.order.id, newOrder())
    else if (output.kind === 'orderState') {
      const order = this.orders.get(output.orderId)
      if (order === undefined) return
      Object.assign(order, { state: output.state, code: output.code, reason: output.reason })
      if (!isOpen(output.state)) order.seenAt ??= performance.now()
    }
  }

  #record(record: JournalRecord): void {
    if (record.kind === 'attempt') {
      const order = this.orders.get(record.attempt.orderId)
      if (order === undefined) return
      order.attempt = { ...record.attempt }
      if (record.attempt.state === 'armed') order.armedAt ??= performance.now()
      if (record.attempt.signature !== '') order.answeredAt ??= performance.now()
    } else if (record.kind === 'fill') {
      const order = this.orders.get(record.fill.orderId)
      if (order === undefined) return
      order.fills.set(record.fill.signature, record.fill)
      order.seenAt ??= performance.now()
      if (record.fill.final) order.finalAt ??= performance.now()
    } else if (record.kind === 'report' && record.report.reversed !== undefined)
      this.orders.get(record.report.orderId)?.fills.delete(record.report.reversed)
  }
}

function newOrder(): ProbeOrder {
  const times = { armedAt: undefined, answeredAt: undefined, seenAt: undefined, finalAt: undefined }
  return { state: 'accepted', code: '', reason: '', attempt: undefined, fills: new Map(), ...times }
}
