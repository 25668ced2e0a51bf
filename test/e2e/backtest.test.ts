import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import type { Report } from '../../src/backtest/report/report.ts'
import { called } from './called.ts'
import { sluice } from './process.ts'
import { until } from './until.ts'
import { openVenue } from './venue.ts'

const KEYS = ['events', 'decisions', 'orders', 'fills', 'positions', 'realizedSol', 'feesSol', 'netSol']

test('the tape of a paper run on the sandbox can be backtested', async ({ onTestFinished }) => {
  const venue = await openVenue(
    {
      bots: [{ name: 'trips', strategy: 'round-trips', mode: 'paper', params: { rounds: 3 } }],
      config: { paper: { latency: { p50Seconds: 0.1, p95Seconds: 0.2 } } },
    },
    onTestFinished,
  )
  const running = await venue.start()
  // The backtest draws other latencies, so the last orders of the run may still be open at the end of the tape.
  await until('fills on paper', () => running.model.fills.size >= 10)
  await running.stop()
  const backtest = (journal: string, ...more: string[]) =>
    called(['backtest', venue.configFile, '--journal', journal, ...more])

  const first = await backtest(venue.journal, '--json')
  expect(first).toMatchObject({ code: 0, stderr: '' })
  const found = JSON.parse(first.stdout) as Record<string, number>
  expect(Object.keys(found)).toEqual([...KEYS, 'unit'])
  for (const key of KEYS) expect(found[key], key).toEqual(expect.any(Number))
  expect(found.events).toBe(running.model.rows)
  expect(found.fills).toBeGreaterThanOrEqual(8)

  // The same backtest in another process and folder, with every decision written to disk.
  const copy = join(venue.folder, 'copy.db')
  copyFileSync(venue.journal, copy)
  const out = join(venue.folder, 'out')
  const apart = ['backtest', venue.configFile, '--journal', copy, '--json', '--out', out]
  expect(await sluice(apart)).toEqual(first)
  const results = join(out, 'results.db')
  const report = JSON.parse(readFileSync(join(out, 'report.json'), 'utf8')) as Report
  const twin = join(venue.folder, 'again')
  await called(['backtest', venue.configFile, '--journal', venue.journal, '--json', '--out', twin])
  expect(readFileSync(join(twin, 'report.json'))).toEqual(readFileSync(join(out, 'report.json')))
  const decided = (folder: string) => {
    const log = new Database(join(folder, 'results.db'), { readonly: true })
    try {
      return [log.prepare('SELECT * FROM decisions').all(), log.prepare('SELECT * FROM fills ORDER BY time').all()]
    } finally {
      log.close()
    }
  }
  expect(decided(twin)).toEqual(decided(out))
  expect(readFileSync(join(twin, 'report.html'))).toEqual(readFileSync(join(out, 'report.html')))
  const fills = await called(['fills', '--journal', results, '--json'])
  expect(JSON.parse(fills.stdout).fills).toHaveLength(found.fills as number)
  const db = new Database(results, { readonly: true })
  const sums = db
    .prepare(
      `SELECT (SELECT count(*) FROM "order") AS orders, (SELECT count(*) FROM decisions) AS decisions,
         (SELECT count(*) FROM position) AS positions, (SELECT count(*) FROM block) AS blocks`,
    )
    .get()
  // The sums of the results, computed by SQL from the journal of the backtest.
  const books = db
    .prepare(
      `SELECT (SELECT sum(wallet_sol) FROM fills) AS fills, (SELECT sum(fee_sol) FROM fills) AS fees,
         (SELECT count(*) FROM attempts) AS requests`,
    )
    .get() as { fills: number; fees: number; requests: number }
  const [bot] = report.bots
  const cost = (name: string) => bot?.costs.find((one) => one.name === name)?.sol ?? Number.NaN
  const open = bot?.trips.reduce((sum, { valueSol }) => sum + valueSol, 0) ?? Number.NaN
  expect(bot?.netSol).toBeCloseTo(found.netSol as number, 9)
  expect(bot?.netSol).toBeCloseTo(books.fills - cost('failed') + open, 9)
  expect(cost('network')).toBeCloseTo(books.fees, 9)
  expect(bot?.plan.requests).toBe(books.requests)
  db.close()
  expect(sums).toEqual({ orders: found.orders, decisions: found.decisions, positions: found.positions, blocks: 0 })
  expect(statSync(results).mode & 0o077).toBe(0)

  const causal = await backtest(copy, '--verify-causal', '--seed', '3', '--json')
  expect(causal.code).toBe(0)
  expect(JSON.parse(causal.stdout)).toMatchObject({
    ...{ seed: 3, cuts: { length: 100 }, equal: true, divergence: null, outside: [] },
  })

  const again = await backtest(copy, '--out', out)
  expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('already exists') })
  // The folder of an interrupted backtest is reused. A folder with other content is refused.
  rmSync(join(out, 'report.json'))
  expect(await backtest(copy, '--out', out)).toMatchObject({ code: 0 })
  expect(JSON.parse(readFileSync(join(out, 'report.json'), 'utf8'))).toEqual(report)
  const other = join(venue.folder, 'other')
  mkdirSync(other)
  copyFileSync(venue.journal, join(other, 'results.db'))
  expect(await backtest(copy, '--out', other)).toMatchObject({ code: 2 })
  expect(statSync(join(other, 'results.db')).size).toBe(statSync(venue.journal).size)

  const { code, stdout, stderr } = await backtest(venue.journal)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toContain(`${found.events} market rows in 1 segment`)
  expect(stdout).toMatch(/^trips: .* SOL net, from 10 SOL$/m)
  expect(stdout).toMatch(/^Fill model: On exact pools .* No real fill was compared/m)
  expect(stdout).toContain('Limits of this backtest:')

  // For every problem of a journal, the command prints one line and no result.
  const spoilt = async (name: string, spoil: (path: string) => void) => {
    const path = join(venue.folder, `${name}.db`)
    copyFileSync(venue.journal, path)
    spoil(path)
    return backtest(path, '--json', '--out', join(venue.folder, name))
  }
  const sql = (statement: string) => (path: string) => {
    const db = new Database(path)
    db.exec(statement)
    db.close()
  }
  for (const [name, spoil, exitCode, says] of [
    ['truncated', (path: string) => truncateSync(path, statSync(path).size - 8192), 1, 'is corrupt'],
    [
      'text',
      (path: string) => writeFileSync(path, 'this text file is not a database of any kind.'),
      1,
      'not a Sluice journal',
    ],
    ['newer', sql('PRAGMA user_version = 1000'), 1, 'newer version of Sluice'],
    [
      'damaged',
      sql('UPDATE block SET price = zeroblob(length(price)) WHERE last_seq = (SELECT max(last_seq) FROM block)'),
      1,
      'is corrupt',
    ],
    ['empty', sql('DELETE FROM block'), 2, 'the tape is empty'],
    [
      'uncovered',
      sql(`UPDATE input SET json = replace(json, 'newTokens', 'others') WHERE kind = 'feed'`),
      2,
      'newTokens: not recorded in segment 1',
    ],
  ] as const) {
    const refused = await spoilt(name, spoil)
    expect(refused, name).toMatchObject({ code: exitCode, stdout: '', stderr: expect.stringContaining(says) })
    expect(refused.stderr, name).toMatch(/^sluice: /)
    expect(refused.stderr, name).not.toMatch(/\n\s+at /)
    expect(existsSync(join(venue.folder, name, 'results.db')), name).toBe(false)
  }
  const partial = await spoilt(
    'partial',
    sql(`UPDATE input SET json = replace(json, 'newTokens', 'others') WHERE kind = 'feed'`),
  )
  expect(partial.code).toBe(2)
  const allowed = await backtest(join(venue.folder, 'partial.db'), '--json', '--partial')
  expect(allowed).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('the tape lacks newTokens: not recorded in segment 1'),
  })
  expect(readFileSync(venue.journal)).toEqual(readFileSync(copy)) // reading leaves no trace
})
