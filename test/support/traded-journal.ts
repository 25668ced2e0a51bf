import { MINT, type StrategyRig, testStrategy } from '../../src/testing.ts'
import { journalPath } from './journal-samples.ts'
import { trader } from './trading-bot.ts'

/** A token name that a page must show as text. */
export const HOSTILE = '<img src=x onerror=alert(1)>\u001b[31m\u202e'

/**
 * Returns a rig with a bot that trades in a random market, with a hostile token name, gaps of the feed and failed
 * transactions.
 */
export function tradedRig({ seed = 7, seconds = 90 } = {}): StrategyRig {
  const rig = testStrategy(trader, {
    lostPercent: 15,
    exits: { stopLossPercent: 25, takeProfitPercent: 30, maxHoldSeconds: 25 },
    limits: { maxOpenPositions: 8, maxSolPerHour: 1000, maxSolPerOrder: 0.1 },
  })
  rig.newToken({ symbol: HOSTILE, name: HOSTILE })
  rig.settle(1e-7)
  rig.trade({ price: 1.01e-7, sol: 0.5 })
  rig.randomMarket({ seed, seconds: seconds / 2, launchesPerSecond: 0.5 })
  rig.gap(4)
  rig.randomMarket({ seed: seed + 1, seconds: seconds / 2, launchesPerSecond: 0.5 })
  rig.settle(1.2e-7, { mint: MINT })
  return rig
}

/** Returns the path of the journal of `tradedRig`. */
export function tradedJournal(): string {
  const path = journalPath()
  tradedRig().saveJournal(path)
  return path
}
