import type { ErrorCode } from '../core/errors.ts'
import type { Output } from '../core/messages.ts'
import type { Order, OrderState, TradeSide } from '../core/order.ts'
import { lamportsToSol, type Millis, wholeTokens } from '../core/units.ts'

/** How much an order asks for; one of these is set. A buy names SOL, a sale whole tokens, percent of what is held, or all. */
interface Amount {
  readonly sol?: number
  readonly tokens?: number
  readonly percent?: number
  readonly all?: true
}

/** An order that was let pass: of the strategy, or of an exit. */
export interface TestOrder extends Amount {
  readonly id: string
  readonly time: Millis
  readonly mint: string
  readonly side: TradeSide
  readonly reason: string
  /** By now. */
  state: OrderState
  /** Why it ended, where it was not filled. */
  code: ErrorCode | ''
}

/** A request that became no order, or a note of why nothing was asked for. */
export interface TestRemark {
  readonly time: Millis
  readonly mint: string
  /** '' of a note. */
  readonly code: ErrorCode | ''
  readonly reason: string
}

export function testOrder({ id, time, mint, side, size, reason }: Order): TestOrder {
  return { id, time, mint, side, ...amountOf(size), reason, state: 'accepted', code: '' }
}

/** What was decided as a line of a golden file: when, what, how much and why; undefined of an output that decides nothing. */
export function decisionLine(time: Millis, output: Output): string | undefined {
  const said = decided(output)
  return said && JSON.stringify({ time: new Date(time).toISOString(), ...said })
}

function decided(output: Output): object | undefined {
  switch (output.kind) {
    case 'order': {
      const { side, mint, size, reason } = output.order
      return { what: side, mint, ...amountOf(size), reason }
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
