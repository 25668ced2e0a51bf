import type { Database } from 'better-sqlite3'
import { SEALED } from '../../src/journal/schema/seals.ts'
import { checksumOf, LATE_COLUMNS, SCAN_COLUMNS } from '../../src/journal/tape/block-row.ts'

/** Converts the blocks of a tape to the old format, without a separate checksum of the rarely read columns. */
export function oldBlocks(db: Database): void {
  db.exec('UPDATE block SET format = 1')
  const columns = [...SCAN_COLUMNS.slice(0, -1), ...LATE_COLUMNS, 'mints']
  const blocks = db
    .prepare(`SELECT ${columns.join(', ')} FROM block`)
    .raw()
    .all() as unknown[][]
  const update = db.prepare('UPDATE block SET checksum = ?, late_checksum = NULL WHERE last_seq = ?')
  for (const values of blocks) update.run(checksumOf(values), values[0])
}

/** Converts a journal to the last version that had no ledger. */
export function forgetLedger(db: Database): void {
  oldBlocks(db)
  for (const table of Object.keys(SEALED)) db.exec(`ALTER TABLE ${table} DROP COLUMN checksum`)
  for (const trigger of ['fill_posted', 'fill_reposted', 'transaction_posted']) db.exec(`DROP TRIGGER ${trigger}`)
  for (const view of ['orders', 'attempts']) db.exec(`DROP VIEW ${view}; CREATE VIEW ${view} AS SELECT 1`)
  for (const name of ['lamports', 'reserve_lamports', 'price', 'tag'])
    db.exec(`ALTER TABLE "order" DROP COLUMN ${name}`)
  for (const name of ['slippage_percent', 'priority_fee_lamports']) db.exec(`ALTER TABLE attempt DROP COLUMN ${name}`)
  db.exec(`
    DROP VIEW gaps; DROP VIEW stretches; DROP VIEW blocks; DROP TABLE archived_block; DROP TABLE tape_day;
    ALTER TABLE segment DROP COLUMN last_seq;
    ALTER TABLE block DROP COLUMN late_checksum;
    CREATE VIEW gaps AS SELECT 1;
    DROP VIEW conditional_orders; DROP TABLE conditional_order;
    DROP VIEW ledger; DROP VIEW audits;
    DROP TRIGGER wallet_opened; DROP TRIGGER paper_opened;
    DROP VIEW warnings; DROP VIEW sources; DROP INDEX input_source; DROP VIEW commands; DROP INDEX input_command; DROP VIEW token_states; DROP TABLE token_state; DROP TABLE trip_mark;
    DROP VIEW net_results; DROP TABLE net_result;
    DROP TABLE posting; DROP TABLE audit; DROP TABLE audited; DROP INDEX wallet_transaction_signature`)
  db.pragma('user_version = 4')
}
