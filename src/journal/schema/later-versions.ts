// Tables and views that later versions of the schema add, in the order of the versions. `migrations.ts` lists the
// steps.

/** Tables and view of the wallet audit, and of attempts that may still have executed. */
export const CUSTODY = `
CREATE TABLE wallet (account TEXT PRIMARY KEY, json TEXT NOT NULL) WITHOUT ROWID; -- progress of the audit
CREATE TABLE wallet_transaction (
  account TEXT NOT NULL,
  slot INTEGER NOT NULL,
  signature TEXT NOT NULL,
  class TEXT NOT NULL,
  attempt_id TEXT NOT NULL, -- '' unless an attempt made the transaction
  lamports INTEGER NOT NULL, -- change of the balance of the wallet
  time INTEGER,
  json TEXT NOT NULL,
  PRIMARY KEY (account, slot, signature)
) WITHOUT ROWID;
CREATE TABLE watch ( -- attempts that may still turn out to have executed
  attempt_id TEXT PRIMARY KEY,
  order_id TEXT NOT NULL,
  progress TEXT NOT NULL, -- progress of the proof; '' after the end
  json TEXT NOT NULL
) WITHOUT ROWID;
CREATE VIEW wallet_transactions AS
SELECT account, slot, time, strftime('%Y-%m-%d %H:%M:%f', time / 1000.0, 'unixepoch') AS at, class, attempt_id,
  lamports / 1e9 AS sol, signature
FROM wallet_transaction;
`

/** Table of facts about the service that its documentation leaves open, and of values at the end of a backtest
 *  (`Learned`). */
export const LEARNED = `
CREATE TABLE learned (
  about TEXT NOT NULL, -- an account, or a service's host
  name TEXT NOT NULL,
  time INTEGER NOT NULL,
  json TEXT NOT NULL,
  PRIMARY KEY (about, name)
) WITHOUT ROWID;
`

/** SQL of the itemized costs of a fill of an older version, which stored only the sums of these costs. */
const costsOf = (trade: string, fee: string, rent: string): string => `json_object(
  'tradeLamports', ${trade}, 'venueFeeLamports', 0, 'serviceFeeLamports', 0,
  'baseFeeLamports', min(${fee}, 5000), 'priorityFeeLamports', max(${fee} - 5000, 0), 'tipLamports', 0,
  'rentPaidLamports', max(${rent}, 0), 'rentReturnedLamports', max(-${rent}, 0), 'wrappedLamports', 0, 'remainderLamports', 0,
  'withheldTokens', json('{"$bigint":"0"}'), 'unknown', json('["venueFee","serviceFee"]'))`

const inReport = (name: string): string => `json_extract(json, '$.fill.${name}Lamports')`
const sol = (name: string): string => `json_extract(costs, '$.${name}Lamports') / 1e9`

/** Adds itemized costs (`FillCosts` as JSON) to fills, in addition to the sums. Also adds them to the fills in reports
 *  that the engine has not processed, because the engine receives these after a restart. */
export const FILL_COSTS = `
ALTER TABLE fill ADD COLUMN costs TEXT NOT NULL DEFAULT '';
UPDATE fill SET costs = ${costsOf('trade_lamports', 'fee_lamports', 'rent_lamports')};
UPDATE report SET json = json_set(json, '$.fill.costs', ${costsOf(inReport('trade'), inReport('fee'), inReport('rent'))})
  WHERE taken = 0 AND json_type(json, '$.fill') = 'object';
DROP VIEW fills;
CREATE VIEW fills AS
SELECT order_id, attempt_id, account, bot, mint, side, slot, time, strftime('%Y-%m-%d %H:%M:%f', time / 1000.0, 'unixepoch') AS at,
  CAST(tokens AS REAL) / CAST('1e' || decimals AS REAL) AS tokens,
  trade_lamports / 1e9 AS sol, fee_lamports / 1e9 AS fee_sol, rent_lamports / 1e9 AS rent_sol, wallet_lamports / 1e9 AS wallet_sol,
  ${sol('trade')} AS trade_sol, ${sol('venueFee')} AS venue_fee_sol, ${sol('serviceFee')} AS service_fee_sol,
  ${sol('baseFee')} AS base_fee_sol, ${sol('priorityFee')} AS priority_fee_sol, ${sol('tip')} AS tip_sol,
  ${sol('rentPaid')} AS rent_paid_sol, ${sol('rentReturned')} AS rent_returned_sol, ${sol('wrapped')} AS wrapped_sol,
  ${sol('remainder')} AS remainder_sol, json_extract(costs, '$.withheldTokens."$bigint"') AS withheld, json_extract(costs, '$.unknown') AS unknown,
  signature, final, reversed
FROM fill;
`

/** Table and view of conditional orders. The key begins with `open`, so that open conditional orders are stored
 *  together; a restart reads only these. */
export const CONDITIONAL_ORDERS = `
CREATE TABLE conditional_order (
  open INTEGER NOT NULL,
  number INTEGER NOT NULL, -- the id of the conditional order is c<number>
  time INTEGER NOT NULL,
  account TEXT NOT NULL,
  bot TEXT NOT NULL,
  mint TEXT NOT NULL,
  side TEXT NOT NULL,
  state TEXT NOT NULL,
  code TEXT NOT NULL,
  reason TEXT NOT NULL,
  json TEXT NOT NULL,
  PRIMARY KEY (open, number)
) WITHOUT ROWID;
CREATE VIEW conditional_orders AS
SELECT 'c' || number AS id, time, strftime('%Y-%m-%d %H:%M:%f', time / 1000.0, 'unixepoch') AS at, account, bot, mint, side,
  state, code, reason, json_extract(json, '$.when.kind') AS kind, json_extract(json, '$.when.price') AS price,
  json_extract(json, '$.orderId') AS order_id
FROM conditional_order;
`

/** Adds the tags of orders to the views. The tables need no column for them, because a tag is in its order's JSON. */
export const TAGS = `
DROP VIEW orders;
CREATE VIEW orders AS
SELECT 'o' || number AS id, seq, time, strftime('%Y-%m-%d %H:%M:%f', time / 1000.0, 'unixepoch') AS at, account, bot, mint, side, class,
  state, code, reason, outcome, json_extract(json, '$.size.lamports') / 1e9 AS sol,
  json_extract(json, '$.reserveLamports') / 1e9 AS reserve_sol, coalesce(json_extract(json, '$.tag'), '') AS tag
FROM "order";
DROP VIEW conditional_orders;
CREATE VIEW conditional_orders AS
SELECT 'c' || number AS id, time, strftime('%Y-%m-%d %H:%M:%f', time / 1000.0, 'unixepoch') AS at, account, bot, mint, side,
  state, code, reason, json_extract(json, '$.when.kind') AS kind, json_extract(json, '$.when.price') AS price,
  json_extract(json, '$.orderId') AS order_id, coalesce(json_extract(json, '$.action.options.tag'), '') AS tag
FROM conditional_order;
`

/** Table and view of `token.durable`. A row is deleted when its token is freed. */
export const TOKEN_STATES = `
CREATE TABLE token_state (
  account TEXT NOT NULL,
  bot TEXT NOT NULL,
  mint TEXT NOT NULL,
  day INTEGER NOT NULL, -- UTC day of the last event, days since 1970
  json TEXT NOT NULL,
  PRIMARY KEY (account, bot, mint)
) WITHOUT ROWID;
CREATE VIEW token_states AS
SELECT account, bot, mint, json_extract(json, '$.seenAt') AS seen_at,
  strftime('%Y-%m-%d %H:%M:%f', json_extract(json, '$.seenAt') / 1000.0, 'unixepoch') AS at,
  date(day * 86400, 'unixepoch') AS day, json_extract(json, '$.value') AS value
FROM token_state;
`

/** View of the warnings (`bot.log.warn`) and messages (`bot.message`) of strategies. */
export const WARNINGS = `
CREATE VIEW warnings AS
SELECT seq, n, time, strftime('%Y-%m-%d %H:%M:%f', time / 1000.0, 'unixepoch') AS at, bot, mint,
  CASE kind WHEN 'log' THEN 'warning' ELSE 'message' END AS kind, reason AS text, json_extract(json, '$.fields') AS fields
FROM output WHERE kind IN ('log', 'message');
`

/** Adds the view of the recorded answers of sources, and the index with which a start finds the last answers. An answer
 *  without data repeats the data of the previous answer. */
export const SOURCES = `
CREATE INDEX input_source ON input (kind) WHERE kind = 'source';
CREATE VIEW sources AS
SELECT seq, segment, time, strftime('%Y-%m-%d %H:%M:%f', time / 1000.0, 'unixepoch') AS at, json_extract(json, '$.bot') AS bot,
  json_extract(json, '$.name') AS name, json_extract(json, '$.data') AS data
FROM input WHERE kind = 'source';
`

/** Adds the view of the operators' commands, and the index with which a start finds commands from Telegram. */
export const COMMANDS = `
CREATE INDEX input_command ON input (kind) WHERE kind = 'command';
CREATE VIEW commands AS
SELECT seq, segment, time, strftime('%Y-%m-%d %H:%M:%f', time / 1000.0, 'unixepoch') AS at, json_extract(json, '$.by') AS by,
  json_extract(json, '$.command.name') AS command, json_extract(json, '$.command.mint') AS mint,
  json_extract(json, '$.command.bot') AS bot, json_extract(json, '$.command.sol') AS sol,
  json_extract(json, '$.command.order') AS order_id, json_extract(json, '$.update') AS telegram_update
FROM input WHERE kind = 'command';
`

/** Adds a table for the best and the worst profit that an open position has reached since its row was last written. */
export const TRIP_MARKS = `
CREATE TABLE trip_mark (
  account TEXT NOT NULL,
  mint TEXT NOT NULL,
  best_lamports INTEGER NOT NULL,
  best_percent REAL NOT NULL,
  worst_lamports INTEGER NOT NULL,
  worst_percent REAL NOT NULL,
  checksum INTEGER,
  PRIMARY KEY (account, mint)
) WITHOUT ROWID;
`

/** Adds the results of the bots over time. */
export const NET_RESULTS = `
CREATE TABLE net_result (
  time INTEGER NOT NULL,
  account TEXT NOT NULL,
  bot TEXT NOT NULL,
  net_lamports INTEGER NOT NULL, -- since the first start of the journal, as if the open positions were sold at that time
  checksum INTEGER
);
CREATE VIEW net_results AS
SELECT time, strftime('%Y-%m-%d %H:%M:%f', time / 1000.0, 'unixepoch') AS at, account, bot, net_lamports / 1e9 AS net_sol
FROM net_result;
`

/** Columns of a block that stay in the journal when the block moves to the file of its day. */
const HEAD = `segment INTEGER NOT NULL,
  format INTEGER NOT NULL,
  rows INTEGER NOT NULL,
  rows_before INTEGER NOT NULL,
  first_seq INTEGER NOT NULL,
  runs INTEGER NOT NULL,
  first_time INTEGER NOT NULL,
  last_time INTEGER NOT NULL,
  checksum INTEGER NOT NULL,
  late_checksum INTEGER,
  text_checksum INTEGER NOT NULL`

const HEAD_COLUMNS =
  'last_seq, segment, format, rows, rows_before, first_seq, runs, first_time, last_time, checksum, late_checksum, text_checksum'

/** Adds the archived days of the tape, and a view of all blocks. A block is either in the table `block`, or in the file
 *  of a day; then `archived_block` has its main columns. The columns have the same types in both tables, because SQLite
 *  otherwise cannot merge the two parts of the view by key. */
export const ARCHIVED_DAYS = `
CREATE TABLE tape_day (
  day TEXT PRIMARY KEY, -- UTC day, YYYY-MM-DD
  journal TEXT NOT NULL, -- identity of the journal that recorded the day, as in the file
  first_seq INTEGER NOT NULL,
  last_seq INTEGER NOT NULL,
  first_time INTEGER NOT NULL,
  last_time INTEGER NOT NULL,
  blocks INTEGER NOT NULL,
  rows INTEGER NOT NULL,
  bytes INTEGER NOT NULL, -- size of the file
  sha256 TEXT NOT NULL, -- of the file
  whole INTEGER NOT NULL, -- 0 while its blocks move between journal and file
  checksum INTEGER
) WITHOUT ROWID;
CREATE TABLE archived_block (
  last_seq INTEGER PRIMARY KEY,
  ${HEAD},
  day TEXT NOT NULL
);
CREATE VIEW blocks AS
SELECT ${HEAD_COLUMNS}, CAST(NULL AS TEXT) AS day FROM block
UNION ALL SELECT ${HEAD_COLUMNS}, day FROM archived_block;
`

/** Deletes the reports that the engine has received, because the inputs contain them as well. A counter replaces the
 *  highest id among them. */
export const ONE_REPORT = `
INSERT OR REPLACE INTO counter (name, value) SELECT 'nextReport', max(id) + 1 FROM report WHERE taken = 1 HAVING count(*) > 0;
DELETE FROM report WHERE taken = 1;
`
