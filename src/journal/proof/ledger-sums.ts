import type { Database } from 'better-sqlite3'
import { LINES } from '../schema/ledger.ts'
import type { Finding } from './finding.ts'

const OPPOSITES = ['wallet', ...LINES].map((line) => `o.${line} <> -r.${line}`).join(' OR ')

/** Rules for the sums of the ledger. The SQL of each rule finds the rows that break it. */
const RULES: readonly { readonly table: string; readonly sql: string; readonly problem: string }[] = [
  {
    table: 'posting',
    sql: `SELECT 'id ' || id FROM posting WHERE wallet + ${LINES.join(' + ')} <> 0`,
    problem: 'the amounts of the posting do not add up to 0',
  },
  {
    table: 'posting',
    sql: `SELECT 'id ' || r.id FROM posting r LEFT JOIN posting o ON o.id = r.reverses
      WHERE r.reverses IS NOT NULL AND (o.id IS NULL OR o.standing = 1 OR r.standing = 1 OR o.account <> r.account
        OR o.signature <> r.signature OR o.order_id <> r.order_id OR o.kind <> r.kind OR ${OPPOSITES})`,
    problem: 'this posting is a reversal, but it does not match the posting that it reverses',
  },
  {
    table: 'posting',
    sql: `SELECT 'id ' || id FROM posting o WHERE standing = 0 AND reverses IS NULL
      AND NOT EXISTS (SELECT 1 FROM posting r WHERE r.reverses = o.id)`,
    problem: 'this posting is marked as no longer valid, but no other posting reverses it',
  },
  {
    table: 'audited',
    sql: `SELECT 'account ' || account FROM (
      SELECT account, sum(wallet) AS lamports FROM posting WHERE audited IS NOT NULL GROUP BY account) p
      WHERE NOT EXISTS (SELECT 1 FROM audited a WHERE a.account = p.account AND a.lamports = p.lamports)`,
    problem: 'the row has no total for the account, or a total other than the sum of its audited postings',
  },
  {
    table: 'posting',
    sql: `SELECT 'openings of account ' || a.account FROM account a
      WHERE a.account NOT LIKE 'live|%' AND json_type(a.json, '$.lamports') = 'integer'
        AND NOT EXISTS (SELECT 1 FROM missing)
        AND json_extract(a.json, '$.lamports') <>
          (SELECT coalesce(sum(p.wallet), 0) FROM posting p WHERE p.account = a.account)
          - (SELECT coalesce(sum(f.wallet_lamports), 0) FROM fill f
             WHERE f.account = a.account AND f.taken IS NULL AND f.reversed = 0)`,
    problem: 'the postings of the account do not add up to the balance that the engine recorded',
  },
]

export function* brokenSums(db: Database): Generator<Finding, void, undefined> {
  for (const { table, sql, problem } of RULES)
    for (const row of db.prepare(sql).pluck().iterate() as IterableIterator<string>) yield { table, row, problem }
}
