import { expect, test } from 'vitest'
import { killMany } from './kills.ts'

/** In CI, `.ci/run` kills 20 more processes, with its own seed. */
const KILLS = { count: 4, perJournal: 2, seed: 934_241, together: 2 }

test('processes that are killed at failpoints and at random times, under faults, with both executors, leave a journal that is intact, replayable, and equal to the chain', async () => {
  const lines: string[] = []
  const complaints = await killMany({ ...KILLS, say: (line) => lines.push(line) })
  expect(complaints, lines.join('\n')).toEqual([])
})
