import type { Database } from 'better-sqlite3'
import { TEXTS } from '../tape/packed-text.ts'
import { renewCommands } from './commands.ts'
import { addFillColumns } from './fills.ts'
import {
  ARCHIVED_DAYS,
  COMMANDS,
  CONDITIONAL_ORDERS,
  CUSTODY,
  FILL_COSTS,
  LEARNED,
  NET_RESULTS,
  ONE_REPORT,
  SOURCES,
  TAGS,
  TOKEN_STATES,
  TRIP_MARKS,
  WARNINGS,
} from './later-versions.ts'
import { LEDGER } from './ledger.ts'
import { addRecordColumns } from './record-columns.ts'
import { addRowChecksum, type SealReport, sealAll } from './seals.ts'
import { STRETCHES_AND_GAPS, STRETCHES_OF_ALL_BLOCKS } from './stretches.ts'
import { TAPE_VIEWS, VIEWS } from './views.ts'

/** Application id in the file's header, `SLUI`. It distinguishes a journal from other databases. */
export const APPLICATION_ID = 0x534c5549

/** Version of the block encoding (column.ts) and of its checksums (block-row.ts). Readers support this format and older
 *  ones. In format 1, one checksum covers both the columns that a scan reads and the columns that are loaded later. */
export const BLOCK_FORMAT = 2

// Table names are singular, view names plural. Times are ms since the epoch, amounts are lamports, `json` is the
// complete record.

const STREAM = `
CREATE TABLE segment (
  number INTEGER PRIMARY KEY,
  seq INTEGER NOT NULL,
  time INTEGER NOT NULL,
  config TEXT NOT NULL,
  code TEXT NOT NULL,
  seed INTEGER NOT NULL,
  json TEXT NOT NULL,
  ended INTEGER -- time of its orderly end; NULL while it runs and after a crash
);
CREATE TABLE input (
  seq INTEGER PRIMARY KEY,
  segment INTEGER NOT NULL,
  time INTEGER NOT NULL,
  kind TEXT NOT NULL,
  json TEXT NOT NULL
);
CREATE INDEX input_feed ON input (kind) WHERE kind IN ('feed', 'gap');
CREATE TABLE output (
  seq INTEGER NOT NULL,
  n INTEGER NOT NULL, -- position among the outputs of one seq
  time INTEGER NOT NULL,
  kind TEXT NOT NULL,
  bot TEXT NOT NULL,
  mint TEXT NOT NULL,
  code TEXT NOT NULL,
  reason TEXT NOT NULL,
  json TEXT NOT NULL,
  PRIMARY KEY (seq, n)
) WITHOUT ROWID;
`

// Rows that a restart reads (open orders, undecided attempts, unprocessed reports) begin their key with the same flag,
// so they are stored together. An index would also find them, but would add a page to the commit of every order.
const ORDERS = `
CREATE TABLE "order" (
  open INTEGER NOT NULL,
  number INTEGER NOT NULL, -- the id of the order is o<number>
  seq INTEGER NOT NULL,
  time INTEGER NOT NULL,
  account TEXT NOT NULL,
  bot TEXT NOT NULL,
  mint TEXT NOT NULL,
  side TEXT NOT NULL,
  class TEXT NOT NULL,
  reason TEXT NOT NULL, -- reason of the decision
  state TEXT NOT NULL,
  code TEXT NOT NULL,
  outcome TEXT NOT NULL, -- reason of the state
  json TEXT NOT NULL,
  PRIMARY KEY (open, number)
) WITHOUT ROWID;
CREATE TABLE attempt (
  undecided INTEGER NOT NULL,
  id TEXT NOT NULL, -- o<number>.<try>
  account TEXT NOT NULL,
  executor TEXT NOT NULL,
  state TEXT NOT NULL,
  signature TEXT NOT NULL,
  code TEXT NOT NULL,
  armed_at INTEGER NOT NULL,
  json TEXT NOT NULL,
  PRIMARY KEY (undecided, id)
) WITHOUT ROWID;
CREATE TABLE fill (
  signature TEXT NOT NULL,
  order_id TEXT NOT NULL,
  attempt_id TEXT NOT NULL,
  account TEXT NOT NULL,
  bot TEXT NOT NULL,
  mint TEXT NOT NULL,
  side TEXT NOT NULL,
  slot INTEGER NOT NULL,
  time INTEGER NOT NULL,
  tokens TEXT NOT NULL, -- base units; a supply may exceed 2^63
  decimals INTEGER NOT NULL,
  trade_lamports INTEGER NOT NULL,
  fee_lamports INTEGER NOT NULL,
  rent_lamports INTEGER NOT NULL,
  wallet_lamports INTEGER NOT NULL,
  final INTEGER NOT NULL,
  reversed INTEGER NOT NULL, -- 1: a fork reversed the fill
  taken INTEGER, -- seq of the input that passed the report to the engine
  PRIMARY KEY (signature, order_id)
) WITHOUT ROWID;
CREATE INDEX fill_taken ON fill (taken) WHERE taken IS NOT NULL;
CREATE TABLE report (
  taken INTEGER NOT NULL, -- 1: the engine has received the report; no such row since version 16, see ONE_REPORT
  id INTEGER NOT NULL,
  json TEXT NOT NULL,
  PRIMARY KEY (taken, id)
) WITHOUT ROWID;
`

const POSITION = `
  account TEXT NOT NULL,
  bot TEXT NOT NULL,
  mint TEXT NOT NULL,
  state TEXT NOT NULL,
  opened_at INTEGER NOT NULL,
  tokens TEXT NOT NULL,
  decimals INTEGER NOT NULL,
  cost_lamports INTEGER NOT NULL,
  realized_lamports INTEGER NOT NULL,
  fee_lamports INTEGER NOT NULL,
  json TEXT NOT NULL`

const MONEY = `
CREATE TABLE position (${POSITION},
  PRIMARY KEY (account, mint)
) WITHOUT ROWID;
CREATE TABLE past_position (${POSITION},
  closed_seq INTEGER NOT NULL
);
CREATE TABLE account (account TEXT PRIMARY KEY, json TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE bot (account TEXT NOT NULL, bot TEXT NOT NULL, json TEXT NOT NULL, PRIMARY KEY (account, bot)) WITHOUT ROWID;
CREATE TABLE timer (id INTEGER PRIMARY KEY, json TEXT NOT NULL);
CREATE TABLE mark (
  account TEXT NOT NULL,
  mint TEXT NOT NULL,
  high_price REAL NOT NULL,
  PRIMARY KEY (account, mint)
) WITHOUT ROWID;
CREATE TABLE slot (
  key TEXT NOT NULL,
  id INTEGER NOT NULL,
  boot TEXT NOT NULL,
  taken_at INTEGER NOT NULL, -- ns of that boot
  done_at INTEGER,
  PRIMARY KEY (key, id)
) WITHOUT ROWID;
CREATE TABLE counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE frame (id INTEGER PRIMARY KEY, time INTEGER NOT NULL, why TEXT NOT NULL, text TEXT NOT NULL);
`

// The columns that a scan of the tape needs come first: SQLite stores a long row in a chain of pages, in the order of
// the columns, and reads only up to the last column that is needed. An index would not help a scan, so there is none.
const BLOCKS = `
CREATE TABLE block (
  last_seq INTEGER PRIMARY KEY,
  segment INTEGER NOT NULL, -- 0: imported
  format INTEGER NOT NULL,
  rows INTEGER NOT NULL,
  rows_before INTEGER NOT NULL, -- rows of the tape before this block, so that rows are counted without reading every block
  first_seq INTEGER NOT NULL,
  runs INTEGER NOT NULL, -- number of ranges without a gap in seq; those after the first are in table run
  first_time INTEGER NOT NULL,
  last_time INTEGER NOT NULL,
  mint_count INTEGER NOT NULL,
  kind BLOB NOT NULL,
  token_index BLOB,
  time BLOB NOT NULL,
  price BLOB NOT NULL,
  amount BLOB NOT NULL,
  size BLOB NOT NULL,
  stamp BLOB NOT NULL,
  stamp_exact INTEGER NOT NULL, -- 0: offsets to first_time, 1: doubles
  mints TEXT NOT NULL, -- JSON: array
  checksum INTEGER NOT NULL, -- CRC-32 of the columns that a scan reads, see block-row.ts
  market_cap BLOB NOT NULL,
  extra BLOB NOT NULL,
  extra_index BLOB,
  extra2 BLOB NOT NULL,
  extra2_index BLOB,
  trader BLOB NOT NULL,
  trader_index BLOB,
  details TEXT, -- JSON: row to details of a new token
  odd TEXT, -- JSON: {signature, trader}, row to a text that is not the base58 of a key or signature
  signature BLOB NOT NULL,
  signature_index BLOB,
  text_checksum INTEGER NOT NULL
);
CREATE TABLE run (
  block INTEGER NOT NULL, -- last_seq of the block
  row INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  PRIMARY KEY (block, row)
) WITHOUT ROWID;
`

const MISSING = `
CREATE TABLE missing ( -- rows that were not written because the disk was full
  first_seq INTEGER PRIMARY KEY,
  last_seq INTEGER NOT NULL,
  segment INTEGER NOT NULL,
  first_time INTEGER NOT NULL,
  last_time INTEGER NOT NULL,
  rows INTEGER NOT NULL
);
`

const DECODING = `
CREATE TABLE number (n INTEGER PRIMARY KEY); -- 0 to 511, for queries that count
CREATE TABLE digits (code TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID; -- digits of keys and signatures, see packed-text.ts
CREATE TABLE power2 (exponent INTEGER PRIMARY KEY, value REAL NOT NULL); -- value of a double's last bit, by the exponent field
`

const LATE_CHECKSUM = 'ALTER TABLE block ADD COLUMN late_checksum INTEGER'

/** Creates the tables of blocks, and the views that decode them, in the file of an archived day. */
export function createTapeTables(db: Database): void {
  db.exec(BLOCKS + LATE_CHECKSUM)
  db.exec(DECODING)
  fillDecodingTables(db)
  db.exec(TAPE_VIEWS)
}

/** Fills the tables with which the views decode blocks. */
function fillDecodingTables(db: Database): void {
  const number = db.prepare('INSERT INTO number VALUES (?)')
  for (let n = 0; n < 512; n++) number.run(n)
  const power = db.prepare('INSERT INTO power2 VALUES (?, ?)')
  for (let exponent = 0; exponent < 2047; exponent++) power.run(exponent, 2 ** (Math.max(exponent, 1) - 1075))
  const digits = db.prepare('INSERT INTO digits VALUES (?, ?)')
  for (const [code, text] of TEXTS.entries()) digits.run(code.toString(16).toUpperCase().padStart(3, '0'), text)
}

/** The entry with index N migrates a journal from version N to version N + 1. Entries are never edited after a
 *  release. */
const MIGRATIONS: readonly ((db: Database, sealed?: SealReport) => void)[] = [
  (db) => {
    db.exec(STREAM + ORDERS + MONEY + BLOCKS + MISSING + DECODING)
    fillDecodingTables(db)
    db.exec(VIEWS)
  },
  (db) => db.exec(CUSTODY),
  (db) => db.exec(LEARNED),
  (db) => db.exec(FILL_COSTS),
  (db) => db.exec(LEDGER),
  (db) => db.exec(CONDITIONAL_ORDERS),
  (db) => db.exec(LATE_CHECKSUM),
  () => {}, // Since this version, a row may contain the changes of a key list instead of the list, see key-rows.ts.
  (db) => db.exec(STRETCHES_AND_GAPS),
  sealAll,
  (db) => db.exec(TAGS + TOKEN_STATES + WARNINGS),
  (db) => db.exec(SOURCES),
  (db) => db.exec(TRIP_MARKS),
  (db) => db.exec(COMMANDS),
  (db) => db.exec(ARCHIVED_DAYS + STRETCHES_OF_ALL_BLOCKS),
  (db) => db.exec(ONE_REPORT),
  () => {}, // Since this version, records may be compressed, see packed-records.ts.
  addRecordColumns,
  (db) => db.exec(STRETCHES_OF_ALL_BLOCKS), // Since this version, the view `gaps` uses an index.
  (db) => db.exec(NET_RESULTS),
]

export const SCHEMA_VERSION = MIGRATIONS.length

/** Migrates a journal to the present schema. Each step is one transaction; a new journal is created in one transaction,
 *  because the commits of the single steps would take most of the time. `sealed` receives the progress of the longest
 *  step. */
export function migrate(db: Database, sealed?: SealReport): void {
  addRowChecksum(db)
  const first = versionOf(db)
  for (let version = first; version < SCHEMA_VERSION; ) {
    const end = first === 0 ? SCHEMA_VERSION : version + 1
    db.transaction(() => {
      for (const step of MIGRATIONS.slice(version, end)) step(db, sealed)
      db.pragma(`application_id = ${APPLICATION_ID}`)
      db.pragma(`user_version = ${end}`)
    }).exclusive()
    version = end
  }
  addFillColumns(db)
  renewCommands(db)
}

export function versionOf(db: Database): number {
  return db.pragma('user_version', { simple: true }) as number
}
