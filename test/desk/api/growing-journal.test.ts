import { expect, test } from 'vitest'
import { loneBot } from '../../../src/config/bots.ts'
import { Api } from '../../../src/desk/api/routes.ts'
import type { Strategy } from '../../../src/engine/strategy.ts'
import { type JournalReader, openReader } from '../../../src/journal/reader/reader.ts'
import { Mints } from '../../../src/market/mints.ts'
import { liquidationOf } from '../../../src/runtime/liquidation-value.ts'
import { runSteps } from '../../../src/sandbox/market/event-rows.ts'
import { SeededMarket } from '../../../src/sandbox/market/seeded-market.ts'
import { SimulatedProcess } from '../../../src/testing/simulated-process.ts'
import { PrintCounts, TestRows } from '../../../src/testing/test-rows.ts'
import { FileJournal } from '../../support/file-journal.ts'
import { journalPath } from '../../support/journal-samples.ts'
import { trader } from '../../support/trading-bot.ts'

const T0 = Date.UTC(2026, 0, 1)
const STEPS = 12
const STEP_MS = 8_000

/** Returns an API that has read the whole journal in small steps, and keeps the rows in memory. */
function warmed(reader: JournalReader): Api {
  const api = new Api(reader, [], () => liquidationOf(reader))
  const steps = [...api.journal.warmUp({ seqs: 50, postings: 3 })].length
  if (reader.fills().length > 10) expect(steps).toBeGreaterThan(5)
  return api
}

/** Returns the answers of all endpoints for one order and for the tokens that were traded last. */
function answers(api: Api): unknown[] {
  const get = (path: string, query: Record<string, string> = {}): unknown => api.answer(path, Object.entries(query))
  const { orders } = (get('orders', { limit: '50' }) as { body: { orders: { id: string; mint: string }[] } }).body
  const lists = ['orders', 'fills', 'round-trips', 'positions', 'log'].map((path) => get(path, { limit: '40' }))
  const tokens = [...new Set(orders.map(({ mint }) => mint))].slice(0, 6)
  const order = orders.find(({ id }) => id.startsWith('o'))
  return [
    ...lists,
    ...[get('money'), get('equity'), order === undefined ? null : get(`why/${order.id}`)],
    ...tokens.flatMap((mint) => [get(`token/${mint}`, { bars: '15s' }), get(`why/${mint}`)]),
  ]
}

test('while a process writes and merges its tape, an API that keeps rows in memory answers like an API that reads all rows again', async () => {
  const path = journalPath()
  const journal = new FileJournal(path)
  const mints = new Mints()
  const config = loneBot(
    { ...(trader as unknown as Strategy) },
    {
      exits: { stopLossPercent: 25, takeProfitPercent: 30, maxHoldSeconds: 20 },
      limits: { maxOpenPositions: 8 },
    },
  )
  const process = new SimulatedProcess({ config, journal, mints, startsAt: T0, ended: () => {} })
  process.sink.post({ kind: 'feed', status: 'live', confirmed: trader.keys })
  const rows = new TestRows(mints, new PrintCounts())
  let at = T0
  const market = new SeededMarket({
    ...{ seed: 11, launchesPerSecond: 0.6 },
    emit: (event) => {
      process.clock.advanceTo(at)
      rows.event(at, event)
      process.sink.rows(rows.block, rows.block.length - 1, rows.block.length)
    },
  })
  journal.flush()
  const reader = openReader(path)
  const api = new Api(reader, [], () => liquidationOf(reader))
  let fills = 0
  for (let step = 1; step <= STEPS; step++) {
    runSteps(market, step * STEP_MS, (time) => {
      at = T0 + Math.ceil(time)
    })
    if (step % 4 === 0) journal.tidy()
    else journal.flush()
    const fresh = openReader(path)
    expect(answers(api), `step ${step}`).toEqual(answers(warmed(fresh)))
    fills = fresh.fills().length
    fresh.close()
  }
  expect(fills).toBeGreaterThan(10)
  reader.close()
  await journal.close()
})
