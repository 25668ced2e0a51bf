import { lamportsToSol } from '../../base/units.ts'
import type { Output } from '../../engine/messages.ts'
import { isOpen } from '../../engine/order.ts'
import type { ViewModel } from '../../runtime/view/view-model.ts'
import type { TelegramEvent } from './telegram.ts'

type OrderOutput = Extract<Output, { kind: 'order' }>['order']

/** Raises an event for each order that has executed. */
export function raiseTrades(model: ViewModel, raise: (event: TelegramEvent) => void): void {
  const orders = new Map<string, OrderOutput>()
  model.onOutput((_time, output) => {
    if (output.kind === 'order') orders.set(output.order.id, output.order)
    if (output.kind !== 'orderState' || isOpen(output.state)) return
    const order = orders.get(output.orderId)
    orders.delete(output.orderId)
    if (order === undefined || output.state !== 'filled') return
    const { id, bot, side, mint, reason } = order
    const fill = [...model.fills.values()].findLast(({ orderId }) => orderId === id)
    const amount = fill === undefined ? '' : ` for ${lamportsToSol(fill.tradeLamports).toFixed(4)} SOL`
    raise({ kind: 'trade', bot, text: `${side === 'buy' ? 'bought' : 'sold'} ${mint}${amount} (${id}): ${reason}` })
  })
}
