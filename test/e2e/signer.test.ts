import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import type { Clock } from '../../src/base/machine.ts'
import type { WalletConfig } from '../../src/config/config.ts'
import { policyHash } from '../../src/config/hashes.ts'
import { loadConfig } from '../../src/config/load.ts'
import { examineSigner } from '../../src/live/doctor/run-checks.ts'
import { openSigner } from '../../src/live/signer-access.ts'
import { BUILT_IN_POLICY, type BuilderPolicy } from '../../src/orders/builder-policy.ts'
import { SystemClock } from '../../src/runtime/system-clock.ts'
import { buy, PAIR, WALLET } from '../chain/signer/requests.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { launch, sluice } from './process.ts'
import { until } from './until.ts'

const { path: folder, write } = temporaryFolder()
const system = new SystemClock()
afterAll(() => system.stop())
/** The timeouts are longer than usual, because a busy machine may be slow. */
const clock: Clock = { now: () => system.now(), after: (ms, run) => system.after(5 * ms, run) }
const keyPath = write('id.json', JSON.stringify([...PAIR.secretKey]))
const socket = join(folder, 'signer.sock')

/** Every form in which the key could appear in a text. */
const SECRETS = [
  [...PAIR.secretKey].slice(0, 5).join(','),
  Buffer.from(PAIR.secretKey).toString('hex').slice(0, 24),
  Buffer.from(PAIR.secretKey).toString('base64').slice(0, 24),
]

/** Loads a configuration with this section `wallet`, and returns its wallet. */
async function walletOf(wallet: object) {
  const text = JSON.stringify({ service: 'sandbox', wallet: { publicKey: WALLET, ...wallet } })
  const result = await loadConfig([write('a.yaml', text)])
  if (!result.ok) throw new Error(JSON.stringify(result.errors))
  return result.config.wallets[0] as WalletConfig
}

const parts = (policy?: BuilderPolicy) => ({ wallet: WALLET, clock, tell: () => {}, ...(policy && { policy }) })

test('the policy and the caps of a `sluice signer` that another user runs apply to every engine, and its log never contains the key', async () => {
  const policy = write('builder-policy.yaml', 'programs: [pump, pump-swap]\n')
  const args = ['--socket', socket, '--key', keyPath, '--policy', policy, '--max-per-transaction-sol', '0.0002']
  const process = launch(['signer', ...args, '--state', join(folder, 'signer.caps')])
  await until('its start', () => process.stderr.includes('listens on'))

  const signer = await openSigner(await walletOf({ signer: socket }), parts())
  const { request, signature } = buy(95_000)
  const honest = { ...request, policyHash: policyHash(BUILT_IN_POLICY) }
  expect(await signer.sign(honest)).toEqual({ ok: true, signature })
  expect(await signer.sign(request)).toMatchObject({ ok: false, code: 'SIGNER_REFUSED' })
  expect(await signer.sign({ ...honest, boundLamports: 200_001n })).toMatchObject({ ok: false, code: 'SIGNER_CAP' })
  await signer.close()

  process.child.kill('SIGTERM')
  expect(await process.ended).toBe(0)
  expect(process.stdout).toBe('')
  expect(process.stderr).toMatch(/signed order "order 0" attempt "attempt 0" bound 100000\n/)
  expect(process.stderr).toMatch(/refused order "order 0" .*: SIGNER_REFUSED the request names a policy other than/)
  for (const secret of SECRETS) expect(process.stderr).not.toContain(secret)
})

test('a signer that Sluice starts itself enforces the policy and the caps of the configuration', async () => {
  vi.stubEnv('XDG_STATE_HOME', join(folder, 'state'))
  const wallet = await walletOf({ keypair: `file:${keyPath}`, caps: { maxSolPerTransaction: 0.0002 } })
  const signer = await openSigner(wallet, parts(BUILT_IN_POLICY))
  const honest = { ...buy(95_000).request, policyHash: policyHash(BUILT_IN_POLICY) }
  expect(await signer.sign(honest)).toMatchObject({ ok: true })
  expect(await signer.sign({ ...honest, policyHash: '' })).toMatchObject({ code: 'SIGNER_REFUSED' })
  expect(await signer.sign({ ...honest, boundLamports: 200_001n })).toMatchObject({ code: 'SIGNER_CAP' })
  await signer.close()
  await expect(openSigner(await walletOf({}), parts())).rejects.toThrow('set wallet.keypair or wallet.signer')
})

test('doctor starts the signer and reports its problems', async () => {
  vi.stubEnv('XDG_STATE_HOME', join(folder, 'state'))
  const looked = async (wallet: object) => (await examineSigner(await walletOf(wallet)))[0]
  expect(await looked({})).toBeUndefined()
  expect(await looked({ keypair: `file:${keyPath}` })).toMatchObject({ status: 'ok', found: `signs for ${WALLET}` })
  const open = write('open.json', '[]', 0o644)
  const found = `${open}: others can read it (mode 0644)`
  expect(await looked({ keypair: `file:${open}` })).toMatchObject({ status: 'fail', found, fix: `chmod 600 '${open}'` })
  const nobody = { status: 'fail', found: expect.stringContaining('no signer answers at') }
  expect(await looked({ signer: join(folder, 'none.sock') })).toMatchObject(nobody)
})

test.each<[string, string[], number, RegExp]>([
  ['no --key', ['--socket', socket], 2, /needs --socket and --key/],
  ['a folder to which every user may write', ['--socket', '/tmp/signer.sock', '--key', keyPath], 4, /chmod 750/],
  ['a file in place of the socket', ['--socket', keyPath, '--key', keyPath], 2, /exists and is not a socket/],
  [
    'a key file that contains no key',
    ['--socket', socket, '--key', write('none', 'words')],
    2,
    /expected a JSON array of 64 bytes/,
  ],
])('`sluice signer` does not start with %s', async (_what, args, code, because) => {
  const ended = await sluice(['signer', ...args], { XDG_STATE_HOME: join(folder, 'state') })
  expect(ended).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(because) })
  expect(ended.stderr).not.toMatch(/\n\s+at |node:internal/)
})
