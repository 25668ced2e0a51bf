import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { RESULTS, runIntoFolder } from '../../../src/backtest/results-folder.ts'
import { type Backtest, runBacktest } from '../../../src/backtest/run.ts'
import type { Config } from '../../../src/config/config.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { openReader } from '../../../src/journal/reader/reader.ts'
import { journalPath } from '../../support/journal-samples.ts'
import { recordPaperRun } from '../../support/paper-run.ts'
import { noisyMarket, writeTape } from '../../support/recorded-tape.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { type Sums, sumsOf } from '../../support/three-sums.ts'
import { tradedRig } from '../../support/traded-journal.ts'

const T0 = Date.UTC(2026, 10, 22, 12)
const folder = temporaryFolder()

const exits = { stopLossPercent: 12, takeProfitPercent: 15, maxHoldSeconds: 60 }
const limits = { maxOpenPositions: 6, maxSolPerHour: 1_000, maxSolPerOrder: 1 }
const CONFIG = {
  service: { baseUrl: 'https://s.example/api', wsUrl: 'wss://s.example/api/data', units: { tradeAmount: 'sol' } },
  paper: { seed: 5 },
  bots: [
    { name: 'dips', strategy: 'dip-buyer', params: { dropPercent: 8, sizeSol: 0.05 }, exits, limits },
    { name: 'trend', strategy: 'momentum', params: { minVolumeSol: 0, sizeSol: 0.05 }, exits, limits },
  ],
}
const file = folder.write('bots.yaml', JSON.stringify(CONFIG))

async function configOf(): Promise<Config> {
  const loaded = await loadConfig([file])
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors))
  return loaded.config
}

function areEqual(sums: readonly Sums[], seed: number): void {
  for (const { bot, held: _, report, ...shown } of sums)
    expect({ seed, bot, ...shown }).toEqual({ seed, bot, header: report, start: report, money: report, today: report })
}

test('the overview, the page Money and the report of a recorded backtest show the same net result of each bot as the run', async () => {
  const config = await configOf()
  let held = 0
  for (const seed of [1, 2]) {
    const tape = journalPath()
    await writeTape(tape, [{ time: T0, items: noisyMarket(2_500, seed, T0) }])
    const out = dirname(journalPath())
    const reader = openReader(tape)
    const { bots }: Backtest = await runIntoFolder(out, (journal) =>
      runBacktest(config, reader.market(), { partial: true, logged: true, journal }),
    )
    reader.close()
    const sums = sumsOf(`${out}/${RESULTS}`)
    areEqual(sums, seed)
    expect(sums.map(({ bot, report }) => [bot, report])).toEqual(
      bots.map(({ result: { name, walletLamports }, valueLamports }) => [name, walletLamports + valueLamports]),
    )
    held += sums.reduce((all, one) => all + one.held, 0)
    expect(bots.some(({ result }) => result.fees.failed > 0)).toBe(true)
  }
  expect(held).toBeGreaterThan(0)
})

test('the overview, Money and the report of a paper run show the same net result, also after a restart', async () => {
  let held = 0
  for (const seed of [1, 2]) {
    const path = journalPath()
    const rows = noisyMarket(1_600, seed, T0)
    const half = rows.length / 2
    await recordPaperRun(path, file, rows.slice(0, half), 'cut')
    await recordPaperRun(
      path,
      file,
      rows.slice(half).map((row) => ({ ...row, time: row.time + 10_000 })),
      seed === 1 ? 'drain' : 'cut',
    )
    const sums = sumsOf(path)
    areEqual(sums, seed)
    held += sums.reduce((all, one) => all + one.held, 0)
  }
  expect(held).toBeGreaterThan(0)
})

test('the overview, Money and the report show the same net result for a market with a feed gap and failed transactions', () => {
  for (const seed of [1, 2]) {
    const path = journalPath()
    tradedRig({ seed, seconds: 60 }).saveJournal(path)
    areEqual(sumsOf(path), seed)
  }
})
