import { readFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Backtest, runBacktest } from '../../src/backtest/run.ts'
import { loadConfig } from '../../src/config/load.ts'
import { openReader } from '../../src/journal/reader/reader.ts'
import { openJournal } from '../../src/journal/writer/journal.ts'
import { journalPath, NO_LIMITS } from '../support/journal-samples.ts'
import { noisyMarket, writeTape } from '../support/recorded-tape.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const T0 = 1_780_000_000_000
const folder = temporaryFolder()
const document = readFileSync(new URL('../../docs/backtest.md', import.meta.url), 'utf8')
const examples = [...document.matchAll(/```sql\n-- (.*)\n([^`]*)```/g)].map(
  ([, name, sql]) => [name ?? '', sql ?? ''] as const,
)

let db: Database.Database
let backtest: Backtest

beforeAll(async () => {
  const [tape, results] = [journalPath(), journalPath()]
  await writeTape(tape, [{ time: T0, items: noisyMarket(2_000, 3, T0) }])
  const service = { baseUrl: 'https://s.example/api', wsUrl: 'wss://s.example/api/data' }
  const limits = { maxOpenPositions: 2 }
  const bots = [{ name: 'dips', strategy: 'dip-buyer', exits: { stopLossPercent: 20, maxHoldSeconds: 30 }, limits }]
  const loaded = await loadConfig([folder.write('bots.yaml', JSON.stringify({ service, bots }))])
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors))
  const onFailure = (error: Error): never => expect.fail(error.message)
  const journal = openJournal(results, { durable: false, space: NO_LIMITS, onFailure })
  const reader = openReader(tape)
  backtest = runBacktest(loaded.config, reader.market(), { partial: false, journal })
  reader.close()
  await journal.close()
  db = new Database(results, { readonly: true })
})
afterAll(() => db.close())

test.each(examples)('%s', (_name, sql = '') => {
  expect(db.prepare(sql).all().length).toBeGreaterThan(0)
})

test('docs/backtest.md has examples', () => {
  expect(examples.length).toBe(document.split('```sql').length - 1)
  expect(examples.length).toBeGreaterThan(0)
})

test("the rows of results.db add up to the backtest's figures and contain no market rows", () => {
  const [bot] = backtest.bots
  const count = (sql: string): unknown => db.prepare(sql).pluck().get()
  expect(count('SELECT count(*) FROM orders')).toBe(bot?.result.orders)
  expect(count('SELECT count(*) FROM fills')).toBe((bot?.result.buys ?? 0) + (bot?.result.sells ?? 0))
  const fees = count('SELECT coalesce(sum(fee_sol), 0) FROM fills') as number
  expect(Math.round(fees * 1e9)).toBe(bot?.result.fees.network)
  const wallet = count('SELECT sum(wallet_sol) FROM fills') as number
  expect(Math.round(wallet * 1e9)).toBe((bot?.result.walletLamports ?? 0) + (bot?.result.fees.failed ?? 0))
  expect(count("SELECT count(*) FROM decisions WHERE kind <> 'alarm'")).toBe(
    backtest.decisions - backtest.alarms.length,
  )
  expect(count('SELECT count(*) FROM market')).toBe(0)
})
