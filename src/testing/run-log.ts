import type { Json } from '../core/json.ts'
import type { Input, Output } from '../core/messages.ts'
import type { Journal } from '../core/ports.ts'
import type { Position } from '../core/position.ts'
import type { FillView } from '../core/strategy.ts'
import type { Millis, Seq } from '../core/units.ts'
import { fillView } from '../core/views.ts'
import { decisionLine, type TestOrder, type TestRemark, testOrder } from './decision.ts'

/** The journal of a test: what was decided and what came of it, to look at. Nothing is durable, and nobody waits for a commit. */
export class RunLog implements Journal {
  readonly orders: TestOrder[] = []
  readonly fills: FillView[] = []
  readonly refusals: TestRemark[] = []
  readonly notes: TestRemark[] = []
  /** Every decision as a line. */
  readonly decisions: string[] = []
  readonly positions = new Map<string, Position>()
  state: Json = null

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
        this.positions.set(output.position.mint, { ...output.position })
        break
      case 'bot':
        this.state = output.money.state
        break
      default: // nothing that a test looks at
    }
  }
}
