import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { FinalRecords } from '../../src/backtest/final-records.ts'
import { runBacktest } from '../../src/backtest/run.ts'
import { loadConfig } from '../../src/config/load.ts'
import { openReader } from '../../src/journal/reader/reader.ts'
import type { OpenJournal } from '../../src/journal/writer/gathering-journal.ts'
import { openJournal } from '../../src/journal/writer/journal.ts'
import type { Journal } from '../../src/orders/ports.ts'
import { journalPath, NO_LIMITS } from '../support/journal-samples.ts'
import { noisyMarket, writeTape } from '../support/recorded-tape.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const T0 = 1_780_000_000_000
const folder = temporaryFolder()
const onFailure = (error: Error): never => expect.fail(error.message)

/** Returns a journal that passes every call on to two journals. */
function both(one: Journal, other: Journal): Journal {
  return {
    rows: () => {},
    input(...args) {
      one.input(...args)
      other.input(...args)
    },
    output(...args) {
      one.output(...args)
      other.output(...args)
    },
    write(record) {
      one.write(record)
      other.write(record)
    },
    commit: (then) => one.commit(() => other.commit(then)),
  }
}

/** Returns all rows of each table, in their order. */
function tablesOf(path: string): Record<string, unknown[]> {
  const db = new Database(path, { readonly: true })
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
  const rows = tables
    .pluck()
    .all()
    .map((name) => [name, db.prepare(`SELECT * FROM "${name}"`).raw().all()])
  db.close()
  return Object.fromEntries(rows)
}

test.each([
  ['after a run whose orders have all ended', 8_000],
  ['after a run that ends with open orders', 2_301],
])(
  'a journal that is given only the last state of each order has the same rows as a journal that is given all states, %s',
  async (_name, rows) => {
    const [tape, whole, final] = [journalPath(), journalPath(), journalPath()]
    await writeTape(tape, [{ time: T0, items: noisyMarket(rows, 3, T0) }])
    const service = { baseUrl: 'https://s.example/api', wsUrl: 'wss://s.example/api/data' }
    const exits = { stopLossPercent: 20, takeProfitPercent: 30, maxHoldSeconds: 30 }
    const bots = [
      { name: 'dips', strategy: 'dip-buyer', params: { dropPercent: 15, sizeSol: 0.05 }, exits },
      { name: 'trend', strategy: 'momentum', params: { minVolumeSol: 0 }, exits },
    ]
    const loaded = await loadConfig([folder.write('bots.yaml', JSON.stringify({ service, bots }))])
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors))
    const journals = [whole, final].map((path) => openJournal(path, { durable: false, space: NO_LIMITS, onFailure }))
    const [all, some] = journals as [OpenJournal, OpenJournal]
    const records = new FinalRecords(some)
    const reader = openReader(tape)
    runBacktest(loaded.config, reader.market(), {
      partial: false,
      journal: both(all, records),
      model: (model) => ({ ...model, landingFailurePercent: 40 }),
    })
    reader.close()
    records.end()
    await Promise.all([all.close(), some.close()])
    const [expected, found] = [tablesOf(whole), tablesOf(final)]
    expect(found).toEqual(expected)
    for (const table of ['attempt', 'fill', 'input', 'posting', 'wallet_transaction', 'past_position'])
      expect(expected[table]?.length, table).toBeGreaterThan(0)
  },
)
