import { expect, test } from 'vitest'
import { runBacktest } from '../../src/backtest/run.ts'
import { loadConfig } from '../../src/config/load.ts'
import { openReader } from '../../src/journal/reader/reader.ts'
import { journalPath } from '../support/journal-samples.ts'
import { noisyMarket, writeTape } from '../support/recorded-tape.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { usedBytes } from '../support/used-bytes.ts'

const T0 = 1_780_000_000_000
/** Number of rows; a larger number makes the test longer. */
const ROWS = Number(process.env.MEMORY_ROWS ?? 200_000)
const folder = temporaryFolder()

test('the memory of a backtest does not grow with the tape', async () => {
  const path = journalPath()
  await writeTape(path, [{ time: T0, items: noisyMarket(ROWS, 5, T0) }])
  const service = { baseUrl: 'https://s.example/api', wsUrl: 'wss://s.example/api/data' }
  const bots = [{ name: 'dips', strategy: 'dip-buyer', exits: { stopLossPercent: 20, maxHoldSeconds: 200 } }]
  const loaded = await loadConfig([folder.write('memory.yaml', JSON.stringify({ service, bots }))])
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors))
  const reader = openReader(path)
  try {
    const used: number[] = []
    const backtest = runBacktest(loaded.config, reader.market(), {
      partial: false,
      progress: () => used.push(usedBytes()),
    })
    expect(backtest.rows).toBe(ROWS)
    expect(used.length).toBeGreaterThan(3)
    expect(backtest.bots[0]?.result.orders).toBeGreaterThan(ROWS / 1_000)
    const [first, last] = [used[1] as number, used.at(-1) as number]
    // If each row stayed in memory, its columns alone would need 45 bytes. Only the list of the last orders may grow,
    // up to its limit.
    expect((last - first) / ROWS).toBeLessThan(10)
  } finally {
    reader.close()
  }
})
