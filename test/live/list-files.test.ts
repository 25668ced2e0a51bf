import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { watchLists } from '../../src/live/filter-lists.ts'
import { MINT, MINT_2 } from '../support/engine-rig.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const folder = temporaryFolder()
const path = join(folder.path, 'deny.txt')

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
})
afterEach(() => {
  vi.useRealTimers()
})

function watched() {
  const lists = new Map<string, readonly string[]>([[path, [MINT]]])
  const told: string[] = []
  const stop = watchLists(lists, {
    changed: (_path, entries) => told.push(`now ${entries.length}`),
    broken: (_path, problem) => told.push(problem.replace(path, 'FILE')),
    mended: () => told.push('mended'),
  })
  const look = (): string[] => {
    vi.advanceTimersByTime(500)
    return told.splice(0)
  }
  return { lists, look, stop }
}

test('a changed list file is read as soon as its content is stable, and an unchanged file is not reported', () => {
  writeFileSync(path, `${MINT}\n`)
  const { lists, look, stop } = watched()
  expect([...look(), ...look(), ...look()]).toEqual([])
  writeFileSync(path, `${MINT} # and\n${MINT_2}\n`)
  expect(look()).toEqual([])
  writeFileSync(path, `${MINT_2}\n${MINT}\n\n`)
  expect(look()).toEqual([])
  expect(look()).toEqual(['now 2'])
  expect(look()).toEqual([])
  expect(lists.get(path)).toEqual([MINT_2, MINT])
  stop()
  writeFileSync(path, '')
  expect([...look(), ...look()]).toEqual([])
})

test('if a list file becomes invalid, the old list stays and the problem is reported once; a corrected file is read again', () => {
  writeFileSync(path, `${MINT}\n`)
  const { lists, look, stop } = watched()
  look()
  look()
  writeFileSync(path, `${MINT_2}\nnonsense\n`)
  expect([...look(), ...look(), ...look()]).toEqual([
    'FILE:2 is not a base58 key of 32 bytes; the list stays unchanged',
  ])
  rmSync(path)
  expect([...look(), ...look(), ...look()]).toEqual([expect.stringMatching(/^FILE cannot be read .*stays unchanged$/)])
  expect(lists.get(path)).toEqual([MINT])
  writeFileSync(path, `${MINT_2}\n`)
  expect([...look(), ...look(), ...look()]).toEqual(['mended', 'now 1'])
  writeFileSync(path, 'nonsense\n')
  expect([...look(), ...look(), ...look()]).toHaveLength(1)
  writeFileSync(path, `${MINT_2}\n`)
  expect([...look(), ...look(), ...look()]).toEqual(['mended'])
  stop()
})
