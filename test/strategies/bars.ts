import type { Width } from '../../src/index.ts'
import type { StrategyRig, TestTrade } from '../../src/testing.ts'

/** The unit of the prices in these tests, far below the price at which a token leaves its curve. */
const UNIT = 1e-9
const PRINTS = 8

/**
 * A bar in a test: its price as a multiple of the test's unit, the SOL of all its prints, and the side of its trades
 * (both sides if absent).
 */
export type ShortBar = readonly [price: number, sol: number, side?: TestTrade['side']]

export function addBars(rig: StrategyRig, width: Width, bars: readonly ShortBar[]): void {
  for (const [price, volumeSol, side] of bars) {
    const sells = side === 'buy' ? 0 : side === 'sell' ? PRINTS : PRINTS / 2
    rig.bar(width, { close: price * UNIT, volumeSol, buys: PRINTS - sells, sells })
  }
}

/** Returns a list that contains the same bar several times. */
export function bars(count: number, ...bar: ShortBar): ShortBar[] {
  return Array<ShortBar>(count).fill(bar)
}

/** Returns one line for each order that the strategy requested. */
export function asked(rig: StrategyRig): string[] {
  return rig.orders.map(
    ({ side, sol, percent, reason }) => `${side} ${sol ?? (percent ? `${percent} %` : 'all')}: ${reason}`,
  )
}
