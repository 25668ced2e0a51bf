import type { Order } from '../../src/engine/order.ts'
import { anOrder, fillOf, GatewayWorld, type Script } from './gateway-world.ts'
import { absent, acked, lost, reverted } from './outcomes.ts'

export const MINT = 'm'
const LADDER = [5, 15, 30, 50]

export function anExit(more: Partial<Order> = {}): Order {
  return anOrder({ mint: MINT, repeatMs: 3_000, slippagePercents: LADDER, ...more })
}

/** Submits a full exit. Each script has the outcomes of one attempt; further attempts use the last script. */
export function run(exit: Order, ...scripts: Script[]): GatewayWorld {
  const world = new GatewayWorld()
  world.script = (_attempt, number) => scripts[Math.min(number, scripts.length) - 1] ?? []
  world.submit(exit)
  return world
}

/** Returns the slippage and the time of each attempt, in ms after the first attempt. */
export function attempts(world: GatewayWorld): string {
  const first = world.executed[0]?.armedAt ?? 0
  return world.executed.map(({ armedAt, slippagePercent }) => `${slippagePercent} % at ${armedAt - first}`).join(', ')
}

export const DEAD: Script = [
  [10_000, lost],
  [200_000, absent],
]
export const EXECUTED: Script = [
  [10_000, lost],
  [11_000, (attempt) => fillOf(attempt, false)],
  [20_000, (attempt) => fillOf(attempt, true)],
]
/** The outcome of a sale for which the wallet holds no tokens. */
export const EMPTY: Script = [
  [100, acked],
  [1_500, reverted('REVERTED', false)],
  [13_000, reverted('REVERTED', true)],
]
export const SLIPPED: Script = [
  [100, acked],
  [1_500, reverted('SLIPPAGE_EXCEEDED', false)],
  [13_000, reverted('SLIPPAGE_EXCEEDED', true)],
]
