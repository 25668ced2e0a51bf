import type { ErrorCode } from '../base/errors.ts'
import type { Json } from '../base/json.ts'
import { lamportsToSol, type Millis, type Seq, wholeTokens } from '../base/units.ts'
import type { Position } from '../engine/accounting/position.ts'
import { fillView } from '../engine/bots/views.ts'
import type { Input, LogLine, Message, Output } from '../engine/messages.ts'
import type { Order, OrderState } from '../engine/order.ts'
import type { FillView } from '../engine/strategy.ts'
import type { TradeSide } from '../market/block.ts'
import type { Journal } from '../orders/ports.ts'

/** Journal of a test. It keeps decisions, orders and fills in memory, writes nothing to disk, and reports each commit
 *  as complete immediately. */
export class RunLog implements Journal {
  readonly orders: TestOrder[] = []
  readonly fills: FillView[] = []
  readonly refusals: TestRemark[] = []
  readonly notes: TestRemark[] = []
  readonly logs: TestLine[] = []
  readonly messages: string[] = []
  /** Every decision, one line each. */
  readonly decisions: string[] = []
  readonly positions = new Map<string, Position>()
  /** Positions that are not closed, by mint. */
  readonly open = new Map<string, Position>()
  /** Values of `token.durable`, by mint. */
  readonly durables = new Map<string, Json>()
  state: Json = null

  #position(position: Position): void {
    this.positions.set(position.mint, position)
    if (position.state === 'closed') this.open.delete(position.mint)
    else this.open.set(position.mint, position)
  }

  rows(): void {}

  write(): void {}

  commit(then: () => void): void {
    then()
  }

  input(_seq: Seq, _time: Millis, input: Input): void {
    if (input.kind !== 'report' || input.report.fill === undefined) return
    const fill = fillView(input.report.fill)
    const known = this.fills.findIndex(({ signature }) => signature === fill.signature)
    if (known < 0) this.fills.push(fill)
    else this.fills[known] = fill
  }

  said(line: LogLine | Message, time: Millis): void {
    if (line.kind === 'message') this.messages.push(line.text)
    else this.logs.push({ time, level: line.level, text: line.text, fields: line.fields ?? {} })
  }

  output(_seq: Seq, time: Millis, _index: number, output: Output): void {
    const line = decisionLine(time, output)
    if (line !== undefined) this.decisions.push(line)
    switch (output.kind) {
      case 'order':
        this.orders.push(testOrder(output.order))
        break
      case 'orderState': {
        const { orderId, state, code } = output
        const order = this.orders.find(({ id }) => id === orderId)
        if (order !== undefined) Object.assign(order, { state, code })
        break
      }
      case 'refused':
      case 'note': {
        const { kind, mint, code, reason } = output
        const remarks = kind === 'note' ? this.notes : this.refusals
        remarks.push({ time, mint, code, reason })
        break
      }
      case 'position':
        this.#position({ ...output.position })
        break
      case 'tokenState':
        this.durables.set(output.state.mint, output.state.value)
        break
      case 'bot':
        this.state = output.money.state
        break
      default: // not part of a test's results
    }
  }
}

/** The bot's position in a mint. */
export interface TestPosition {
  /** Address of the token. */
  readonly mint: string
  /** State of the position. */
  readonly state: 'opening' | 'open' | 'closing' | 'closed'
  /** Whole tokens held. */
  readonly tokens: number
  /** Cost of the tokens held, SOL. */
  readonly costSol: number
  /** Average price paid, SOL per token. */
  readonly averagePrice: number
  /** Proceeds of the sales minus the cost of the sold tokens at the average price paid, SOL. */
  readonly realizedSol: number
  /** Time at which the position opened, ms. */
  readonly openedAt: Millis
}

export function testPosition(position: Position): TestPosition {
  const { mint, state, tokens, decimals, averagePrice, costLamports, realizedLamports, openedAt } = position
  const costSol = lamportsToSol(costLamports)
  const realizedSol = lamportsToSol(realizedLamports)
  return { mint, state, tokens: wholeTokens(tokens, decimals), costSol, averagePrice, realizedSol, openedAt }
}

/** Size of an order. Exactly one field is set: a buy is in SOL; a sale is in whole tokens, percent of the position, or
 *  all. */
interface Amount {
  readonly sol?: number
  readonly tokens?: number
  readonly percent?: number
  readonly all?: true
}

/** An approved order: a request of the strategy, or an exit. */
export interface TestOrder extends Amount {
  /** Id of the order, as `bot.buy` returned it. */
  readonly id: string
  /** Time of the decision, ms since the Unix epoch. */
  readonly time: Millis
  /** Mint of the token, base58. */
  readonly mint: string
  /** Whether the order buys or sells. */
  readonly side: TradeSide
  /** Reason of the order. */
  readonly reason: string
  /** Tag of the order; '' if it has none. */
  readonly tag: string
  /** Current state of the order. */
  state: OrderState
  /** Error code that explains why the order ended without a fill. */
  code: ErrorCode | ''
}

/** A line of `bot.log`. */
export interface TestLine {
  /** Time of the line, ms since the Unix epoch. */
  readonly time: Millis
  /** Level of the line. */
  readonly level: 'debug' | 'info' | 'warn'
  /** Text of the line. */
  readonly text: string
  /** Values that the line shows after its text. */
  readonly fields: Readonly<Record<string, string | number | boolean | null>>
}

/** A refused request, or a decision that the strategy recorded with `bot.note`. */
export interface TestRemark {
  /** Time of the refusal or of the call of `bot.note`, ms since the Unix epoch. */
  readonly time: Millis
  /** Mint of the token, base58. */
  readonly mint: string
  /** Error code of the refusal; '' for a call of `bot.note`. */
  readonly code: ErrorCode | ''
  /** Reason of the refusal, or the text that was passed to `bot.note`. */
  readonly reason: string
}

function testOrder({ id, time, mint, side, size, reason, tag = '' }: Order): TestOrder {
  return { id, time, mint, side, ...amountOf(size), reason, tag, state: 'accepted', code: '' }
}

/** Returns a decision as a line of a golden file: time, kind, amount, reason. Returns undefined for an output that is
 *  not a decision. */
function decisionLine(time: Millis, output: Output): string | undefined {
  const decision = decided(output)
  return decision && JSON.stringify({ time: new Date(time).toISOString(), ...decision })
}

/** A line of a golden file in words. A line that Sluice did not write is returned unchanged. */
export function decisionText(line: string): string {
  const read = parsedLine(line)
  if (read === undefined) return line
  const { time, what, mint, sol, tokens, percent, all, order, code, reason, tag, ...unknown } = read
  if (Object.keys(unknown).length > 0) return line
  const words = [
    ...[time, what, sol !== undefined && `${sol} SOL`, tokens !== undefined && `${tokens} tokens`],
    ...[percent !== undefined && `${percent} %`, all === true && 'all', mint && `of ${mint}`],
    ...[order && `order ${order}`, code, tag && `(${tag})`],
  ]
  return `${words.filter(Boolean).join(' ')}${reason ? `: ${reason}` : ''}`
}

function parsedLine(line: string): Readonly<Record<string, Json>> | undefined {
  try {
    const read: unknown = JSON.parse(line)
    return typeof read === 'object' && read !== null ? (read as Record<string, Json>) : undefined
  } catch {
    return undefined
  }
}

function decided(output: Output): object | undefined {
  switch (output.kind) {
    case 'order': {
      const { side, mint, size, reason, tag } = output.order
      return { what: side, mint, ...amountOf(size), reason, ...(tag !== undefined && { tag }) }
    }
    case 'cancel':
      return { what: 'cancel', order: output.orderId, code: output.code }
    case 'refused':
    case 'note': {
      const { kind, mint, code, reason } = output
      return { what: kind, mint, ...(code !== '' && { code }), reason }
    }
    case 'alarm':
      return { what: 'alarm', code: output.code, reason: output.reason }
    default:
      return undefined
  }
}

function amountOf(size: Order['size']): Amount {
  switch (size.kind) {
    case 'sol':
      return { sol: lamportsToSol(size.lamports) }
    case 'tokens':
      return { tokens: wholeTokens(size.tokens, size.decimals) }
    case 'percent':
      return { percent: size.percent }
    case 'all':
      return { all: true }
  }
}
