import { spawnSync } from 'node:child_process'
import { chmodSync, readFileSync, statSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { afterAll, describe, expect, test } from 'vitest'
import { stripSigner } from '../../../scripts/strip-signer.ts'
import type { Clock } from '../../../src/base/machine.ts'
import type { Line } from '../../../src/chain/signer/client.ts'
import { listenAsSigner } from '../../../src/chain/signer/listen.ts'
import { signerProgram } from '../../../src/chain/signer/program.ts'
import { keepRunning, type RunningSigner } from '../../../src/chain/signer/running.ts'
import {
  childLine,
  connectSigner,
  launchSigner,
  RESTARTS,
  type SignerLaunch,
  startSigner,
} from '../../../src/chain/signer/start.ts'
import { SystemClock } from '../../../src/runtime/system-clock.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { keypair } from '../verifier/draft.ts'
import { buy, PAIR, WALLET } from './requests.ts'

const folder = temporaryFolder()
const keyPath = folder.write('id.json', JSON.stringify([...PAIR.secretKey]))
const system = new SystemClock()
afterAll(() => system.stop())
const stripped = join(folder.path, 'stripped')
stripSigner(stripped)
/** A folder without modules, so that the signer runs from its sources. */
const none = join(folder.path, 'none')
/** A clock with shorter pauses, so that the test does not wait long for retries. */
const clock: Clock = { now: () => system.now(), after: (ms, run) => system.after(ms > 1_000 ? 5 * ms : 100, run) }
let names = 0

function launch(changed: Partial<SignerLaunch> = {}): SignerLaunch {
  const caps = { perTransaction: null, perHour: null, perDay: null }
  return { keyPath, stateFile: join(folder.path, `${++names}/signer.caps`), caps, wallet: WALLET, ...changed }
}

interface Opened {
  readonly signer: RunningSigner
  /** Kills the signer with SIGKILL. */
  kill(): Promise<unknown>
}

/** Starts a signer as a child process of this process, with the modules in a folder. The tested code restarts the
 *  signer. */
async function child(modules: string, changed?: Partial<SignerLaunch>): Promise<Opened> {
  const parts = launch(changed)
  const lines: Line[] = []
  const dial = (): Line => {
    const line = childLine(parts, signerProgram(modules))
    lines.push(line)
    return line
  }
  const signer = await keepRunning({ dial, retries: RESTARTS, wallet: WALLET, clock, tell: () => {} })
  return { signer, kill: async () => lines.at(-1)?.cut() }
}

/** Starts a signer that listens at a socket. The test itself restarts the signer. */
async function atSocket(changed?: Partial<SignerLaunch>): Promise<Opened> {
  const socketPath = join(folder.path, `${++names}.sock`)
  const parts = { ...launch(changed), socketPath }
  let listening = await listenAsSigner(parts, clock)
  const connected = await connectSigner(socketPath, WALLET, { clock, tell: () => {} })
  const close = async (): Promise<void> => {
    await connected.close()
    listening.close()
    await listening.ended
  }
  const kill = async (): Promise<void> => {
    listening.close()
    await listening.ended
    listening = await listenAsSigner(parts, clock)
  }
  return { signer: { ...connected, sign: (request) => connected.sign(request), close }, kill }
}

describe.each<[string, (changed?: Partial<SignerLaunch>) => Promise<Opened>]>([
  ['a signer in a child process, run from its sources', (changed) => child(none, changed)],
  ['a signer in a child process, run from modules without types', (changed) => child(stripped, changed)],
  ['a signer that listens at a socket', atSocket],
])('%s', (_name, open) => {
  test('concurrent requests get the signatures that web3.js makes, bad requests are refused, and the caps hold across restarts', async () => {
    const caps = { perTransaction: 200_000n, perHour: 900_000n, perDay: null }
    const { signer, kill } = await open({ caps })
    expect(signer.wallet).toBe(WALLET)
    const buys = Array.from({ length: 8 }, (_none, nonce) => buy(95_000, nonce))
    const answers = await Promise.all(buys.map(({ request }) => signer.sign(request)))
    expect(answers).toEqual(buys.map(({ signature }) => ({ ok: true, signature })))

    const lied = { ...buy(95_000).request, boundLamports: 99_999n }
    expect(await signer.sign(lied)).toMatchObject({ ok: false, code: 'SIGNER_REFUSED' })
    const large = {
      ok: false,
      code: 'SIGNER_CAP',
      reason: expect.stringContaining('the cap per transaction is 200000 lamports'),
    }
    expect(await signer.sign(buy(195_001).request)).toEqual(large)

    await kill()
    const over = {
      ok: false,
      code: 'SIGNER_CAP',
      reason: expect.stringContaining('the cap per hour is 900000 lamports'),
    }
    await expect.poll(() => signer.sign(buy(95_001).request), { timeout: 180_000 }).toEqual(over)
    expect(await signer.sign(buy(95_000, 9).request)).toEqual({ ok: true, signature: buy(95_000, 9).signature })
    await signer.close()
    expect(await signer.sign(buy(1).request)).toMatchObject({ ok: false, code: 'SIGNER_DOWN' })
  })
})

test('if a signer is killed while requests are open, each request is either signed or fails, and the signer recovers', async () => {
  const { signer, kill } = await child(stripped)
  const buys = Array.from({ length: 40 }, (_none, nonce) => buy(1_000, nonce))
  // On a busy machine, the signer may answer all requests before it is killed. The loop then repeats the test.
  for (let isInTheMiddle = false; !isInTheMiddle; ) {
    const asked = buys.map(({ request }) => signer.sign(request))
    await asked[0]
    await kill()
    const answers = await Promise.all(asked)
    for (const [index, answer] of answers.entries())
      expect(answer.ok ? answer.signature : answer.code).toEqual(answer.ok ? buys[index]?.signature : 'SIGNER_DOWN')
    isInTheMiddle = answers.some(({ ok }) => !ok)
    await expect.poll(() => signer.sign(buy(1_000, 41).request), { timeout: 180_000 }).toMatchObject({ ok: true })
  }
  await signer.close()
})

test.each<[string, Partial<SignerLaunch>, RegExp]>([
  ['a key file that does not exist', { keyPath: join(folder.path, 'none.json') }, /none\.json: no such file/],
  [
    'a key that other users can read',
    { keyPath: folder.write('open.json', '[]', 0o644) },
    /others can read it \(mode 0644\)/,
  ],
  ['a file without a key', { keyPath: folder.write('word.json', 'words words') }, /expected a JSON array of 64 bytes/],
  [
    'the key of another wallet',
    { wallet: keypair('another').publicKey.toBase58() },
    /the key of .* the configured wallet is/,
  ],
  ['a damaged file of counters', { stateFile: folder.write('bad.caps', 'x') }, /damaged/],
  ['a folder for the counters that is a file', { stateFile: join(keyPath, 'x/y') }, /cannot be stored there/],
  ['a path of the key file with a wildcard', { keyPath: join(folder.path, '*') }, /would match other files/],
])('the signer does not start with %s', async (_name, changed, because) => {
  await expect(startSigner(launch(changed), { clock, tell: () => {} })).rejects.toThrow(because)
})

test.each([
  ['its sources', none, 'process.ts'],
  ['modules without types', stripped, 'process.js'],
])(
  'the signer, run from %s, can use only its own files, key and state; it has no child processes, no environment, and no key in its arguments',
  (_name, modules, name) => {
    const parts = launch()
    const process = launchSigner(parts, signerProgram(modules))
    process.kill('SIGKILL')
    const entry = process.spawnargs.findIndex((argument) => argument.endsWith(name))
    expect(entry).toBeGreaterThan(0)
    const flags = process.spawnargs.slice(1, entry)
    const probe = `
    const fs = require('node:fs')
    const tried = (run) => { try { run(); return 'done' } catch ({ code, message }) { return code ?? message } }
    console.log(JSON.stringify({
      key: tried(() => fs.readFileSync(${JSON.stringify(keyPath)})),
      config: tried(() => fs.readFileSync('/etc/passwd')),
      sources: tried(() => fs.readFileSync(${JSON.stringify(join(import.meta.dirname, '../../../src/live/start-bots.ts'))})),
      packages: tried(() => require(${JSON.stringify(join(import.meta.dirname, '../../../node_modules/ws'))})),
      folder: tried(() => fs.readdirSync(${JSON.stringify(folder.path)})),
      overwrite: tried(() => fs.writeFileSync(${JSON.stringify(keyPath)}, 'x')),
      write: tried(() => fs.writeFileSync(${JSON.stringify(join(folder.path, 'y'))}, 'x')),
      state: tried(() => fs.writeFileSync(${JSON.stringify(parts.stateFile)}, '')),
      child: tried(() => require('node:child_process').spawnSync('true').error && (() => { throw require('node:child_process').spawnSync('true').error })()),
      worker: tried(() => new (require('node:worker_threads').Worker)('1', { eval: true })),
      code: tried(() => new Function('return 1')()),
    }))`
    const { stdout } = spawnSync(process.spawnfile, [...flags, '--eval', probe], { env: {}, encoding: 'utf8' })
    const denied = 'ERR_ACCESS_DENIED'
    const files = {
      config: denied,
      sources: denied,
      packages: denied,
      folder: denied,
      overwrite: denied,
      write: denied,
    }
    expect(JSON.parse(stdout)).toEqual({
      ...{ key: 'done', state: 'done', ...files, child: denied, worker: denied },
      code: expect.stringMatching(/Code generation from strings disallowed/),
    })
    expect(process.spawnargs.join(' ')).not.toContain([...PAIR.secretKey].slice(0, 4).join(','))
  },
)

test.skipIf(process.platform !== 'linux')(
  "the signer's environment is empty, and the signer ends when its engine ends",
  async () => {
    const started = launchSigner(launch())
    const gone = new Promise((resolve) => started.once('exit', resolve))
    const stream = started.stdio[3] as Duplex
    await new Promise((resolve) => stream.once('data', resolve))
    expect(readFileSync(`/proc/${started.pid}/environ`, 'utf8')).toBe('')
    // The signer survives signals to the whole process group, because it must not end before its engine.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const) started.kill(signal)
    stream.write(Buffer.from([20, 0, 0]))
    stream.end()
    expect(await gone).toBe(0)
  },
)

test('a length prefix of 4 GiB ends the signer, which logs the reason', async () => {
  const started = launchSigner(launch())
  const gone = new Promise((resolve) => started.once('exit', resolve))
  ;(started.stdio[3] as NodeJS.WritableStream).write(Buffer.from([255, 255, 255, 255, 0]))
  expect(await gone).toBe(1)
})

test('the socket is open to owner and group, and hostile engines are disconnected while the others continue', async () => {
  const socketPath = join(folder.path, `${++names}.sock`)
  const listening = await listenAsSigner({ ...launch(), socketPath }, clock)
  expect(statSync(socketPath).mode & 0o777).toBe(0o660)
  const signer = await connectSigner(socketPath, WALLET, { clock, tell: () => {} })
  const cutOff = (bytes: Uint8Array) =>
    new Promise((resolve) => {
      const hostile = connect(socketPath)
      hostile
        .once('close', resolve)
        .on('error', () => {})
        .resume()
      hostile.write(bytes)
    })
  await cutOff(Buffer.from([255, 255, 255, 255]))
  await cutOff(Buffer.alloc(100_000, 0))
  expect(await signer.sign(buy(1_000).request)).toMatchObject({ ok: true })
  await expect(listenAsSigner({ ...launch(), socketPath }, clock)).rejects.toThrow(
    'another signer is already listening',
  )
  await signer.close()
  listening.close()
  expect(await listening.ended).toBe(0)
  await expect(connectSigner(socketPath, WALLET, { clock, tell: () => {} })).rejects.toThrow(/no signer answers at/)
})

test('a file that is not a socket, or a socket open to all users, is refused', async () => {
  const parts = { clock, tell: () => {} }
  await expect(connectSigner(keyPath, WALLET, parts)).rejects.toThrow('not a socket')
  const path = join(folder.path, 'open.sock')
  const server = createServer().listen(path)
  await new Promise((resolve) => server.once('listening', resolve))
  chmodSync(path, 0o666)
  await expect(connectSigner(path, WALLET, parts)).rejects.toThrow('every user may connect')
  server.close()
})

test.skipIf(process.platform !== 'linux')(
  "the signer's process can write no core dump, which would contain the key",
  async () => {
    const child = launchSigner(launch())
    const gone = new Promise((resolve) => child.once('exit', resolve))
    const stream = child.stdio[3] as Duplex
    await new Promise((resolve) => stream.once('data', resolve))
    const limits = readFileSync(`/proc/${child.pid}/limits`, 'utf8')
    expect(limits).toMatch(/Max core file size +0 +0 /)
    expect(readFileSync(`/proc/${child.pid}/cmdline`, 'utf8')).toMatch(/chain\/signer\/process\.[jt]s/)
    stream.destroy()
    await gone
  },
)
