import { expect, test } from 'vitest'
import { Progress, progressLine } from '../../src/commands/terminal.ts'

test.each([
  [0, 100, 0, '0 % of 100 rows'],
  [0, 100, 60_000, '0 % of 100 rows'],
  [50, 100, 999, '50 % of 100 rows'],
  [2_000_000, 8_000_000, 1_000, '25 % of 8000000 rows, 2.0 M rows/s, 3 s left'],
  [7_999_999, 8_000_000, 4_000, '99 % of 8000000 rows, 2.0 M rows/s, 1 s left'],
  [8_000_000, 8_000_000, 4_000, '100 % of 8000000 rows, 2.0 M rows/s, 0 s left'],
])('%d of %d rows after %d ms', (rows, of, tookMs, line) => {
  expect(progressLine(rows, of, tookMs)).toBe(line)
})

test('bytes are counted in MB', () => {
  expect(progressLine(30e6, 120e6, 2_000, 'bytes')).toBe('25 % of 120.0 MB, 15.0 MB/s, 6 s left')
})

test('a terminal gets a line that is gone at the end, anything else gets nothing', () => {
  const written = (isTTY: boolean) => {
    const texts: string[] = []
    const stream = { isTTY, write: (text: string) => texts.push(text) > 0 } as unknown as NodeJS.WriteStream
    const progress = new Progress(stream, 10, { startedAt: -1_000 })
    progress.at(5)
    progress.end()
    return texts
  }
  expect(written(false)).toEqual([])
  expect(written(true)).toEqual([expect.stringContaining('50 % of 10 rows'), '\r\u001b[K'])
})
