import { expect, test } from 'vitest'
import { killMany } from './kills.ts'

test('killed at failpoints and at any time, with faults besides, whoever signs: whole, repeatable, and the chain to the lamport', async () => {
  const seed = Date.now() % 1_000_000
  console.log(`seed ${seed}`)
  const lines: string[] = []
  const complaints = await killMany({ count: 10, seed, together: 2, say: (line) => lines.push(line) })
  expect(complaints, lines.join('\n')).toEqual([])
})
