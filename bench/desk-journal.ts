import { loneBot } from '../src/config/bots.ts'
import type { Strategy } from '../src/engine/strategy.ts'
import { Mints } from '../src/market/mints.ts'
import { runSteps } from '../src/sandbox/market/event-rows.ts'
import { SeededMarket } from '../src/sandbox/market/seeded-market.ts'
import { SimulatedProcess } from '../src/testing/simulated-process.ts'
import { PrintCounts, TestRows } from '../src/testing/test-rows.ts'
import { FileJournal } from '../test/support/file-journal.ts'
import { trader } from './desk-bot.ts'

const START = Date.UTC(2026, 0, 1)
/** Length of one simulated market. After it, another market with other tokens begins, so that the journal has many
 *  tokens. */
const MARKET_SECONDS = 600

/** Writes the journal of a paper bot that holds up to 200 positions in the sandbox's market, and that makes more than
 *  10,000 trades in 24 hours. */
export async function writeDeskJournal(path: string, hours: number): Promise<void> {
  const journal = new FileJournal(path)
  const mints = new Mints()
  const config = loneBot(
    { ...(trader as unknown as Strategy) },
    {
      exits: { stopLossPercent: 25, takeProfitPercent: 30, maxHoldSeconds: 900 },
      orders: { slippagePercent: 50 },
      paper: { balanceSol: 1000 },
      limits: { maxOpenPositions: 200, maxSolPerHour: 10_000, maxSolPerOrder: 0.1, maxDailyLossSol: 1000 },
    },
  )
  const process = new SimulatedProcess({ config, journal, mints, startsAt: START, ended: () => {} })
  const { sink, clock } = process
  sink.post({ kind: 'feed', status: 'live', confirmed: trader.keys })
  const rows = new TestRows(mints, new PrintCounts())
  for (let market = 0; market * MARKET_SECONDS < hours * 3600; market++) {
    const from = START + market * MARKET_SECONDS * 1000
    let at = from
    const emit = (event: Parameters<TestRows['event']>[1]): void => {
      clock.advanceTo(at)
      rows.event(at, event)
      const { block } = rows
      sink.rows(block, block.length - 1, block.length)
    }
    runSteps(new SeededMarket({ seed: market + 1, launchesPerSecond: 0.3, emit }), MARKET_SECONDS * 1000, (step) => {
      at = from + Math.ceil(step)
    })
    clock.advanceTo(from + MARKET_SECONDS * 1000)
    journal.tidy()
  }
  await journal.close()
}
