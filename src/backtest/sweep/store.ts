import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import type { Json } from '../../base/json.ts'
import type { SetResult } from './sweep.ts'

/** Application id in the file's header: "slsw". */
const APPLICATION_ID = 0x736c_7377
const FORMAT = 1

const TABLES = `
CREATE TABLE sweep (what TEXT NOT NULL) STRICT;
CREATE TABLE result (
  set_number INTEGER PRIMARY KEY, params TEXT NOT NULL, threw TEXT NOT NULL,
  net_lamports INTEGER NOT NULL, sample_lamports INTEGER NOT NULL, realized_lamports INTEGER NOT NULL,
  fee_lamports INTEGER NOT NULL, venue_lamports INTEGER NOT NULL,
  orders INTEGER NOT NULL, buys INTEGER NOT NULL, sells INTEGER NOT NULL, open INTEGER NOT NULL
) STRICT;
CREATE VIEW results AS SELECT set_number AS "set", params, net_lamports / 1e9 AS net_sol,
  sample_lamports / 1e9 AS in_sample_sol, (net_lamports - sample_lamports) / 1e9 AS hold_out_sol,
  realized_lamports / 1e9 AS realized_sol, fee_lamports / 1e9 AS fees_sol, venue_lamports / 1e9 AS venue_sol,
  orders, buys, sells, open, threw FROM result
  ORDER BY threw <> '', buys + sells = 0 OR sample_lamports = 0, sample_lamports DESC, set_number;
`

interface ResultRow {
  readonly set_number: number
  readonly params: string
  readonly threw: string
  readonly net_lamports: number
  readonly sample_lamports: number
  readonly realized_lamports: number
  readonly fee_lamports: number
  readonly venue_lamports: number
  readonly orders: number
  readonly buys: number
  readonly sells: number
  readonly open: number
}

/** The results of a sweep in a file. Results that are stored are not computed again. */
export class SweepStore {
  readonly #db: Database.Database

  /** Opens or creates the file. `what`: hash of everything that the results depend on. Throws SluiceError (exit 2) if
   *  the file belongs to another sweep. */
  constructor(path: string, what: string) {
    mkdirSync(dirname(path), { recursive: true })
    closeSync(openSync(path, 'a', 0o600))
    this.#db = new Database(path)
    try {
      this.#open(path, what)
    } catch (error) {
      this.#db.close()
      throw error
    }
  }

  #open(path: string, what: string): void {
    const db = this.#db
    const isNew = readable(path, () => db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get()) === 0
    if (isNew)
      db.transaction(() => {
        db.exec(TABLES)
        db.pragma(`application_id = ${APPLICATION_ID}`)
        db.pragma(`user_version = ${FORMAT}`)
        db.prepare('INSERT INTO sweep VALUES (?)').run(what)
      })()
    if (db.pragma('application_id', { simple: true }) !== APPLICATION_ID) throw notOurs(path)
    if ((db.pragma('user_version', { simple: true }) as number) > FORMAT)
      throw new SluiceError(`${path} was written by a newer version of Sluice; update Sluice to continue it`)
    if (db.prepare('SELECT what FROM sweep').pluck().get() === what) return
    throw new SluiceError(
      `${path} has the results of another sweep (other params, tape, code or configuration); choose another folder`,
      ExitCode.usage,
    )
  }

  /** Adds the results of one pass. They become durable together. */
  add(results: readonly SetResult[]): void {
    const insert = this.#db.prepare(
      `INSERT OR REPLACE INTO result VALUES (@set, @params, @threw, @netLamports, @sampleLamports, @realizedLamports,
         @feeLamports, @venueLamports, @orders, @buys, @sells, @open)`,
    )
    this.#db.transaction(() => {
      for (const result of results) insert.run({ ...result, params: JSON.stringify(result.params) })
    })()
  }

  results(): SetResult[] {
    return this.#db
      .prepare<[], ResultRow>('SELECT * FROM result ORDER BY set_number')
      .all()
      .map((row) => ({
        set: row.set_number,
        params: JSON.parse(row.params) as Json,
        threw: row.threw,
        netLamports: row.net_lamports,
        sampleLamports: row.sample_lamports,
        realizedLamports: row.realized_lamports,
        feeLamports: row.fee_lamports,
        venueLamports: row.venue_lamports,
        orders: row.orders,
        buys: row.buys,
        sells: row.sells,
        open: row.open,
      }))
  }

  close(): void {
    this.#db.close()
  }
}

/** Net result of the best set of a sweep in the sample, lamports; null if no set traded. Throws SluiceError (exit 2) if
 *  the file is not that of a sweep. */
export function bestNetOf(path: string): number | null {
  return readable(path, () => {
    const db = new Database(path, { readonly: true, fileMustExist: true })
    try {
      const sql = `SELECT net_lamports FROM result WHERE threw = '' AND buys + sells > 0 ORDER BY sample_lamports DESC LIMIT 1`
      return (db.prepare<[], number>(sql).pluck().get() ?? null) as number | null
    } finally {
      db.close()
    }
  })
}

function readable<T>(path: string, run: () => T): T {
  try {
    return run()
  } catch (error) {
    if (error instanceof Database.SqliteError) throw notOurs(path)
    throw error
  }
}

function notOurs(path: string): SluiceError {
  return new SluiceError(`${path} is not a results file of a sweep; choose another folder`, ExitCode.usage)
}
