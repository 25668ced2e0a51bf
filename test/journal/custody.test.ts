import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { lamports } from '../../src/base/units.ts'
import { openReader } from '../../src/journal/reader/reader.ts'
import { openJournal } from '../../src/journal/writer/journal.ts'
import type { WalletCursor, WalletTransaction, Watch } from '../../src/orders/audit-records.ts'
import { ACCOUNT, attempt, JOURNAL_OPTIONS, journalPath, order } from '../support/journal-samples.ts'

const cursor = (slot: number): WalletCursor => ({
  ...{ account: ACCOUNT, genesis: 'g', slot, height: slot - 9, lamports: lamports(7), signature: `s${slot}` },
})
const transaction = (slot: number, more: Partial<WalletTransaction> = {}): WalletTransaction => ({
  ...{ account: ACCOUNT, signature: `s${slot}`, slot, class: 'inflow', attemptId: '', lamports: lamports(1) },
  ...{ time: 1_700_000_000_000, after: slot - 1, failed: false, ...more },
})
const watch = (orderNumber: number, baseline: number, progress = ''): Watch => ({
  attempt: attempt(orderNumber, { baseline: { slot: baseline, height: baseline - 9 } }),
  ...{ ended: progress === '', lostAt: null, bound: null, boundSlot: null, signatures: [], progress },
})

test('a restart restores the attempts without a proved outcome, and the wallet transactions since the oldest of these attempts', async () => {
  const path = journalPath()
  const journal = openJournal(path, JOURNAL_OPTIONS)
  journal.write({ kind: 'watch', watch: watch(1, 100) })
  journal.write({ kind: 'watch', watch: watch(2, 120) })
  journal.write({ kind: 'watch', watch: watch(3, 90) })
  journal.write({ kind: 'watchOver', attemptId: 'o3.1' })
  journal.write({ kind: 'wallet', cursor: cursor(110), transactions: [transaction(95), transaction(105)] })
  journal.write({ kind: 'wallet', cursor: cursor(130), transactions: [transaction(125, { class: 'foreign' })] })
  journal.write({ kind: 'wallet', cursor: cursor(140), transactions: [transaction(105, { class: 'ours' })] })
  await journal.close()
  const reader = openReader(path)
  const { watches, wallets } = reader.recover()
  reader.checkIntegrity()
  reader.close()
  expect(watches).toEqual([watch(1, 100), watch(2, 120)])
  expect(wallets).toEqual([
    {
      cursor: cursor(140),
      transactions: [transaction(105, { class: 'ours' }), transaction(125, { class: 'foreign' })],
    },
  ])
  const db = new Database(path, { readonly: true })
  expect(db.prepare('SELECT slot, class, at, sol FROM wallet_transactions ORDER BY slot').all()).toEqual([
    { slot: 95, class: 'inflow', at: '2023-11-14 22:13:20.000', sol: 1e-9 },
    { slot: 105, class: 'ours', at: '2023-11-14 22:13:20.000', sol: 1e-9 },
    { slot: 125, class: 'foreign', at: '2023-11-14 22:13:20.000', sol: 1e-9 },
  ])
  db.close()
})

test("while an outcome is being proved, the order's reason is the progress of the proof", async () => {
  const path = journalPath()
  const journal = openJournal(path, JOURNAL_OPTIONS)
  for (const number of [1, 2]) journal.output(number, number, 0, { kind: 'order', order: order(number) })
  const working = { kind: 'orderState', orderId: 'o1', state: 'working', code: 'ANSWER_LOST', reason: '' } as const
  journal.output(3, 3, 0, working)
  journal.write({
    kind: 'watch',
    watch: watch(1, 100, 'unknown; the outcome can be proved after 320 blocks, 120 have passed'),
  })
  await journal.close()
  const reader = openReader(path)
  expect(reader.orders().map(({ id, state, reason }) => [id, state, reason])).toEqual([
    ['o1', 'working', 'unknown; the outcome can be proved after 320 blocks, 120 have passed'],
    ['o2', 'accepted', 'fell 15 %'],
  ])
  reader.close()
})
