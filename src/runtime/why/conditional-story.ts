import { type ConditionalOrder, isOver } from '../../engine/exits/conditional-order.ts'
import type { Order } from '../../engine/order.ts'
import type { History, RecordedConditional } from '../../journal/reader/history.ts'
import type { JournalReader } from '../../journal/reader/reader.ts'
import type { FoundToken } from '../../journal/tape/tape-search.ts'
import { durationOf, stampOf } from '../time-text.ts'
import { codeText, inOrder, orderText, plain, priceText, type Step } from './format.ts'

/** A conditional order with its history. */
export interface ConditionalStory {
  readonly order: ConditionalOrder
  readonly token: FoundToken
  readonly steps: readonly Step[]
}

/** Collects the history of a conditional order; undefined if the journal has no conditional order with this id. */
export function conditionalStory(reader: JournalReader, id: string): ConditionalStory | undefined {
  return reader.look((history, tape) => {
    const records = history.conditionals({ id })
    const order = records.at(-1)?.order
    if (order === undefined) return undefined
    const became = history.ordersOf(order.mint).filter((other) => isOf(other.order, records))
    const steps = inOrder([
      ...conditionalSteps(records),
      ...refusals(order, history),
      ...became.map((other) => ({ at: other.order.time, what: 'then', text: orderText(other) })),
    ])
    const waits = isOver(order.state) ? [] : [{ at: null, what: 'waits', text: waitsFor(order) }]
    return { order, token: tape.nameOf(order.mint), steps: [...steps, ...waits] }
  })
}

/** Returns a step for each refused buy of a conditional order, with its reason, because the records of the conditional
 *  order contain only the code. Such a reason begins with the id of the conditional order. */
function refusals({ id, bot, mint, time }: ConditionalOrder, history: History): Step[] {
  return history
    .words(mint, time, Number.MAX_SAFE_INTEGER)
    .filter((word) => word.kind === 'refused' && word.bot === bot && word.reason.startsWith(`${id}: `))
    .map(({ time, kind, code, reason }) => ({ at: time, what: kind, text: `${code}: ${reason}` }))
}

/** Step that shows the placement of the conditional order that created `order`; no step if there is none. */
export function conditionalBehind(order: Order, history: History): Step[] {
  // A conditional sale becomes an exit of the position. The reason of this exit begins with the id of the conditional
  // order.
  const named = order.side === 'sell' ? /^(c\d{1,15}) at /.exec(order.reason)?.[1] : undefined
  const records =
    named === undefined ? history.conditionals({ orderId: order.id }) : history.conditionals({ id: named })
  const last = records.find((one) => one.order.bot === order.bot && one.order.mint === order.mint)?.order
  if (last === undefined) return []
  return [{ at: order.time, what: last.id, text: `placed ${stampOf(last.time)}: ${conditionText(last)}` }]
}

/** One step for each change of a token's conditional orders: placed, waiting again, ended. */
export function conditionalSteps(records: readonly RecordedConditional[]): Step[] {
  const before = new Map<string, ConditionalOrder>()
  return records.flatMap(({ time, order }) => {
    const { id, state, code, orderId } = order
    const known = before.get(id)
    before.set(id, order)
    const why = code === '' ? '' : `: ${codeText(code, '')}`
    if (known === undefined) return [{ at: time, what: id, text: `placed by ${order.bot}: ${conditionText(order)}` }]
    if (orderId !== known.orderId) return [{ at: time, what: id, text: `fired and became ${orderId}` }]
    return [{ at: time, what: id, text: `${state === 'waiting' ? 'waiting again' : state}${why}` }]
  })
}

function isOf({ id, bot, reason }: Order, records: readonly RecordedConditional[]): boolean {
  return records.some(
    ({ order }) => order.orderId === id || (order.bot === bot && reason.startsWith(`${order.id} at `)),
  )
}

function conditionText({ when, action, reason, expiresAt, time, oneCancelsOther }: ConditionalOrder): string {
  const what = action.side === 'buy' ? `buy for ${plain(action.options.sol)} SOL` : `sell ${saleText(action.options)}`
  const until = expiresAt === null ? '' : `, for ${durationOf(expiresAt - time)}`
  const name = oneCancelsOther === '' ? '' : `, one-cancels-other group "${oneCancelsOther}"`
  return `${what} ${whenText(when)}${until}${name}: ${reason}`
}

function whenText(when: ConditionalOrder['when']): string {
  if (when.kind !== 'every')
    return `once the price is at ${priceText(when.price)} or ${when.kind === 'below' ? 'below' : 'above'}`
  const cap = when.maxPrice === null ? '' : `, unless the price is above ${priceText(when.maxPrice)}`
  return `every ${durationOf(when.everyMs)}, ${when.left} more times${cap}`
}

function saleText(options: object): string {
  const { percent, tokens } = options as { percent?: number; tokens?: number }
  if (percent !== undefined) return `${plain(percent)} % of the position`
  return tokens === undefined ? 'the whole position' : `${plain(tokens)} tokens`
}

function waitsFor({ state, orderId, when, code, notBefore, time }: ConditionalOrder): string {
  if (state === 'working') return `for the outcome of ${orderId}; see \`sluice why ${orderId}\``
  const again = notBefore > time ? `, not before ${stampOf(notBefore)}` : ''
  const refused = code === '' ? '' : `; last attempt: ${codeText(code, '')}`
  return `to fire ${whenText(when)}${again}${refused}`
}
