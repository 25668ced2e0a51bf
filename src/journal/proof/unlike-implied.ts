import type { Database, Statement } from 'better-sqlite3'
import { jsonDifference } from '../../base/json.ts'
import { TAPE_DROPPED } from '../schema/seals.ts'
import { type Finding, keyText, shown } from './finding.ts'

interface Repeated {
  readonly table: string
  readonly key: readonly string[]
  /** SQL condition for the rows that are compared; if absent, all rows are compared. */
  readonly where?: string
  /** SQL condition that selects the row with a given key; if absent, the columns in `key` must equal the values of the
   *  key. */
  readonly find?: string
  readonly omitted?: readonly string[]
}

/** Returns an SQL condition for the row with this `key`, in a table whose primary key begins with a flag. The flag is
 *  not known, so the condition tries both values. */
const flagged = (flag: string, key: string): string => `${flag} IN (0, 1) AND ${key} = ?`

const FIXED: readonly Repeated[] = [
  { table: 'number', key: ['n'] },
  { table: 'digits', key: ['code'] },
  { table: 'power2', key: ['exponent'] },
]

const MONEY: readonly Repeated[] = [
  { table: 'order', key: ['number'], find: flagged('open', 'number') },
  { table: 'fill', key: ['signature', 'order_id'] },
  { table: 'position', key: ['account', 'mint'] },
  { table: 'past_position', key: ['rowid'] },
  { table: 'conditional_order', key: ['number'], find: flagged('open', 'number') },
  { table: 'counter', key: ['name'], where: `name <> '${TAPE_DROPPED}'` },
  // Opening balances are not compared, because the sums in ledger-sums.ts prove them. `id` is not compared, because
  // postings are numbered in the order in which their evidence arrived.
  {
    table: 'posting',
    key: ['signature', 'account', 'order_id'],
    where: `standing = 1 AND kind <> 'opening'`,
    find: `standing = 1 AND signature = ? AND account = ? AND order_id = ?`,
    omitted: ['id'],
  },
]

/** Tables that are compared only if the disk was never full. On a full disk, the engine may change a row of these
 *  tables by a decision that could not be recorded. */
const IDLE: readonly Repeated[] = [
  { table: 'account', key: ['account'] },
  { table: 'bot', key: ['account', 'bot'] },
  { table: 'token_state', key: ['account', 'bot', 'mint'] },
  { table: 'timer', key: ['id'] },
]

type Row = Readonly<Record<string, unknown>>

/** Yields the differences between a journal and its implied journal, which was computed from the recorded inputs and
 *  decisions. */
export function* unlikeImplied(recorded: Database, implied: Database): Generator<Finding, void, undefined> {
  const lost = recorded.prepare('SELECT count(*) FROM missing').pluck().get() as number
  for (const repeated of [...FIXED, ...MONEY, ...(lost === 0 ? IDLE : [])]) {
    const sql = statementsOf(repeated, implied)
    if (FIXED.includes(repeated) && isSame(sql.all, recorded, implied)) continue
    yield* differences(repeated, recorded.prepare(sql.find), implied.prepare(sql.all))
    yield* surplus(repeated, implied.prepare(sql.find), recorded.prepare(sql.all))
  }
  yield* changedSchema(recorded, implied)
}

function isSame(all: string, recorded: Database, implied: Database): boolean {
  const [one, other] = [recorded, implied].map((db) => db.prepare(all).raw().all())
  return JSON.stringify(one) === JSON.stringify(other)
}

function statementsOf({ table, key, where, find, omitted = [] }: Repeated, implied: Database) {
  const names = implied.prepare(`SELECT name FROM pragma_table_info('${table}') WHERE name <> 'checksum'`).pluck().all()
  const columns = [...new Set([...key, ...(names as string[])])].filter((name) => !omitted.includes(name)).join(', ')
  const found = find ?? key.map((name) => `${name} = ?`).join(' AND ')
  return {
    all: `SELECT ${columns} FROM "${table}"${where === undefined ? '' : ` WHERE ${where}`}`,
    find: `SELECT ${columns} FROM "${table}" WHERE ${found}`,
  }
}

function* differences(
  { table, key }: Repeated,
  find: Statement,
  implied: Statement,
): Generator<Finding, void, undefined> {
  for (const row of implied.iterate() as IterableIterator<Row>) {
    const found = find.get(...key.map((name) => row[name])) as Row | undefined
    if (found === undefined) yield missing(table, keyText(key, row))
    else
      for (const column in row)
        if (found[column] !== row[column])
          yield { table, row: keyText(key, row), problem: problemOf(column, found[column], row[column]) }
  }
}

function* surplus({ table, key }: Repeated, find: Statement, recorded: Statement): Generator<Finding, void, undefined> {
  for (const row of recorded.iterate() as IterableIterator<Row>)
    if (find.get(...key.map((name) => row[name])) === undefined)
      yield { table, row: keyText(key, row), problem: 'the recorded inputs and decisions do not produce this row' }
}

function missing(table: string, row: string): Finding {
  return { table, row, problem: 'the row is missing, but the recorded inputs and decisions produce it' }
}

function problemOf(column: string, found: unknown, implied: unknown): string {
  const inside = column === 'json' ? insideOf(found, implied) : undefined
  const [place, one, other] = inside ?? [column, found, implied]
  return `${place} is ${shown(one)}, but the recorded inputs and decisions produce ${shown(other)}`
}

/** Compares two JSON texts. Returns the first field that differs, with both values; undefined if a text is not JSON. */
function insideOf(found: unknown, implied: unknown): readonly [string, unknown, unknown] | undefined {
  try {
    const [one, other] = [JSON.parse(String(found)), JSON.parse(String(implied))]
    const { path, expected, got } = jsonDifference(one, other)
    return [path === '' ? 'json' : `json.${path}`, JSON.stringify(expected), JSON.stringify(got)]
  } catch {
    return undefined
  }
}

const SCHEMA = `SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'`

/** Removes comments and line breaks from SQL, because they differ between versions. */
function plainSql(sql: string): string {
  return sql.replace(/--.*$/gm, '').replace(/\s+/g, ' ').trim()
}

/** Yields the views, triggers and tables that differ from those that Sluice creates. Users read the views, and triggers
 *  write the ledger. */
function* changedSchema(recorded: Database, implied: Database): Generator<Finding, void, undefined> {
  const find = recorded.prepare(`SELECT sql FROM sqlite_schema WHERE type = ? AND name = ?`).pluck()
  for (const { type, name, sql } of implied.prepare(SCHEMA).all() as { type: string; name: string; sql: string }[]) {
    const found = find.get(type, name)
    if (found === undefined) yield missing('sqlite_schema', `${type} ${name}`)
    else if (plainSql(found as string) !== plainSql(sql)) {
      const problem = 'the definition differs from the one that Sluice creates'
      yield { table: 'sqlite_schema', row: `${type} ${name}`, problem }
    }
  }
  const triggers = recorded.prepare(`SELECT name FROM sqlite_schema WHERE type = 'trigger'`).pluck().all() as string[]
  const known = new Set(implied.prepare(`SELECT name FROM sqlite_schema WHERE type = 'trigger'`).pluck().all())
  for (const name of triggers)
    if (!known.has(name)) {
      const problem = 'Sluice did not create this trigger; it may change rows while they are written'
      yield { table: 'sqlite_schema', row: `trigger ${name}`, problem }
    }
}
