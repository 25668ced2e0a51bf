import type { Database } from 'better-sqlite3'

/** Makes a journal what it was before it had a ledger, and all that came after that. */
export function forgetLedger(db: Database): void {
  db.exec(`
    DROP VIEW conditional_orders; DROP TABLE conditional_order;
    DROP VIEW ledger; DROP VIEW audits; DROP TRIGGER fill_posted; DROP TRIGGER fill_reposted; DROP TRIGGER transaction_posted;
    DROP TRIGGER wallet_opened; DROP TRIGGER paper_opened;
    DROP TABLE posting; DROP TABLE audit; DROP TABLE audited; DROP INDEX wallet_transaction_signature`)
  db.pragma('user_version = 4')
}
