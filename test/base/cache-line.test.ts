import { expect, test } from 'vitest'
import { doublesAtLine, wordsAtLine } from '../../src/base/cache-line.ts'

test('memory that begins at a cache line has the requested length, is zero, and can be written to its end', () => {
  for (const memory of [doublesAtLine(24), wordsAtLine(48)]) {
    expect(memory.every((value) => value === 0)).toBe(true)
    memory[memory.length - 1] = 7
    expect(memory.at(-1)).toBe(7)
    expect(memory.byteLength).toBe(192)
  }
})
