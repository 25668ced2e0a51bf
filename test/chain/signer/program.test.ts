import { appendFileSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { stripSigner } from '../../../scripts/strip-signer.ts'
import { type SignerProgram, STRIPPED_LIST, signerProgram } from '../../../src/chain/signer/program.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const temporary = temporaryFolder()
const folder = join(temporary.path, 'stripped')
const list = join(folder, STRIPPED_LIST)

beforeEach(() => stripSigner(folder))

/** Whether the signer runs from its sources, and may read nothing in the folder of the modules without types. */
function isFromSources({ entry, readable }: SignerProgram): boolean {
  return entry.endsWith('/src/chain/signer/process.ts') && readable.every((path) => !path.startsWith(temporary.path))
}

test('the signer runs from the modules without types, and may read only their folder', () => {
  expect(signerProgram(folder)).toEqual({
    entry: join(folder, 'chain/signer/process.js'),
    readable: [join(folder, '*')],
  })
})

test('a folder behind a symbolic link is named by its own path, which the permissions of Node require', () => {
  const link = join(temporary.path, 'link')
  symlinkSync(folder, link)
  expect(signerProgram(link)).toEqual(signerProgram(folder))
})

test.each<[string, () => void]>([
  ['a module has changed', () => appendFileSync(join(folder, 'chain/signer/rules.js'), '\n')],
  ['a module is missing', () => rmSync(join(folder, 'base/errors.js'))],
  ['a source has changed', () => writeFileSync(list, changed(/"sourceHash": "./, '"sourceHash": "x'))],
  ['a source no longer exists', () => writeFileSync(list, changed('base/errors.ts', 'base/mistakes.ts'))],
  ['the list lacks the entry', () => writeFileSync(list, '[]')],
  ['the list is damaged', () => writeFileSync(list, '[{')],
  ['the modules were never written', () => rmSync(folder, { recursive: true })],
])('the signer runs from its sources if %s', (_name, change) => {
  change()
  expect(isFromSources(signerProgram(folder))).toBe(true)
})

function changed(what: string | RegExp, to: string): string {
  const text = readFileSync(list, 'utf8')
  expect(text).toMatch(what)
  return text.replace(what, to)
}
