import type { Database } from 'better-sqlite3'

/** Makes a journal what it was before it had a ledger. */
export function forgetLedger(db: Database): void {
  db.exec(`
    DROP VIEW ledger; DROP VIEW audits; DROP TRIGGER fill_posted; DROP TRIGGER fill_reposted; DROP TRIGGER transaction_posted;
    DROP TRIGGER wallet_opened; DROP TRIGGER paper_opened;
    DROP TABLE posting; DROP TABLE audit`)
  db.pragma('user_version = 4')
}
