import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { nondeterminism } from '../../../src/config/determinism/check.ts'
import { notePassed, passedBefore } from '../../../src/config/determinism/passed.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const { path: folder } = temporaryFolder()
const notes = join(folder, 'notes')
const main = join(folder, 'main.ts')

/** Writes a strategy of two files, checks it, and stores that it passed the determinism check. */
function passes(): void {
  rmSync(notes, { recursive: true, force: true })
  writeFileSync(main, "import { b } from './near.ts'\nexport default (a: number) => a + b\n")
  writeFileSync(join(folder, 'near.ts'), 'export const b = 1\n')
  notePassed(nondeterminism(main).checked, notes)
}

test('a strategy that passed the determinism check is not checked again', () => {
  passes()
  expect(passedBefore(main, notes)).toBe(true)
})

test.each<[what: string, change: () => void]>([
  ['a strategy whose text has changed', () => writeFileSync(main, 'export default Date.now()\n')],
  [
    'a strategy that imports a changed module',
    () => writeFileSync(join(folder, 'near.ts'), 'export const b = Math.random()\n'),
  ],
  ['a strategy without a stored result', () => rmSync(notes, { recursive: true })],
  ['a strategy whose stored result is cut off', () => eachNote(() => '{"hash":"')],
  [
    'a strategy whose stored result is from another version of the check',
    () => eachNote((note) => note.replace(/[0-9a-f]{64}/, 'e')),
  ],
  ['a strategy whose stored result belongs to another file', () => cpSync(main, join(folder, 'other.ts'))],
])('the determinism check runs again for %s', (what, change) => {
  passes()
  change()
  expect(passedBefore(what.includes('another file') ? join(folder, 'other.ts') : main, notes)).toBe(false)
})

test('without a folder for compiled code, no result of the determinism check is stored', () => {
  passes()
  expect(passedBefore(main, undefined)).toBe(false)
})

function eachNote(change: (note: string) => string): void {
  for (const name of readdirSync(notes))
    writeFileSync(join(notes, name), change(readFileSync(join(notes, name), 'utf8')))
}
