import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { watchHaltFile } from '../../../src/live/control/halt-file.ts'

test('each time the file HALT appears, entries are halted once', () => {
  vi.useFakeTimers()
  const folder = mkdtempSync(join(tmpdir(), 'halt-'))
  const path = join(folder, 'HALT')
  let halts = 0
  const stop = watchHaltFile(path, () => halts++, expect.unreachable)
  const pass = () => vi.advanceTimersByTime(1_000)
  pass()
  expect(halts).toBe(0)
  writeFileSync(path, '')
  pass()
  pass()
  expect(halts).toBe(1)
  rmSync(path)
  pass()
  writeFileSync(path, '')
  pass()
  expect(halts).toBe(2)
  stop()
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
  rmSync(folder, { recursive: true })
})
