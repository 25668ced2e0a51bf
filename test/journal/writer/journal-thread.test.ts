import { expect, test } from 'vitest'
import { openReader } from '../../../src/journal/reader/reader.ts'
import { startJournalThread } from '../../../src/journal/writer/journal-thread.ts'
import { Mints } from '../../../src/market/mints.ts'
import { journalContract } from '../../contracts/journal.contract.ts'
import { contentOf, journalPath, NO_LIMITS, trades } from '../../support/journal-samples.ts'

journalContract('the writer in a thread', startJournalThread)

const onFailure = (error: Error) => {
  throw error
}

test('the journal thread makes rows durable even if the engine asks for no commit', async () => {
  const path = journalPath()
  const journal = await startJournalThread(path, { onFailure, space: NO_LIMITS })
  const block = trades(3)
  journal.rows(block, 0, 3, 1)
  const reader = openReader(path)
  while (reader.counters().events === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  expect(contentOf(reader.blocks(new Mints()))).toEqual(contentOf([block]))
  reader.close()
  await journal.close()
})

test('the journal thread refuses rows that are not in shared memory', async () => {
  const journal = await startJournalThread(journalPath(), { onFailure, space: NO_LIMITS })
  const block = { ...trades(1), length: 1 }
  expect(() => {
    journal.rows(block, 0, 1, 1)
    journal.commit(() => {})
  }).toThrow(/only rows of a LiveBlock/)
  await journal.close()
})
