import { copyFileSync, readFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { lamports } from '../../../src/base/units.ts'
import { command as replay } from '../../../src/commands/research/replay.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { COVERAGE, WALL_CLOCK } from '../../../src/journal/proof/coverage.ts'
import { openReader } from '../../../src/journal/reader/reader.ts'
import { addRowChecksum, checksumSql, SEALED } from '../../../src/journal/schema/seals.ts'
import { openJournal } from '../../../src/journal/writer/journal.ts'
import { ACCOUNT, attempt, journalPath, NO_LIMITS } from '../../support/journal-samples.ts'
import { feed, noisyMarket } from '../../support/recorded-tape.ts'
import { simulateRun } from '../../support/simulated-run.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const T0 = 1_780_000_000_000
const folder = temporaryFolder()
const recorded = journalPath()
const changed = `${recorded}.changed`

const STRATEGY = `import { defineStrategy, z } from 'sluice'
export default defineStrategy({
  name: 'busy', about: '', params: z.object({}), keys: ['trades'],
  start: (_params, bot) => {
    let rows = 0
    bot.every('count', 5)
    return {
      onTrade(trade, token) {
        if (++rows % 15 !== 0 || token.price === undefined) return
        if (token.position === undefined) bot.buy(token, { sol: 0.02, reason: 'row ' + rows })
        else bot.limitSell(token, { percent: 50, atPrice: token.price * 1.5, reason: 'half' })
        if (rows % 60 === 0) bot.note(token.mint, 'seen ' + rows)
      },
      onTimer() { bot.state = { rows } },
    }
  },
})
`

/** Records two starts on paper with a gap of the feed, and the facts of a live wallet. The records of the second start
 *  are compressed. */
beforeAll(async () => {
  const strategy = folder.write('busy.ts', STRATEGY)
  const service = { baseUrl: 'https://s.example/api', wsUrl: 'wss://s.example/api/data' }
  const exits = { stopLossPercent: 20, takeProfitPercent: 30, maxHoldSeconds: 10 }
  const bots = [
    { name: 'busy', strategy, exits },
    { name: 'dips', strategy: 'dip-buyer', exits },
  ]
  const file = folder.write('bots.yaml', JSON.stringify({ service, bots }))
  const loaded = await loadConfig([file])
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors))
  const { config } = loaded
  for (const part of [0, 1]) {
    const time = T0 + part * 600_000
    const rows = noisyMarket(300, 5 + part, time)
    const at = time + 15_000
    const news = [
      { time: at, input: feed('down', []) },
      { time: at + 2_000, input: { kind: 'gap', from: at - 200, to: at + 2_000, keys: ['trades'] } as const },
      { time: at + 2_000, input: feed('live', ['trades', 'newTokens']) },
    ]
    const items = [...rows.slice(0, 150), ...news, ...rows.slice(180)]
    await simulateRun(recorded, { time, items, config, rowsACommit: 50, packs: part === 1 })
  }
  await addWallet()
  await addReports()
})

const onFailure = (error: Error): never => {
  throw error
}

/** Records two reports that the engine has not processed. */
async function addReports(): Promise<void> {
  const reader = openReader(recorded)
  const { nextReport } = reader.recover()
  reader.close()
  const journal = openJournal(recorded, { space: NO_LIMITS, onFailure })
  const report = { orderId: 'o1', attemptId: 'o1.1', state: 'working', code: '', reason: '' } as const
  for (const id of [nextReport, nextReport + 1]) journal.write({ kind: 'report', id, report })
  await journal.close()
}

async function addWallet(): Promise<void> {
  const journal = openJournal(recorded, { space: NO_LIMITS, onFailure })
  const cursor = (slot: number, balance: number) => ({
    ...{ account: ACCOUNT, genesis: 'g', slot, height: slot - 9, lamports: lamports(balance), signature: `s${slot}` },
  })
  const transaction = (slot: number, change: number) => ({
    ...{ account: ACCOUNT, signature: `s${slot}`, slot, class: 'inflow', attemptId: '', lamports: lamports(change) },
    ...{ time: T0, after: slot - 1, failed: false },
  })
  journal.write({ kind: 'wallet', cursor: cursor(100, 1_000), transactions: [] })
  journal.write({ kind: 'wallet', cursor: cursor(120, 1_300), transactions: [transaction(110, 300)] } as never)
  journal.write({ kind: 'wallet', cursor: cursor(150, 1_350), transactions: [transaction(140, 50)] } as never)
  journal.write({ kind: 'learned', learned: { about: 's.example', name: 'shape', time: T0, value: 'list' } } as never)
  journal.write({ kind: 'frame', time: T0, why: 'no JSON', text: '{' })
  journal.write({ kind: 'netResult', result: { time: T0, account: ACCOUNT, bot: 'dips', netLamports: -5 } })
  journal.write({
    kind: 'watch',
    watch: {
      ...{ attempt: attempt(1), ended: false, lostAt: null, bound: null, boundSlot: null, signatures: [] },
      progress: '12 of 20 blocks',
    },
  })
  await journal.close()
}

afterEach(() => vi.restoreAllMocks())

interface Replayed {
  readonly code: number
  readonly text: string
}

async function replayed(path: string, strict = false): Promise<Replayed> {
  const lines: string[] = []
  vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line))
  vi.spyOn(console, 'error').mockImplementation((line: string) => void lines.push(line))
  const code = await replay.run([], { journal: path, verify: true, strict, json: false })
  return { code, text: lines.join('\n') }
}

/**
 * Returns a copy of the journal, changed as any program with SQLite could change it. Triggers of the journal do not
 * run, unless the change needs them.
 */
function tampered(change: (db: Database.Database) => void, triggers = false): string {
  copyFileSync(recorded, changed)
  const db = new Database(changed)
  const made = db.prepare(`SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'`).all() as Record<
    string,
    string
  >[]
  if (!triggers) for (const { name } of made) db.exec(`DROP TRIGGER ${name}`)
  change(db)
  if (!triggers) for (const { sql } of made) db.exec(sql as string)
  db.pragma('wal_checkpoint(TRUNCATE)')
  db.close()
  return changed
}

const sql =
  (text: string) =>
  (db: Database.Database): void => {
    const { changes } = db.prepare(text).run()
    expect(changes, text).toBeGreaterThan(0)
  }
const one = (table: string, where = 'true') => `rowid = (SELECT rowid FROM ${table} WHERE ${where} LIMIT 1)`
const FIRST_REPORT = '(SELECT min(id) FROM report)'
const FILL = '(signature, order_id) = (SELECT signature, order_id FROM fill LIMIT 1)'
const LATE_BLOCK = 'last_seq = (SELECT max(last_seq) FROM block)'

/** The name of the change, the change, the table that the message names, and a part of the row's name. */
type Kind = readonly [name: string, change: (db: Database.Database) => void, table: string, row?: RegExp]

const KINDS: readonly Kind[] = [
  [
    'the tokens of a fill are multiplied by ten',
    sql(`UPDATE fill SET tokens = tokens || '0' WHERE ${FILL}`),
    'fill',
    /order_id o\d+/,
  ],
  [
    '1 SOL is added to a fill',
    sql(`UPDATE fill SET trade_lamports = trade_lamports + 1000000000 WHERE ${FILL}`),
    'fill',
  ],
  ['a fill is deleted', sql(`DELETE FROM fill WHERE ${FILL}`), 'fill', /order_id o\d+/],
  [
    'a fill is added',
    sql(`INSERT INTO fill SELECT 'x' || signature, order_id, attempt_id, account, bot, mint, side, slot, time,
    tokens, decimals, trade_lamports, fee_lamports, rent_lamports, wallet_lamports, final, reversed, taken, costs, tag FROM fill WHERE ${FILL}`),
    'fill',
  ],
  ['the time of a fill is changed', sql(`UPDATE fill SET time = time + 1000 WHERE ${FILL}`), 'fill'],
  ['the bot of a fill is changed', sql(`UPDATE fill SET bot = 'dips2' WHERE ${FILL}`), 'fill'],
  ['the tag of a fill is changed', sql(`UPDATE fill SET tag = 'x' WHERE ${FILL}`), 'fill'],
  [
    'the costs of a fill are changed',
    sql(`UPDATE fill SET costs = json_set(costs, '$.tipLamports', 7) WHERE ${FILL}`),
    'fill',
  ],
  ['a fill is reversed', sql(`UPDATE fill SET reversed = 1 WHERE ${FILL}`), 'fill'],
  [
    'the reason of an order is changed',
    sql(`UPDATE "order" SET reason = 'a good feeling' WHERE number = 2`),
    'order',
    /number 2/,
  ],
  [
    'the state of an order is changed',
    sql(`UPDATE "order" SET state = 'failed' WHERE number = 2`),
    'order',
    /number 2/,
  ],
  [
    'the amount of an order is changed',
    sql(`UPDATE "order" SET json = json_set(json, '$.size.lamports', 5) WHERE number = 1`),
    'order',
  ],
  ['an order is deleted', sql('DELETE FROM "order" WHERE number = 3'), 'order', /number 3/],
  [
    'the state of an attempt is changed',
    sql(`UPDATE attempt SET state = 'unsent' WHERE id = 'o2.1'`),
    'attempt',
    /o2\.1/,
  ],
  [
    'the record of an attempt is changed',
    sql(`UPDATE attempt SET json = json_set(json, '$.slippagePercent', 50) WHERE json LIKE '{%'`),
    'attempt',
  ],
  [
    'the slippage of an attempt is changed',
    sql(`UPDATE attempt SET slippage_percent = 50 WHERE id = 'o2.1'`),
    'attempt',
  ],
  ['the price of an order is changed', sql(`UPDATE "order" SET price = 5 WHERE number = 2`), 'order', /number 2/],
  [
    'the signature of an attempt is changed',
    sql(`UPDATE attempt SET signature = 'mine' WHERE id = 'o1.1'`),
    'attempt',
    /o1\.1/,
  ],
  ['an attempt is deleted', sql(`DELETE FROM attempt WHERE id = 'o2.1'`), 'attempt', /o2/],
  [
    '1 SOL is added to a past position',
    sql(`UPDATE past_position SET realized_lamports = realized_lamports + 1000000000 WHERE rowid = 1`),
    'past_position',
    /rowid 1/,
  ],
  ['a past position is deleted', sql('DELETE FROM past_position WHERE rowid = 2'), 'past_position', /rowid 2/],
  [
    'the cost of a position is changed',
    sql(`UPDATE position SET cost_lamports = 1 WHERE ${'mint = (SELECT mint FROM position LIMIT 1)'}`),
    'position',
  ],
  [
    'the reason of a decision is changed',
    sql(`UPDATE output SET reason = 'none' WHERE kind = 'order'`),
    'output',
    /seq \d+, n \d+/,
  ],
  [
    'the code of a decision is changed',
    sql(`UPDATE output SET code = 'LIMIT_WAIT' WHERE kind = 'note'`),
    'output',
    /seq \d+/,
  ],
  [
    'the record of a decision is changed',
    sql(`UPDATE output SET json = json_set(json, '$.reason', 'none') WHERE kind = 'note'`),
    'output',
  ],
  [
    'a byte of a compressed record is changed',
    sql(`UPDATE output SET json = CAST(substr(json, 1, 9) || x'00' || substr(json, 11) AS BLOB)
      WHERE typeof(json) = 'blob' AND kind = 'position'`),
    'output',
    /seq \d+, n \d+/,
  ],
  [
    'a decision is deleted',
    sql(`DELETE FROM output WHERE kind = 'note' AND seq = (SELECT max(seq) FROM output WHERE kind = 'note')`),
    '',
    /first different decision/,
  ],
  ['the time of a decision is changed', sql(`UPDATE output SET time = time - 5 WHERE kind = 'order'`), 'output'],
  [
    'the time of a report is changed',
    sql(`UPDATE input SET time = time + 1 WHERE seq = (SELECT max(seq) FROM input WHERE kind = 'report')`),
    'input',
    /seq \d+/,
  ],
  [
    'the amount of a report is changed',
    sql(`UPDATE input SET json = json_set(json, '$.report.fill.tradeLamports', 5) WHERE json LIKE '%"fill"%'`),
    'input',
  ],
  [
    'the text of a report that the engine has not processed is changed',
    sql(`UPDATE report SET json = json_set(json, '$.reason', 'x') WHERE id = ${FIRST_REPORT}`),
    'report',
    /id \d+/,
  ],
  ['a report is deleted', sql(`DELETE FROM report WHERE id = ${FIRST_REPORT}`), 'report', /number \d+/],
  [
    'an input is deleted',
    sql(`DELETE FROM input WHERE seq = (SELECT seq FROM input WHERE kind = 'gap' AND segment = 2 ORDER BY seq DESC)`),
    'input or block',
    /seq \d+/,
  ],
  [
    'the end of a gap is changed',
    sql(`UPDATE input SET json = json_set(json, '$.to', 1) WHERE kind = 'gap'`),
    'input',
    /seq \d+/,
  ],
  [
    'the config hash of a start is changed',
    sql(`UPDATE segment SET config = 'other' WHERE number = 1`),
    'segment',
    /number 1/,
  ],
  [
    'the config hash of a start is changed, also in its record',
    sql(`UPDATE segment SET config = 'other', json = json_set(json, '$.config', 'other') WHERE number = 1`),
    'segment',
  ],
  [
    'the code of a start is changed',
    sql(`UPDATE segment SET code = 'k', json = json_set(json, '$.code', 'k') WHERE number = 1`),
    'segment',
  ],
  [
    'the balance at a start is changed',
    sql(`UPDATE segment SET json = json_set(json, '$.bots[0].paperLamports', 7) WHERE number = 2`),
    'segment',
    /number 2/,
  ],
  ['the end of a segment is changed', sql('UPDATE segment SET ended = ended + 1 WHERE number = 1'), 'segment'],
  [
    'the last records are deleted',
    (db) => {
      const last = db.prepare('SELECT max(seq) FROM input').pluck().get()
      for (const table of ['input', 'output']) db.prepare(`DELETE FROM ${table} WHERE seq >= ?`).run(last)
    },
    'segment',
    /number 2/,
  ],
  ['a segment is deleted', sql('DELETE FROM segment WHERE number = 1'), 'segment', /number 1/],
  [
    'the bytes of the tape are changed',
    sql(`UPDATE block SET price = zeroblob(length(price)) WHERE ${LATE_BLOCK}`),
    'block',
    /last_seq \d+/,
  ],
  [
    'the market caps of the tape are changed',
    sql(`UPDATE block SET market_cap = zeroblob(length(market_cap) + 8) WHERE ${LATE_BLOCK}`),
    'block',
  ],
  [
    'the signatures of the tape are changed',
    sql(`UPDATE block SET signature = zeroblob(length(signature)) || x'01' WHERE ${LATE_BLOCK}`),
    'block',
  ],
  ['the time of a block is changed', sql(`UPDATE block SET last_time = last_time + 1 WHERE ${LATE_BLOCK}`), 'block'],
  [
    'a block is deleted',
    sql(`DELETE FROM block WHERE last_seq = (SELECT min(last_seq) FROM block WHERE segment = 2)`),
    'input or block',
    /seqs \d+ to \d+/,
  ],
  [
    'the first block is deleted',
    sql('DELETE FROM block WHERE last_seq = (SELECT min(last_seq) FROM block)'),
    'input or block',
  ],
  [
    'a trade line of a posting is changed',
    sql(`UPDATE posting SET impact = impact + 5 WHERE ${one('posting', "kind = 'fill'")}`),
    'posting',
  ],
  [
    'an opening balance is changed',
    sql(
      `UPDATE posting SET wallet = wallet + 5, other = other - 5 WHERE ${one('posting', "kind = 'opening' AND account NOT LIKE 'live|%'")}`,
    ),
    'posting',
    /account/,
  ],
  [
    'the opening balance of a live wallet is changed',
    sql(
      `UPDATE posting SET wallet = wallet + 5, other = other - 5 WHERE ${one('posting', "kind = 'opening' AND account LIKE 'live|%'")}`,
    ),
    'audited',
  ],
  ['a posting is deleted', sql(`DELETE FROM posting WHERE ${one('posting', "kind = 'fill'")}`), 'posting'],
  [
    'a transaction of the wallet is changed',
    sql(`UPDATE wallet_transaction SET lamports = lamports + 5 WHERE slot = 110`),
    'wallet_transaction',
    /slot 110/,
  ],
  ['a transaction of the wallet is deleted', sql('DELETE FROM wallet_transaction WHERE slot = 110'), 'posting', /s110/],
  [
    'an audit is changed',
    sql('UPDATE audit SET ledger = ledger + 5, remainder = remainder - 5 WHERE slot = 150'),
    'audit',
    /first_slot 150/,
  ],
  ['the cursor of the wallet is changed', sql(`UPDATE wallet SET json = json_set(json, '$.lamports', 5)`), 'wallet'],
  [
    'the balance of a paper wallet is changed',
    sql(`UPDATE account SET json = json_set(json, '$.lamports', 5)`),
    'account',
  ],
  [
    'the state of a strategy is changed',
    sql(`UPDATE bot SET json = json_set(json, '$.state.rows', 5) WHERE bot = 'busy'`),
    'bot',
    /bot busy/,
  ],
  [
    'the price of a conditional order is changed',
    sql(`UPDATE conditional_order SET json = json_set(json, '$.when.price', 5) WHERE number = 1`),
    'conditional_order',
    /number 1/,
  ],
  [
    'a timer',
    sql(`UPDATE timer SET json = json_set(json, '$.everyMs', 5) WHERE ${one('timer', "json LIKE '%count%'")}`),
    'timer',
  ],
  ['a counter', sql(`UPDATE counter SET value = value + 1 WHERE name = 'nextOrder'`), 'counter', /nextOrder/],
  ['the progress of a proof is changed', sql(`UPDATE watch SET progress = '19 of 20 blocks'`), 'watch'],
  ['a finding about a service is changed', sql(`UPDATE learned SET json = json_set(json, '$.value', 'x')`), 'learned'],
  ['a recorded result of a bot', sql('UPDATE net_result SET net_lamports = 5'), 'net_result', /bot dips/],
  ['a kept frame', sql(`UPDATE frame SET text = '[' `), 'frame'],
  [
    'the record of an input is not JSON',
    sql(`UPDATE input SET json = substr(json, 2) WHERE kind = 'feed'`),
    'input',
    /seq \d+/,
  ],
  ['the record of a start is not JSON', sql(`UPDATE segment SET json = '{' WHERE number = 1`), 'segment', /number 1/],
  ['the record of an attempt is not JSON', sql(`UPDATE attempt SET json = '{' WHERE id = 'o2.1'`), 'attempt', /o2\.1/],
  [
    'a view is changed',
    (db) => {
      db.exec(`DROP VIEW positions; CREATE VIEW positions AS SELECT * FROM past_position`)
    },
    'sqlite_schema',
    /view positions/,
  ],
  [
    'a trigger is changed',
    (db) => {
      db.exec(`CREATE TRIGGER mine AFTER INSERT ON fill BEGIN UPDATE fill SET trade_lamports = 1; END`)
    },
    'sqlite_schema',
    /trigger mine/,
  ],
  [
    'the table of digits with which the views decode numbers is changed',
    sql(`UPDATE digits SET text = 'zz' WHERE code = '00A'`),
    'digits',
    /00A/,
  ],
]

test('an unchanged journal has no findings, and the replay of every segment makes the recorded decisions', async () => {
  const { code, text } = await replayed(recorded, true)
  expect(text).toMatch(/^segment 1: \d+ rows, \d+ decisions, all equal\nsegment 2: \d+ rows, \d+ decisions, all equal$/)
  expect(code).toBe(0)
})

test('docs/journal.md names the columns with times of the wall clock', () => {
  const text = readFileSync(new URL('../../../docs/journal.md', import.meta.url), 'utf8')
  expect(WALL_CLOCK.filter((column) => !text.includes(`\`${column}\``))).toEqual([])
})

test('the proof covers every table of a journal, and a checksum covers every column of a sealed table', () => {
  const db = new Database(recorded, { readonly: true })
  const tables = db.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`).pluck().all() as string[]
  expect([...tables, 'reserve'].sort()).toEqual(Object.keys(COVERAGE).sort())
  for (const [table, columns] of Object.entries(SEALED)) {
    const names = db.prepare(`SELECT name FROM pragma_table_info('${table}')`).pluck().all() as string[]
    const own = table === 'frame' ? ['id', 'checksum'] : ['checksum']
    expect(names.filter((name) => !own.includes(name)).sort(), table).toEqual([...columns].sort())
  }
  db.close()
})

describe(`each of ${KINDS.length} kinds of tampering is found with its table and row`, () => {
  test.each(KINDS.map((kind) => ({ kind })))(
    '`replay --verify` finds this change of a journal: $kind.0',
    async ({ kind: [, change, table, row = /./] }) => {
      const { code, text } = await replayed(tampered(change))
      expect(code, text).toBe(1)
      const found = text.split('\n').filter((line) => line.startsWith(table === '' ? 'segment ' : `table ${table}, `))
      expect(
        found.some((line) => row.test(line)),
        text,
      ).toBe(true)
    },
  )

  test('`replay --verify` also finds a change whose triggers rewrite the ledger', async () => {
    const { code, text } = await replayed(tampered(sql(`UPDATE fill SET tokens = tokens || '0' WHERE ${FILL}`), true))
    expect(code).toBe(1)
    expect(text).toMatch(/table fill, .*: tokens is \d+0, but the recorded inputs and decisions produce \d+/)
  })
})

test('`replay --verify` names a skipped segment with the reason, and with --strict exits with 1', async () => {
  const path = tampered((db) => {
    addRowChecksum(db)
    db.exec(`UPDATE segment SET code = 'another', json = json_set(json, '$.code', 'another') WHERE number = 1;
      UPDATE segment SET checksum = ${checksumSql('segment')} WHERE number = 1`)
  })
  const [plain, strict] = [await replayed(path), await replayed(path, true)]
  expect(plain.text).toContain('segment 1: skipped, it was recorded with')
  expect(plain.text).toContain('1 segment skipped')
  expect([plain.code, strict.code]).toEqual([0, 1])
})
