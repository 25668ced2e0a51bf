import { chmodSync } from 'node:fs'
import { afterEach, expect, test, vi } from 'vitest'
import { ExitCode } from '../../src/base/errors.ts'
import { metricsFrom } from '../../src/config/convert-sections.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const folder = temporaryFolder()
const read = (): string | undefined => metricsFrom({ token: 'env:TOKEN' }, '')?.token.read()
afterEach(() => vi.unstubAllEnvs())

test.each([
  ['32 random characters', '9f86d081884c7d659a2feaa0c55ad015', undefined],
  ['31 characters', '9f86d081884c7d659a2feaa0c55ad01', 'expected 32 to 256 characters of ASCII without spaces'],
  [
    '31 characters and a space',
    '9f86d081884c7d65 9a2feaa0c55ad015',
    'expected 32 to 256 characters of ASCII without spaces',
  ],
  [
    'one character that is repeated 40 times',
    'a'.repeat(40),
    'expected a random text; `openssl rand -hex 32` prints one',
  ],
  ['no characters', '', 'the environment variable is empty'],
])('a metrics token of %s is accepted or refused as expected', (_name, token, problem) => {
  vi.stubEnv('TOKEN', token)
  if (problem === undefined) expect(read()).toBe(token)
  else expect(read).toThrow(expect.objectContaining({ message: `env:TOKEN: ${problem}`, exitCode: ExitCode.usage }))
})

test('a file of the metrics token that others can read is refused with exit code 4', () => {
  const path = folder.write('token', '9f86d081884c7d659a2feaa0c55ad015')
  chmodSync(path, 0o644)
  const { token } = metricsFrom({ token: `file:${path}` }, '') as NonNullable<ReturnType<typeof metricsFrom>>
  expect(() => token.read()).toThrow(expect.objectContaining({ exitCode: ExitCode.unsafe }))
  chmodSync(path, 0o600)
  expect(token.read()).toHaveLength(32)
})
