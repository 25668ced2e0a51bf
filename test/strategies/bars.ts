import type { StrategyRig, TestTrade } from '../../src/testing.ts'

/** Unit of the prices of these tests: far below the price at which a token leaves its curve. */
const UNIT = 1e-9
const PRINTS = 5

/** A bar of a test: its price in units, the SOL of its prints together, and who trades. */
export type TestBar = readonly [price: number, sol: number, side?: TestTrade['side']]

/** Adds bars of five prints each, so that the robust price at the end of a bar is the price of the bar. The last bar
 *  closes with the first print after it. */
export function addBars(rig: StrategyRig, seconds: number, bars: readonly TestBar[]): void {
  for (const [price, sol, side] of bars)
    for (let print = 0; print < PRINTS; print++) {
      const isFirst = rig.now % (seconds * 1000) === 0
      const afterSeconds = seconds / PRINTS / (isFirst ? 2 : 1)
      rig.trade({ price: price * UNIT, sol: sol / PRINTS, afterSeconds, ...(side !== undefined && { side }) })
    }
}

/** The same bar several times. */
export function bars(count: number, ...bar: TestBar): TestBar[] {
  return Array<TestBar>(count).fill(bar)
}

/** Every order as one line. */
export function asked(rig: StrategyRig): string[] {
  return rig.orders.map(
    ({ side, sol, percent, reason }) => `${side} ${sol ?? (percent ? `${percent} %` : 'all')}: ${reason}`,
  )
}
