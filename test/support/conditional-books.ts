import type { Database } from 'better-sqlite3'
import { decodeJson } from '../../src/base/json.ts'
import { solToLamports } from '../../src/base/units.ts'
import { type ConditionalOrder, type ConditionalState, isOver } from '../../src/engine/exits/conditional-order.ts'
import { type Order, orderNumber } from '../../src/engine/order.ts'

/** The journal's record of one conditional order. */
interface Story {
  readonly said: ConditionalOrder[]
  /** The ids of the orders that the conditional order caused. */
  readonly orders: Set<string>
  /** Whether an operator's `flatten` ended the conditional order. If the order had sent a buy before, the buy may still
   *  fill; its tokens are then sold. */
  isFlattened: boolean
}

export interface ConditionalFigures {
  readonly conditionals: number
  /** The number of conditional orders that triggered: they sent an order or are done. */
  readonly triggered: number
  /** The number of conditional orders that ended without being done: cancelled, expired or failed. */
  readonly cancelled: number
  readonly standing: number
}

function storiesIn(db: Database): Map<string, Story> {
  const stories = new Map<string, Story>()
  const rows = db
    .prepare(
      `SELECT json, EXISTS (SELECT 1 FROM input WHERE input.seq = output.seq AND input.kind = 'command') AS commanded
       FROM output WHERE kind = 'conditional' ORDER BY seq, n`,
    )
    .all() as { json: string; commanded: number }[]
  for (const { json, commanded } of rows) {
    const { order } = decodeJson<{ order: ConditionalOrder }>(json)
    const story = stories.get(order.id) ?? { said: [], orders: new Set(), isFlattened: false }
    stories.set(order.id, story)
    story.said.push(order)
    if (commanded === 1 && order.state === 'cancelled') story.isFlattened = true
    if (order.orderId !== '') story.orders.add(order.orderId)
  }
  return stories
}

export function conditionalFigures(db: Database): ConditionalFigures {
  const stories = [...storiesIn(db).values()]
  const isTriggered = ({ said, orders }: Story): boolean => orders.size > 0 || lastOf(said).state === 'done'
  const isEnded = ({ said }: Story): boolean => isOver(lastOf(said).state) && lastOf(said).state !== 'done'
  return {
    conditionals: stories.length,
    triggered: stories.filter(isTriggered).length,
    cancelled: stories.filter(isEnded).length,
    standing: stories.filter(({ said }) => !isOver(lastOf(said).state)).length,
  }
}

/**
 * Returns violations of the rules of conditional orders. `executions` returns how often an order executed on the chain.
 * It is undefined in runs in which an order may execute more than once; the number of executions is then not checked.
 */
export function conditionalComplaints(db: Database, executions: ((orderId: string) => number) | undefined): string[] {
  const stories = [...storiesIn(db)]
  return [
    ...stories.flatMap(([id, story]) => [...lifeComplaints(id, story), ...rowComplaints(db, id, story)]),
    ...(executions === undefined ? [] : stories.flatMap(([id, story]) => buyComplaints(db, id, story, executions))),
    ...(executions === undefined ? [] : rivalComplaints(stories, executions)),
  ]
}

/** Checks that a conditional order ends at most once. */
function lifeComplaints(id: string, { said }: Story): string[] {
  const end = said.findIndex(({ state }) => isOver(state))
  if (end >= 0 && end < said.length - 1)
    return [
      `${id} ended in the state ${said[end]?.state}, but later had the states ${said.slice(end + 1).map(({ state }) => state)}`,
    ]
  return (said[0] as ConditionalOrder).state === 'waiting' ? [] : [`${id} begins in the state ${said[0]?.state}`]
}

/** Checks that the order's row has the state of the order's last output. A process that starts restores the order from
 *  this row. */
function rowComplaints(db: Database, id: string, { said }: Story): string[] {
  const rows = db
    .prepare('SELECT open, state FROM conditional_order WHERE open IN (0, 1) AND number = ?')
    .all(Number(id.slice(1))) as { open: number; state: ConditionalState }[]
  const { state } = lastOf(said)
  const [row] = rows
  return rows.length === 1 && row?.state === state && (row.open === 0) === isOver(state)
    ? []
    : [`${id} is ${state} in its last output, but its rows in the journal are ${JSON.stringify(rows)}`]
}

/** Checks that a limit order buys at most once and is done after its buy, that a schedule buys at most as often as
 *  configured, and that each buy has the configured size. */
function buyComplaints(
  db: Database,
  id: string,
  { said, orders, isFlattened }: Story,
  executions: (orderId: string) => number,
): string[] {
  const first = said[0] as ConditionalOrder
  const { state } = lastOf(said)
  if (first.action.side === 'sell') return []
  const { sol } = first.action.options
  const bought = [...orders].reduce((sum, orderId) => sum + executions(orderId), 0)
  const most = first.when.kind === 'every' ? first.when.left : 1
  const sizes = [...orders].map((orderId) => sizeOf(db, orderId))
  return [
    ...(bought > most ? [`${id} bought ${bought} times: ${[...orders]}`] : []),
    ...(first.when.kind === 'every' && orders.size > most
      ? [`${id} sent ${orders.size} orders, but only ${most} are configured`]
      : []),
    ...(first.when.kind !== 'every' && bought === 1 && !isToldOf(state) && !isFlattened
      ? [`${id} bought, but its state is ${state}`]
      : []),
    ...sizes
      .filter((size) => size !== solToLamports(sol))
      .map((size) => `${id} must buy for ${sol} SOL, but its order has ${size} lamports`),
  ]
}

/**
 * Returns whether a limit order may be in this state after its fill. The order is still `working` if the process ended
 * before its engine received the recorded fill. The next process delivers the fill.
 */
function isToldOf(state: ConditionalState): boolean {
  return state === 'done' || state === 'working'
}

function sizeOf(db: Database, orderId: string): number | undefined {
  const json = db
    .prepare('SELECT json FROM "order" WHERE open IN (0, 1) AND number = ?')
    .pluck()
    .get(orderNumber({ id: orderId })) as string
  const { size } = decodeJson<Order>(json)
  return size.kind === 'sol' ? size.lamports : undefined
}

/**
 * Returns the one-cancels-other groups in which more than one order is done or has bought. Schedules of buys are left
 * out, because only their last installment ends the group.
 */
function rivalComplaints(stories: readonly [string, Story][], executions: (orderId: string) => number): string[] {
  const groups = new Map<string, [string, Story][]>()
  for (const one of stories) {
    const { bot, oneCancelsOther, when } = one[1].said[0] as ConditionalOrder
    if (oneCancelsOther === '' || when.kind === 'every') continue
    const name = `${bot} ${oneCancelsOther}`
    groups.set(name, [...(groups.get(name) ?? []), one])
  }
  return [...groups].flatMap(([name, group]) => {
    const acted = group.filter(
      ([, { said, orders }]) => lastOf(said).state === 'done' || [...orders].some((orderId) => executions(orderId) > 0),
    )
    return acted.length <= 1 ? [] : [`of ${name} ${acted.map(([id]) => id)} acted`]
  })
}

function lastOf(said: readonly ConditionalOrder[]): ConditionalOrder {
  return said.at(-1) as ConditionalOrder
}
