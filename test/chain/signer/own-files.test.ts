import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { refuseChangeable } from '../../../src/chain/signer/own-files.ts'
import { parse } from '../../../src/commands/parse.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const folder = temporaryFolder()
afterEach(() => vi.restoreAllMocks())
let count = 0

/** Writes a file into a new folder, and returns its path. */
function fileWith(mode: number, folderMode: number): string {
  const own = join(folder.path, `own ${++count}`)
  mkdirSync(own)
  const file = join(own, 'policy.yaml')
  writeFileSync(file, 'programs: [pump]\n')
  chmodSync(file, mode)
  chmodSync(own, folderMode)
  return file
}

test.each<[string, number, number, boolean]>([
  ['a policy file that only its owner can write is accepted', 0o644, 0o755, true],
  ['a policy file that only its owner can read is accepted', 0o600, 0o700, true],
  ['a policy file that every user can write is refused', 0o666, 0o755, false],
  ['a policy file that its group can write is refused', 0o620, 0o700, false],
  ['a policy file in a folder that every user can write is refused', 0o600, 0o777, false],
  ['a policy file in a folder that its group can write is refused', 0o600, 0o770, false],
])('%s', (_what, mode, folderMode, accepted) => {
  const check = () => refuseChangeable(fileWith(mode, folderMode))
  if (accepted) expect(check).not.toThrow()
  else expect(check).toThrow(/other users can write to it .* chmod go-w/)
})

test('a link to a writable file is refused like the file, and a missing file is accepted', () => {
  const link = join(folder.path, 'link.yaml')
  symlinkSync(fileWith(0o666, 0o700), link)
  expect(() => refuseChangeable(link)).toThrow(/other users can write to it/)
  expect(() => refuseChangeable(join(folder.path, 'none'))).not.toThrow()
})

test.each([
  ['a policy that every user can write', ['--policy', fileWith(0o666, 0o700)], /policy\.yaml: other users can write/],
  [
    'a policy in a folder that every user can write',
    ['--policy', fileWith(0o600, 0o777)],
    /own \d+: other users can write/,
  ],
  ['a key in a folder that every user can write', ['--key', fileWith(0o600, 0o777)], /own \d+: other users can write/],
])('`sluice signer` refuses %s with exit code 4', async (_what, args, line) => {
  let said = ''
  vi.spyOn(console, 'error').mockImplementation((text) => {
    said += text
  })
  const key = fileWith(0o600, 0o700)
  const socket = join(folder.path, 'signer.sock')
  expect(await parse(['signer', '--socket', socket, '--key', key, ...args])).toBe(4)
  expect(said).toMatch(line)
})
