import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runBacktest } from '../src/backtest-run.ts'
import { loadConfig } from '../src/config/load.ts'
import type { Input } from '../src/core/messages.ts'
import { openReader } from '../src/journal/reader.ts'
import { exportTape } from '../src/tape-export.ts'
import { importTape } from '../src/tape-import.ts'
import { journalPath } from './support/journal-samples.ts'
import type { MarketRow } from './support/market-rows.ts'
import { feed, noisyMarket, type Recording, writeTape } from './support/recorded-tape.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const T0 = 1_780_000_000_000
const HOUR = 3_600_000
const KEYS = ['trades', 'newTokens', 'priceUpdates']
const folder = temporaryFolder()

/** Two segments, with an outage in the first. */
function recordings(): Recording[] {
  const rows = noisyMarket(6_000, 5, T0 + 7)
  const gap: Input = { kind: 'gap', from: T0 + 300_000, to: T0 + 310_000, keys: KEYS }
  const before = rows.filter(({ time }) => time < T0 + 300_000)
  const after = rows.filter(({ time }) => time > T0 + 310_000)
  const launch: MarketRow = { kind: 'newToken', time: T0 + 2, mint: rows[0]?.mint ?? '', details: { name: 'a "b"\n' } }
  const outage = [
    { time: T0 + 300_000, input: feed('down', []) },
    { time: T0 + 310_000, input: gap },
    { time: T0 + 310_000, input: feed('live', KEYS) },
  ]
  return [
    { time: T0, items: [launch, ...before, ...outage, ...after] },
    { time: T0 + HOUR, items: noisyMarket(6_000, 6, T0 + HOUR) },
  ]
}

function exporting(journal: string, file: string) {
  const reader = openReader(journal)
  try {
    return exportTape(reader.market(), file)
  } finally {
    reader.close()
  }
}

async function backtest(journal: string) {
  const service = { baseUrl: 'https://s.example/api', wsUrl: 'wss://s.example/api/data' }
  const exits = { stopLossPercent: 20, takeProfitPercent: 30, maxHoldSeconds: 120 }
  const bots = ['dip-buyer', 'momentum'].map((strategy) => ({ name: strategy, strategy, exits }))
  const loaded = await loadConfig([folder.write('bots.yaml', JSON.stringify({ service, bots }))])
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors))
  const reader = openReader(journal)
  const {
    segments: _segments,
    coverage: _coverage,
    from: _from,
    ...found
  } = runBacktest(loaded.config, reader.market(), { partial: false })
  reader.close()
  return found
}

test.each(['ndjson', 'csv'])(
  'exported as %s and imported again, a tape backtests to the same result, and exports to the same file',
  async (format) => {
    const journal = journalPath()
    await writeTape(journal, recordings())
    const [first, second] = [join(folder.path, `first.${format}`), join(folder.path, `second.${format}`)]
    expect(exporting(journal, first)).toEqual({ rows: expect.any(Number), gaps: 4 })
    expect(statSync(first).mode & 0o077).toBe(0)
    const copy = journalPath()
    const imported = await importTape([first], copy, { strict: true, complain: () => {} })
    expect(imported).toMatchObject({ badLines: 0, duplicates: 0, late: 0, keys: ['newTokens', 'trades'] })
    const found = await backtest(journal)
    expect(found.bots.map(({ result }) => result.buys)).toEqual([expect.any(Number), expect.any(Number)])
    expect(found.bots[0]?.result.buys).toBeGreaterThan(5)
    expect(await backtest(copy)).toEqual(found)
    exporting(copy, second)
    expect(readFileSync(second, 'utf8')).toBe(readFileSync(first, 'utf8'))
  },
)

test('a file that is there already is left alone; one that cannot be written is said', async () => {
  const journal = journalPath()
  await writeTape(journal, [{ time: T0, items: noisyMarket(10, 5, T0) }])
  const mine = folder.write('mine.ndjson', 'mine')
  expect(() => exporting(journal, mine)).toThrow('is there already')
  expect(readFileSync(mine, 'utf8')).toBe('mine')
  const nowhere = join(folder.path, 'no', 'such', 'folder')
  expect(() => exporting(journal, nowhere)).toThrow('cannot be written: ENOENT')
  expect(existsSync(nowhere)).toBe(false)
})
