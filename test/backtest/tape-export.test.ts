import { existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { reportOf } from '../../src/backtest/report/build-report.ts'
import { runBacktest } from '../../src/backtest/run.ts'
import { exportTape } from '../../src/backtest/tape-export.ts'
import { importTape } from '../../src/backtest/tape-import.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { Input } from '../../src/engine/messages.ts'
import { openTape } from '../../src/journal/tape-files.ts'
import { journalPath } from '../support/journal-samples.ts'
import type { MarketRow } from '../support/market-rows.ts'
import { feed, noisyMarket, type Recording, writeTape } from '../support/recorded-tape.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const T0 = 1_780_000_000_000
const HOUR = 3_600_000
const KEYS = ['trades', 'newTokens', 'priceUpdates']
const folder = temporaryFolder()

/** Returns two recordings, the first one with an outage. */
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

function exporting(journals: readonly string[], file: string) {
  const tape = openTape(journals)
  try {
    return exportTape(tape.market, file)
  } finally {
    tape.close()
  }
}

/**
 * Returns the report of a backtest without the facts about the recording: the number of segments, and the keys of each.
 */
async function reportOn(journals: readonly string[]) {
  const service = { baseUrl: 'https://s.example/api', wsUrl: 'wss://s.example/api/data' }
  const exits = { stopLossPercent: 20, takeProfitPercent: 30, maxHoldSeconds: 120 }
  const bots = ['dip-buyer', 'momentum'].map((strategy) => ({ name: strategy, strategy, exits }))
  const loaded = await loadConfig([folder.write('bots.yaml', JSON.stringify({ service, bots }))])
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors))
  const { config } = loaded
  const tape = openTape(journals)
  try {
    const backtest = runBacktest(config, tape.market, { partial: false, logged: true })
    const beside = { extras: new Map(), calibration: undefined }
    const { tape: whole, ...report } = reportOf(config, tape.market, backtest, beside)
    const { segments: _segments, coveragePercent: _coverage, ...heard } = whole
    return { ...report, tape: heard, results: backtest.bots.map(({ result }) => result) }
  } finally {
    tape.close()
  }
}

const WORLDS: [string, () => Promise<string[]>][] = [
  [
    'one journal of two segments, with an outage',
    async () => {
      const journal = journalPath()
      await writeTape(journal, recordings())
      return [journal]
    },
  ],
  [
    'two journals that overlap',
    async () => {
      const rows = noisyMarket(6_000, 5, T0 + 7)
      const half = [rows.slice(0, 4_000), rows.slice(2_500)]
      return Promise.all(
        half.map(async (items) => {
          const journal = journalPath()
          await writeTape(journal, [{ time: items[0]?.time ?? 0, items }])
          return journal
        }),
      )
    },
  ],
]

describe.each(WORLDS)('%s', (_name, record) => {
  test.each(['ndjson', 'csv'])(
    'a tape that is exported as %s and imported gives the same report and exports the same file',
    async (format) => {
      const journals = await record()
      const [first, second] = [join(folder.path, `first.${format}`), join(folder.path, `second.${format}`)]
      for (const file of [first, second]) rmSync(file, { force: true })
      expect(exporting(journals, first).rows).toBeGreaterThan(5_000)
      expect(statSync(first).mode & 0o077).toBe(0)
      const copy = journalPath()
      const imported = await importTape([first], copy, { strict: true, complain: () => {} })
      expect(imported).toMatchObject({ badLines: 0, duplicates: 0, late: 0 })
      const found = await reportOn(journals)
      expect(found.bots[0]?.buys).toBeGreaterThan(5)
      expect(await reportOn([copy])).toEqual(found)
      exporting([copy], second)
      expect(readFileSync(second, 'utf8')).toBe(readFileSync(first, 'utf8'))
    },
  )
})

test('an export keeps an existing file, and names a file that cannot be written', async () => {
  const journal = journalPath()
  await writeTape(journal, [{ time: T0, items: noisyMarket(10, 5, T0) }])
  const mine = folder.write('mine.ndjson', 'mine')
  expect(() => exporting([journal], mine)).toThrow('already exists')
  expect(readFileSync(mine, 'utf8')).toBe('mine')
  const nowhere = join(folder.path, 'no', 'such', 'folder')
  expect(() => exporting([journal], nowhere)).toThrow('cannot be written: ENOENT')
  expect(existsSync(nowhere)).toBe(false)
})
