import { expect, test } from 'vitest'
import type { Order } from '../../../src/engine/order.ts'
import type { History } from '../../../src/journal/reader/history.ts'
import { type JournalReader, openReader } from '../../../src/journal/reader/reader.ts'
import { FileJournal } from '../../support/file-journal.ts'
import { attempt, journalPath, keyOf, order, position, report, timeOf } from '../../support/journal-samples.ts'

/** Returns what the history contains about an order and its token. */
function knownOf(history: History, one: Order) {
  const { id, mint, account } = one
  return {
    reports: history.reportsOf(one),
    cancel: history.cancelOf(one),
    words: history.words(mint, 0, timeOf(99)),
    warnings: history.warnings(mint),
    conditionals: [history.conditionals({ mint }), history.conditionals({ orderId: id })],
    position: history.positionAt(mint, account, { time: timeOf(99) }),
  }
}

const lookUp = (reader: JournalReader, one: Order) => reader.look((history) => knownOf(history, one))

test('while a journal grows, a reader with an index of decisions finds the same as a reader without it', () => {
  const journal = new FileJournal(journalPath())
  const [one, other] = [order(1), order(2)]
  const code = 'SLIPPAGE_EXCEEDED'
  const fails = (seq: number, { id }: Order): void => {
    // The engine answers a report with two outputs. The cancellation is the second one.
    journal.input(seq, timeOf(seq), {
      kind: 'report',
      id: seq,
      report: { ...report(1), orderId: id, state: 'accepted', code },
    })
    journal.output(seq, timeOf(seq), 0, { kind: 'orderState', orderId: id, state: 'accepted', code, reason: '' })
    journal.output(seq, timeOf(seq), 1, { kind: 'cancel', orderId: id, code: 'LOSS_LIMIT' })
  }
  for (const [index, placed] of [one, other].entries())
    journal.output(index + 1, timeOf(index + 1), 0, { kind: 'order', order: placed })
  journal.write({ kind: 'attempt', attempt: attempt(1) })
  fails(3, one)
  journal.output(4, timeOf(4), 0, { kind: 'note', bot: 'dips', mint: keyOf(1), code: '', reason: 'thin' })
  journal.output(5, timeOf(5), 0, { kind: 'message', bot: 'dips', text: `look at ${keyOf(2)}` })
  journal.output(6, timeOf(6), 0, { kind: 'position', position: position(1) })
  journal.flush()
  const [plain, indexed] = [openReader(journal.path), openReader(journal.path)]
  indexed.indexDecisions()
  for (const placed of [one, other]) expect(lookUp(indexed, placed)).toEqual(lookUp(plain, placed))
  fails(7, other)
  journal.output(8, timeOf(8), 0, { kind: 'position', position: position(2) })
  journal.flush()
  for (const placed of [one, other]) {
    const known = lookUp(plain, placed)
    expect(known).toMatchObject({ reports: [{}], cancel: { code: 'LOSS_LIMIT' } })
    expect(lookUp(indexed, placed)).toEqual(known)
  }
  for (const reader of [plain, indexed]) reader.close()
})
