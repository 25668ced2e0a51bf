import { expect, test } from 'vitest'
import { killMany } from './kills.ts'

test('processes that are killed at failpoints and at random times, under faults, with both executors, leave a journal that is intact, replayable, and equal to the chain', async () => {
  const seed = Date.now() % 1_000_000
  console.log(`seed ${seed}`)
  const lines: string[] = []
  const complaints = await killMany({ count: 10, seed, together: 2, say: (line) => lines.push(line) })
  expect(complaints, lines.join('\n')).toEqual([])
})
