import type { Database } from 'better-sqlite3'
import type { Seq } from '../../base/units.ts'
import { TAPE_DROPPED } from '../schema/seals.ts'
import type { Finding } from './finding.ts'

/** A range of seqs for which the journal has rows. Both ends are included. */
interface Range {
  readonly from: Seq
  readonly to: Seq
}

/** SQL that selects the ranges of seqs for which the journal has rows. Every start, input and market row has a seq of
 *  its own. Dropped rows of the tape, and rows that were lost because the disk was full, count as well, because the
 *  journal records their seqs. */
const ACCOUNTED = `
SELECT 1 AS "from", value AS "to" FROM counter WHERE name = '${TAPE_DROPPED}'
UNION ALL SELECT seq, seq FROM segment
UNION ALL SELECT seq, seq FROM input
UNION ALL SELECT first_seq, last_seq FROM missing
UNION ALL SELECT first_seq, first_seq + rows - 1 FROM blocks WHERE runs = 1
UNION ALL SELECT seq, seq + next - row - 1 FROM (
  SELECT seq, row, coalesce(lead(row) OVER (PARTITION BY last_seq ORDER BY row), rows) AS next FROM (
    SELECT last_seq, rows, 0 AS row, first_seq AS seq FROM blocks WHERE runs > 1
    UNION ALL SELECT b.last_seq, b.rows, r.row, r.seq FROM run r JOIN blocks b ON b.last_seq = r.block WHERE b.runs > 1))
ORDER BY 1, 2`

/** Yields the seqs for which the journal has no row. */
function* missingSeqs(db: Database): Generator<Finding, void, undefined> {
  let next = 1
  for (const { from, to } of db.prepare(ACCOUNTED).iterate() as IterableIterator<Range>) {
    if (from > next) yield missingSeq(next, from - 1)
    next = Math.max(next, to + 1)
  }
  const ends = db.prepare('SELECT number, last_seq AS last FROM segment WHERE last_seq >= ?').all(next)
  for (const { number, last } of ends as { number: number; last: Seq }[]) {
    const { problem } = missingSeq(next, last)
    yield {
      table: 'segment',
      row: `number ${number}`,
      problem: `${problem}: the process ended in an orderly way after these seqs`,
    }
  }
}

/** Returns the reason why seqs of a segment are missing. */
export function lackOf(db: Database, firstSeq: Seq, lastSeq: Seq): string {
  const lost = db.prepare('SELECT 1 FROM missing WHERE first_seq BETWEEN ? AND ?').get(firstSeq, lastSeq)
  if (lost !== undefined) return 'a part of the segment was not recorded, because the disk was full'
  const dropped = db.prepare(`SELECT value FROM counter WHERE name = '${TAPE_DROPPED}'`).pluck().get() as
    | Seq
    | undefined
  return (dropped ?? 0) >= firstSeq ? 'the tape of the segment was dropped' : 'rows of the segment are missing'
}

function missingSeq(from: Seq, to: Seq): Finding {
  const named = from === to ? `seq ${from}` : `seqs ${from} to ${to}`
  return { table: 'input or block', row: named, problem: `no row has ${named}, but seqs must be consecutive` }
}

/** SQL of all reports: those that are inputs of the engine, and those that it has not processed yet. */
const REPORTS = `(SELECT json_extract(json, '$.id') AS id, json_extract(json, '$.report') AS json FROM input WHERE kind = 'report'
  UNION ALL SELECT id, json FROM report)`

/** Tables whose rows are numbered from 1, without a gap. */
const COUNTED: readonly { readonly table: string; readonly sql: string }[] = [
  { table: 'segment', sql: 'SELECT number AS n FROM segment' },
  { table: 'report', sql: `SELECT id AS n FROM ${REPORTS}` },
  { table: 'order', sql: 'SELECT number AS n FROM "order"' },
  { table: 'posting', sql: 'SELECT id AS n FROM posting' },
]

/** Tables whose rows are numbered within a group, without a gap. */
const PLACED: readonly { readonly table: string; readonly sql: string; readonly first: number }[] = [
  {
    table: 'attempt',
    sql: `SELECT substr(id, 1, instr(id, '.') - 1) AS name, CAST(substr(id, instr(id, '.') + 1) AS INTEGER) AS n FROM attempt`,
    first: 1,
  },
  {
    table: 'output',
    sql: `SELECT 'seq ' || seq AS name, n FROM output WHERE NOT EXISTS (
      SELECT 1 FROM missing m WHERE output.seq BETWEEN m.first_seq AND m.last_seq)`,
    first: 0,
  },
]

/** SQL that finds missing rows: other tables contain the key of the row, but its own table does not. `by`: kind of the
 *  record that contains the key. */
const NAMED: readonly { readonly table: string; readonly by: string; readonly sql: string }[] = [
  {
    table: 'attempt',
    by: 'a report',
    sql: `SELECT DISTINCT named FROM (SELECT json_extract(json, '$.attemptId') AS named FROM ${REPORTS})
      WHERE named <> '' AND named NOT IN (SELECT id FROM attempt)`,
  },
  {
    table: 'attempt',
    by: 'a fill',
    sql: 'SELECT DISTINCT attempt_id AS id FROM fill WHERE attempt_id NOT IN (SELECT id FROM attempt)',
  },
  {
    table: 'attempt',
    by: 'a transaction of the wallet',
    sql: `SELECT DISTINCT attempt_id AS id FROM wallet_transaction
      WHERE attempt_id <> '' AND attempt_id NOT IN (SELECT id FROM attempt)`,
  },
  {
    table: 'order',
    by: 'an attempt',
    sql: `SELECT DISTINCT substr(id, 1, instr(id, '.') - 1) AS id FROM attempt
      WHERE CAST(substr(id, 2) AS INTEGER) NOT IN (SELECT number FROM "order")`,
  },
  {
    table: 'wallet',
    by: 'an audit',
    sql: 'SELECT DISTINCT account AS id FROM audit WHERE account NOT IN (SELECT account FROM wallet)',
  },
  {
    table: 'wallet_transaction',
    by: 'the fee of a failed attempt',
    sql: `SELECT a.signature AS id FROM input i JOIN attempt a ON a.undecided IN (0, 1)
        AND a.id = json_extract(i.json, '$.report.attemptId')
      WHERE i.kind = 'report' AND a.executor = 'paper' AND json_type(i.json, '$.report.feeLamports') = 'integer'
        AND a.signature NOT IN (SELECT signature FROM wallet_transaction)`,
  },
  {
    table: 'audit',
    by: 'the last audit in table wallet',
    sql: `SELECT account || ' slot ' || json_extract(json, '$.slot') AS id FROM wallet w
      WHERE EXISTS (SELECT 1 FROM audit a WHERE a.account = w.account)
        AND NOT EXISTS (SELECT 1 FROM audit a WHERE a.account = w.account AND a.slot = json_extract(json, '$.slot'))`,
  },
]

/** SQL condition that is true for the journal of a backtest. Such a journal contains no tape, and none of the decisions
 *  that only a restart reads. */
const OF_BACKTEST = `SELECT count(*) > 0 AND min(coalesce(json_extract(json, '$.bots[0].account.mode'), '') = 'backtest')
  FROM segment`

/** Yields the rows that must have existed but are missing: numbers have a gap, or other rows refer to a missing row. */
export function* missingRows(db: Database): Generator<Finding, void, undefined> {
  const isWhole = db.prepare(OF_BACKTEST).pluck().get() === 0
  if (isWhole) yield* missingSeqs(db)
  for (const { table, sql } of COUNTED) {
    let next = 1
    for (const n of db.prepare(`${sql} ORDER BY n`).pluck().iterate() as IterableIterator<number>) {
      for (; next < n; next++)
        yield { table, row: `number ${next}`, problem: 'no row has this number, but the numbers must be consecutive' }
      next = n + 1
    }
  }
  for (const { table, sql, first } of isWhole ? PLACED : []) {
    const rows = db.prepare(
      `SELECT name, n, row_number() OVER (PARTITION BY name ORDER BY n) - 1 + ${first} AS place FROM (${sql})`,
    )
    for (const { name, n, place } of rows.iterate() as IterableIterator<{ name: string; n: number; place: number }>)
      if (n !== place)
        yield {
          table,
          row: `${name}, number ${place}`,
          problem: 'no row has this number, but the numbers must be consecutive',
        }
  }
  for (const { table, by, sql } of NAMED)
    for (const id of db.prepare(sql).pluck().iterate() as IterableIterator<string>)
      yield { table, row: id, problem: `the row is missing, but ${by} refers to it` }
}
