import type { HttpRequest, HttpResult } from '../../base/machine.ts'
import { formatSol, lamports, wholeTokens } from '../../base/units.ts'
import type { Output } from '../../engine/messages.ts'
import type { Fill, OrderState } from '../../engine/order.ts'
import { isOpen } from '../../engine/order.ts'
import type { Block } from '../../market/block.ts'
import { Prices } from '../../market/price.ts'
import type { UnitSettings } from '../../market/unit-proof.ts'
import type { Attempt } from '../../orders/attempt.ts'
import type { Journal, JournalRecord } from '../../orders/ports.ts'
import type { Learned, ServiceProof } from '../../orders/service-facts.ts'
import { isAsAsked, type SellUnit } from '../../orders/trade-request.ts'
import type { VenueProbe } from '../../venues/venue.ts'
import type { Probe } from '../trading.ts'

/** State of an order of the probe. Its times are values of `performance.now()`. */
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

/** Observes the decisions for the probe's bot, the bot's orders and fills, the feed, and the answers of the service. */
export class ProbeWatch implements Probe {
  unit: SellUnit = 'unproved'
  signatureField = ''
  readonly orders = new Map<string, ProbeOrder>()
  /** The strategy's answers to the signals, in order. */
  readonly answers: string[] = []
  /** Determines the unit of quoted prices from the feed; a unit in the configuration is not used. */
  readonly quoted = new Prices({ tradePrice: 'auto', tradeAmount: 'auto' })
  /** Number of valid prints of each mint. */
  readonly prints = new Map<string, number>()
  readonly #bot: string
  readonly #venue: Pick<VenueProbe, 'signaturePathOf'>
  readonly #prices: Prices
  #journal: Journal | undefined
  readonly #tokens = new Map<string, number>()

  constructor(bot: string, units: UnitSettings, venue: Pick<VenueProbe, 'signaturePathOf'>) {
    this.#venue = venue
    this.#bot = bot
    this.#prices = new Prices(units)
  }

  sellUnit(): SellUnit {
    return this.unit
  }

  answered({ method }: HttpRequest, result: HttpResult): void {
    if (method === 'POST' && result.kind === 'answered')
      this.signatureField = this.#venue.signaturePathOf(result.body) || this.signatureField
  }

  /** Robust price from the feed, SOL per token; undefined before enough prints. */
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

  /** Writes a fact to the journal and waits until it is durable. */
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

/** Summary of one order of the probe, for the output. */
export interface Step {
  readonly name: string
  readonly order: string
  readonly outcome: string
  /** Text with the amounts of the fills; '' without a fill. */
  readonly done: string
  readonly latencyMs: ServiceProof['latencyMs']
}

/** Facts that the steps of a probe have proved so far. */
export type Shown = Pick<ServiceProof, 'sellNumber' | 'tradeAmount' | 'sales'>

export function stepOf(name: string, id: string, order: ProbeOrder): Step {
  const { armedAt, answeredAt, seenAt, finalAt, fills, state, code } = order
  const since = (at: number | undefined): number | null => {
    return at === undefined || armedAt === undefined ? null : Math.round(at - armedAt)
  }
  const [fill] = fills.values()
  const tokens = fill === undefined ? 0 : wholeTokens(tokensOf(order), fill.decimals)
  const sol = [...fills.values()].reduce((sum, { tradeLamports }) => sum + tradeLamports, 0)
  return {
    name,
    order: id,
    outcome: code === '' ? state : `${state} ${code}`,
    done: fill === undefined ? '' : `${tokens} tokens for ${formatSol(sol)} SOL`,
    latencyMs: {
      answer: since(answeredAt),
      confirmed: fill === undefined ? null : since(seenAt),
      final: since(finalAt),
    },
  }
}

export function proofFrom(
  watch: ProbeWatch,
  fills: readonly Fill[],
  steps: readonly Step[],
  shown: Shown,
): ServiceProof {
  const sum = (of: (fill: Fill) => number): number => fills.reduce((total, fill) => total + of(fill), 0)
  const latency = (of: keyof ServiceProof['latencyMs']): number | null => {
    return median(steps.flatMap(({ latencyMs }) => latencyMs[of] ?? []))
  }
  const { quotedRatio } = watch.quoted.units
  return {
    ...shown,
    quotedPerSol: Number.isFinite(quotedRatio) ? Number(quotedRatio.toPrecision(4)) : null,
    signatureField: watch.signatureField,
    feeLamports: lamports(sum(({ feeLamports }) => feeLamports)),
    rentLamports: lamports(sum(({ rentLamports }) => rentLamports)),
    lossLamports: lamports(sum(({ side, tradeLamports }) => (side === 'buy' ? tradeLamports : -tradeLamports))),
    latencyMs: { answer: latency('answer'), confirmed: latency('confirmed'), final: latency('final') },
  }
}

/** Sum of the order's fills, base units. */
export function tokensOf({ fills }: ProbeOrder): bigint {
  return [...fills.values()].reduce((sum, { tokens }) => sum + tokens, 0n)
}

/** An executed sale whose request gave the amount as a number of tokens. All amounts are in base units. */
export interface NumberSale {
  /** Unit in which the request wrote the number. */
  readonly written: Exclude<SellUnit, 'unproved'>
  /** Amount that the probe wanted to sell. */
  readonly asked: bigint
  readonly decimals: number
  readonly sold: bigint
  readonly held: bigint
}

/** Returns the unit in which the request's number explains the amount that was sold; null if both units explain it, or
 *  neither does. */
export function sellNumberOf({ written, asked, decimals, sold, held }: NumberSale): ServiceProof['sellNumber'] {
  const scale = 10n ** BigInt(decimals)
  if (sold === held || sold === 0n || scale === 1n) return null // a service may cap a number at the whole holding
  const asTokens = written === 'tokens' ? asked : asked * scale
  const asUnits = written === 'tokens' ? asked / scale : asked
  if (isAsAsked(sold, asTokens)) return 'tokens'
  return isAsAsked(sold, asUnits) ? 'baseUnits' : null
}

/** Whether the sale was this percentage of the holding, within the rounding of two decimals. */
export function isShare(sold: bigint, held: bigint, percent: number): boolean {
  return held > 0n && Math.abs((Number(sold) / Number(held)) * 100 - percent) <= 0.02
}

/** The price of our own buy may differ from the feed's price by this factor. Fees and price impact cause a smaller
 *  difference; a wrong currency or unit causes a larger one. */
const MAX_RATIO = 1.5

/** Whether the price of our own buy agrees with the price in the feed. */
export function agrees(fillPrice: number, feedPrice: number | undefined): boolean {
  if (feedPrice === undefined || !(feedPrice > 0) || !(fillPrice > 0)) return false
  const ratio = fillPrice / feedPrice
  return ratio < MAX_RATIO && ratio > 1 / MAX_RATIO
}

export function median(values: readonly number[]): number | null {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted.length === 0 ? null : Math.round(sorted[sorted.length >> 1] as number)
}
