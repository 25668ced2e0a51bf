import { expect, test } from 'vitest'
import { killMany } from './kills.ts'

/** The test kills one process with each executor. In CI, `.ci/run` kills 24 more, with another seed. */
const KILLS = { count: 2, perJournal: 1, seed: 934_241, together: 2 }

test('processes that are killed at failpoints and at random times leave a journal that is intact, can be replayed and equals the chain', async () => {
  const lines: string[] = []
  const complaints = await killMany({ ...KILLS, say: (line) => lines.push(line) })
  expect(complaints, lines.join('\n')).toEqual([])
})
