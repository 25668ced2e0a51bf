import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { type Backtest, runBacktest } from '../../src/backtest/run.ts'
import { seededRandom } from '../../src/base/random.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { Fill } from '../../src/engine/order.ts'
import { openReader } from '../../src/journal/reader/reader.ts'
import type { Journal } from '../../src/orders/ports.ts'
import { journalPath } from '../support/journal-samples.ts'
import type { MarketRow } from '../support/market-rows.ts'
import { noisyMarket, writeTape } from '../support/recorded-tape.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const T0 = 1_780_000_000_000
const folder = temporaryFolder()
const NOTHING: Journal = {
  rows: () => {},
  input: () => {},
  output: () => {},
  write: () => {},
  commit: (then) => then(),
}

const LOOKS = `
import { defineStrategy, z } from 'sluice'
export default defineStrategy({
  name: 'looks', about: 'Reads the market cap of each trade.', params: z.object({}), keys: ['trades'],
  start: () => ({ onTrade: (trade) => void trade.marketCap }),
})`

async function backtest(path: string, fills: Fill[] = [], strategy?: string): Promise<Backtest> {
  const service = { baseUrl: 'https://s.example/api', wsUrl: 'wss://s.example/api/data' }
  const exits = { stopLossPercent: 20, takeProfitPercent: 30, maxHoldSeconds: 300 }
  const own = strategy === undefined ? [] : [{ name: 'own', strategy: folder.write('own.ts', strategy), exits }]
  const bots = [
    ...own,
    { name: 'dips', strategy: 'dip-buyer', params: { dropPercent: 15 }, exits },
    { name: 'trend', strategy: 'momentum', params: { minVolumeSol: 0 }, exits },
  ]
  const loaded = await loadConfig([folder.write('bots.yaml', JSON.stringify({ service, bots }))])
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors))
  const reader = openReader(path)
  const write: Journal['write'] = (record) => {
    if (record.kind === 'fill') fills.push(record.fill)
  }
  try {
    return runBacktest(loaded.config, reader.market(), { partial: false, journal: { ...NOTHING, write } })
  } finally {
    reader.close()
  }
}

/** Impossible prices and amounts, each between rows of a normal market. */
const HOSTILE = [0, -0, 1e308, -1e308, 5e-324, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -1]

test('impossible prices and amounts between the rows change no fill and no total', async () => {
  const seed = 4
  const random = seededRandom(seed)
  const clean = noisyMarket(8_000, 9, T0)
  const rows = clean.flatMap((row): MarketRow[] => {
    if (row.kind === 'newToken' || random.next() > 0.15) return [row]
    const odd = HOSTILE[random.integer(HOSTILE.length)] as number
    return [row, random.next() < 0.5 ? { ...row, price: odd } : { ...row, sol: odd }]
  })
  const path = journalPath()
  await writeTape(path, [{ time: T0, items: rows }])
  const fills: Fill[] = []
  const { bots } = await backtest(path, fills)
  expect(fills.length, `seed ${seed}`).toBeGreaterThan(50)
  for (const { tokens, tradeLamports, walletLamports } of fills) {
    const price = tradeLamports / 1e9 / (Number(tokens) / 1e6)
    expect(price).toBeGreaterThan(1e-8)
    expect(price).toBeLessThan(3e-6)
    expect(Number.isSafeInteger(walletLamports)).toBe(true)
  }
  for (const { result, startLamports, valueLamports } of bots) {
    expect(Number.isSafeInteger(result.walletLamports + valueLamports)).toBe(true)
    expect(result.walletLamports + valueLamports).toBeGreaterThan(-startLamports)
    expect(result.walletLamports + valueLamports).toBeLessThan(startLamports)
  }
})

test('a damaged block in the middle of the tape ends the backtest without a result', async () => {
  const path = journalPath()
  const rows = noisyMarket(3_000, 9, T0)
  await writeTape(
    path,
    [0, 1, 2].map((n) => ({ time: T0 + n * 100_000, items: rows.slice(n * 1_000, (n + 1) * 1_000) })),
  )
  const db = new Database(path)
  db.exec(
    'UPDATE block SET amount = zeroblob(length(amount)) WHERE last_seq = (SELECT last_seq FROM block LIMIT 1 OFFSET 1)',
  )
  db.close()
  await expect(backtest(path)).rejects.toMatchObject({
    message: expect.stringMatching(/is corrupt: the checksum of its tape/),
    exitCode: 1,
  })
})

test("a damaged column that a strategy reads first is not counted as the strategy's error", async () => {
  const path = journalPath()
  await writeTape(path, [{ time: T0, items: noisyMarket(1_000, 9, T0) }])
  const db = new Database(path)
  db.exec('UPDATE block SET market_cap = zeroblob(length(market_cap))')
  db.close()
  await expect(backtest(path)).resolves.toBeDefined()
  await expect(backtest(path, [], LOOKS)).rejects.toMatchObject({
    message: expect.stringMatching(/^(?!.*threw).*is corrupt: the checksum of its tape/),
    exitCode: 1,
  })
})
