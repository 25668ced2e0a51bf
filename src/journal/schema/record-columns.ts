// Columns of orders and attempts that the views and triggers read. Before version 18, they read the JSON of the record.

import type { Database } from 'better-sqlite3'
import { LEDGER_FROM_COLUMNS } from './ledger.ts'
import { checksumSql, checksumSqlOf, SEALED } from './seals.ts'

const dateOf = (time: string): string => `strftime('%Y-%m-%d %H:%M:%f', ${time} / 1000.0, 'unixepoch') AS at`

const ORDERS = `
ALTER TABLE "order" ADD COLUMN lamports INTEGER; -- size of a buy; NULL for a sale
ALTER TABLE "order" ADD COLUMN reserve_lamports INTEGER;
ALTER TABLE "order" ADD COLUMN price REAL; -- robust price at the decision
ALTER TABLE "order" ADD COLUMN tag TEXT NOT NULL DEFAULT '';
UPDATE "order" SET lamports = json_extract(json, '$.size.lamports'), reserve_lamports = json_extract(json, '$.reserveLamports'),
  price = price_in(json), tag = coalesce(json_extract(json, '$.tag'), '') WHERE json_valid(json);
DROP VIEW orders;
CREATE VIEW orders AS
SELECT 'o' || number AS id, seq, time, ${dateOf('time')}, account, bot, mint, side, class, state, code, reason, outcome,
  lamports / 1e9 AS sol, reserve_lamports / 1e9 AS reserve_sol, tag
FROM "order";
`

/** A row whose checksum did not match before gets no new checksum, so that the change is still noticed. */
const ATTEMPTS = `
ALTER TABLE attempt ADD COLUMN slippage_percent NUMERIC;
ALTER TABLE attempt ADD COLUMN priority_fee_lamports INTEGER;
UPDATE attempt SET slippage_percent = json_extract(json, '$.slippagePercent'),
  priority_fee_lamports = json_extract(json, '$.priorityFeeLamports') WHERE json_valid(json);
UPDATE attempt SET checksum = ${checksumSql('attempt')}
  WHERE checksum = ${checksumSqlOf(SEALED.attempt.filter((name) => !['slippage_percent', 'priority_fee_lamports'].includes(name)))};
DROP VIEW attempts;
CREATE VIEW attempts AS
SELECT id, substr(id, 1, instr(id, '.') - 1) AS order_id, account, executor, state, signature, code, armed_at, ${dateOf('armed_at')},
  slippage_percent, priority_fee_lamports / 1e9 AS priority_fee_sol
FROM attempt;
`

export function addRecordColumns(db: Database): void {
  // SQLite may read a decimal number as a slightly different double than JavaScript does.
  db.function(
    'price_in',
    { deterministic: true },
    (json) => (JSON.parse(String(json)) as { price?: number }).price ?? null,
  )
  db.exec(ORDERS + ATTEMPTS + LEDGER_FROM_COLUMNS)
}
