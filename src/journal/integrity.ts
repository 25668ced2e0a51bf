import type { Database } from 'better-sqlite3'

/** All that money is read from. The tape is not among them: its blocks have checksums, and it may be larger than one wants to read. */
const TABLES = [
  ...[
    'segment',
    'order',
    'attempt',
    'fill',
    'report',
    'position',
    'account',
    'bot',
    'timer',
    'mark',
    'slot',
    'counter',
  ],
  ...['wallet', 'wallet_transaction', 'watch', 'learned', 'conditional_order'],
]

/** What SQLite finds wrong with the tables that a restart reads; '' where nothing is. */
export function damageOf(db: Database): string {
  for (const table of TABLES) {
    const [finding] = db.pragma(`quick_check("${table}")`) as { quick_check: string }[]
    if (finding !== undefined && finding.quick_check !== 'ok') return `${table}: ${finding.quick_check}`
  }
  return ''
}
