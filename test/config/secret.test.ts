import { homedir } from 'node:os'
import { inspect } from 'node:util'
import { beforeEach, expect, test, vi } from 'vitest'
import { loadConfig } from '../../src/config/load.ts'
import { expandPath } from '../../src/config/package-paths.ts'
import { type Secret, secretFrom } from '../../src/config/secret.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const folder = temporaryFolder()
const { path: cwd } = folder

test('an environment variable is read when the secret is used, and is read again after a change', () => {
  const secret = secretFrom('env:SLUICE_TEST_KEY', cwd)
  vi.stubEnv('SLUICE_TEST_KEY', ' first \n')
  expect(secret.read()).toBe('first')
  vi.stubEnv('SLUICE_TEST_KEY', 'second')
  expect(secret.read()).toBe('second')
})

test('a secret file is read relative to the working directory, and its line end is removed', () => {
  folder.write('keys/api', 'from a file\n')
  expect(secretFrom('file:keys/api', cwd).read()).toBe('from a file')
})

test('a secret that is printed shows its source instead of its value', () => {
  vi.stubEnv('SLUICE_TEST_KEY', 'hidden')
  const secret = secretFrom('env:SLUICE_TEST_KEY', cwd)
  secret.read()
  for (const shown of [secret.describe(), String(secret), JSON.stringify({ secret }), inspect({ secret })]) {
    expect(shown).toContain('env:SLUICE_TEST_KEY')
    expect(shown).not.toContain('hidden')
  }
})

beforeEach(() => void vi.stubEnv('SLUICE_TEST_EMPTY', ' '))

test.each<[string, () => string, string, number]>([
  [
    'a secret in a variable that is not set',
    () => 'env:SLUICE_TEST_NONE',
    'env:SLUICE_TEST_NONE: the environment variable is not set',
    2,
  ],
  ['a secret in a variable that is empty', () => 'env:SLUICE_TEST_EMPTY', 'is empty', 2],
  ['a secret file that does not exist', () => 'file:nothing', `file:${cwd}/nothing: no such file`, 2],
  ['a folder in place of a secret file', () => 'file:.', 'expected a regular file of at most 64 KiB', 2],
  ['a secret file that is empty', () => `file:${folder.write('empty', '\n')}`, 'the file is empty', 2],
  [
    'a secret file that is too long',
    () => `file:${folder.write('long', 'x'.repeat(70_000))}`,
    'expected a regular file',
    2,
  ],
  [
    'a secret file that its group can read',
    () => `file:${folder.write('group', 'k', 0o640)}`,
    'others can read it (mode 0640)',
    4,
  ],
  [
    'a secret file that every user can read',
    () => `file:${folder.write('all', 'k', 0o644)}`,
    `run: chmod 600 '${cwd}/all'`,
    4,
  ],
])('%s is refused', (_what, reference, says, exitCode) => {
  const secret = secretFrom(reference(), cwd)
  expect(() => secret.read()).toThrow(expect.objectContaining({ message: expect.stringContaining(says), exitCode }))
})

test('in the path of a secret, ~ is the home directory, and a relative path starts at the working directory', () => {
  expect(expandPath('~/a', '/work')).toBe(`${homedir()}/a`)
  expect(expandPath('a/../b', '/work')).toBe('/work/b')
  expect(expandPath('/a', '/work')).toBe('/a')
})

async function rpc(written: string): Promise<Secret> {
  folder.write(
    'c.yaml',
    `service: { baseUrl: https://x.io/api, wsUrl: wss://x.io/d }\nchain: { rpc: [{ url: ${written} }] }\n`,
  )
  const result = await loadConfig(['c.yaml'], { cwd })
  if (!result.ok) throw new Error(result.errors[0]?.message)
  return result.config.chain.rpc[0]?.url as Secret
}

test('an RPC address is checked when it is read, and the error does not contain the address', async () => {
  const secret = await rpc('env:SLUICE_TEST_RPC')
  vi.stubEnv('SLUICE_TEST_RPC', 'https://rpc.io/?api-key=hidden')
  expect(secret.read()).toBe('https://rpc.io/?api-key=hidden')
  vi.stubEnv('SLUICE_TEST_RPC', 'http://rpc.io/?api-key=hidden')
  expect(() => secret.read()).toThrow(
    /^env:SLUICE_TEST_RPC: expected https:\/\/, found http:\/\/ \(allowed for loopback only\)$/,
  )
})

test('an RPC address on loopback can be written in the file', async () => {
  expect((await rpc('http://127.0.0.1:8899')).read()).toBe('http://127.0.0.1:8899')
  await expect(rpc('http://127.0.0.1.x.io')).rejects.toThrow('expected env:NAME or file:PATH')
  await expect(rpc('"http://127.0.0.1:8899/?key=1"')).rejects.toThrow('expected env:NAME or file:PATH')
})

test('loading a configuration reads no secret', async () => {
  folder.write('key', 'open to all', 0o644)
  folder.write(
    'live.yaml',
    `service: { baseUrl: https://x.io/api, wsUrl: wss://x.io/d, apiKey: file:key }
chain: { rpc: [{ url: env:SLUICE_TEST_NONE }] }
wallet: { publicKey: YourWaLLetAddressGoesHereAsBase581111111111, keypair: file:nothing }
bots: [{ name: a, strategy: dip-buyer, mode: live, exits: { stopLossPercent: 20 } }]
`,
  )
  const result = await loadConfig(['live.yaml'], { cwd })
  expect(result).toMatchObject({ ok: true })
  expect(JSON.stringify(result)).not.toContain('open to all')
})
