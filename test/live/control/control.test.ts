import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ExitCode, SluiceError } from '../../../src/base/errors.ts'
import { sendCommand } from '../../../src/live/control/client.ts'
import type { ControlCommand } from '../../../src/live/control/command.ts'
import { controlPath, haltPath } from '../../../src/live/control/command.ts'
import { requireNoHaltFile } from '../../../src/live/control/halt-file.ts'
import { type ControlHandler, serveControl } from '../../../src/live/control/server.ts'
import { encodeBase58 } from '../../../src/solana/base58.ts'

const MINT = '6Fzphy2B4JTUteQ8jGtj9Tc9anpttVXY3CRgGuJTpump'
const SIGNATURE = encodeBase58(new Uint8Array(64).fill(3))
let folder: string
let journalPath: string
let stop: (() => Promise<void>) | undefined
const warnings: string[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'control-'))
  journalPath = join(folder, 'sluice.db')
  warnings.length = 0
})
afterEach(async () => {
  await stop?.()
  stop = undefined
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
})

async function serve(handle: ControlHandler = (command) => ({ got: command })): Promise<void> {
  stop = await serveControl({ journalPath, handle, warn: (message) => warnings.push(message) })
}

/** Sends a text to the control socket, and returns the answer of the process. */
function say(line: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(controlPath(journalPath), () => socket.write(line))
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(text))
  })
}

test.each<ControlCommand>([
  { command: 'halt' },
  { command: 'flatten' },
  { command: 'status' },
  { command: 'resume' },
  { command: 'sell', mint: MINT },
  { command: 'sell', mint: MINT, wallet: 'main' },
  { command: 'halt', wallet: 'main' },
  { command: 'buy', mint: MINT, bot: 'dips', sol: 0.05 },
  { command: 'cancel', order: 'o12' },
  { command: 'cancel', order: 'c3' },
  { command: 'desk-link', readOnly: true, name: 'phone' },
  { command: 'signal', signal: 'moon', data: { strength: 3 } },
  { command: 'accept', signature: SIGNATURE },
  { command: 'accept', signature: 'all', wallet: 'main' },
  { command: 'resolve', order: 'o12', verdict: 'show' },
  { command: 'resolve', order: 'o12', verdict: 'not-executed' },
  { command: 'resolve', order: 'o12', verdict: { executed: SIGNATURE } },
  { command: 'adopt', mint: MINT, bot: 'dips' },
])('the control command %j reaches the process and is answered', async (command) => {
  await serve(async (got) => ({ got }))
  expect(await sendCommand(journalPath, command)).toEqual({ got: command })
})

test('the sender of a refused control command receives the refusal with its exit code', async () => {
  await serve(() => {
    throw new SluiceError('not now', ExitCode.unsafe)
  })
  const refusal = sendCommand(journalPath, { command: 'flatten' })
  await expect(refusal).rejects.toThrow('not now')
  await expect(refusal).rejects.toMatchObject({ exitCode: ExitCode.unsafe })
})

test('a control command without a running process reports that no process runs on the journal', async () => {
  await expect(sendCommand(journalPath, { command: 'halt' })).rejects.toThrow(
    `no process runs on the journal ${journalPath}`,
  )
  const elsewhere = join(folder, 'no', 'such.db')
  await expect(sendCommand(elsewhere, { command: 'halt' })).rejects.toThrow(SluiceError)
  await serve()
  await stop?.()
  stop = undefined
  await expect(sendCommand(journalPath, { command: 'halt' })).rejects.toThrow('no process runs')
})

test.each([
  ['text that is not JSON', 'halt\n', 'one line of JSON'],
  ['JSON that is not an object', '"halt"\n', 'one line of JSON'],
  ['an unknown command', '{"command":"fly"}\n', 'unknown command'],
  ['a wallet that is not a text', '{"command":"halt","wallet":7}\n', 'expected the name of a wallet'],
  ['a text that is not a mint', '{"command":"sell","mint":"x"}\n', 'needs a mint'],
  ['a signal without a name', '{"command":"signal"}\n', 'needs a name'],
  ['`__proto__` as the name of a command', '{"command":"__proto__"}\n', 'unknown command'],
])('the control socket refuses %s', async (_what, line, message) => {
  await serve(() => expect.unreachable())
  expect(JSON.parse(await say(line))).toMatchObject({ ok: false, error: expect.stringContaining(message), exitCode: 2 })
})

test('the control socket cuts off an endless line, and serves the next client', async () => {
  await serve()
  await say('x'.repeat(1_000_000)).catch(() => {})
  expect(await sendCommand(journalPath, { command: 'status' })).toEqual({ got: { command: 'status' } })
})

test('only the owner may open the control socket, and a stop removes it', async () => {
  await serve()
  const path = controlPath(journalPath)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  await stop?.()
  stop = undefined
  expect(existsSync(path)).toBe(false)
})

test('a control socket that a crash left behind is replaced', async () => {
  writeFileSync(controlPath(journalPath), '')
  await serve()
  expect(await sendCommand(journalPath, { command: 'status' })).toBeDefined()
})

test('a path of the control socket that is too long is replaced by a path in the runtime directory, one for each journal', async () => {
  vi.stubEnv('XDG_RUNTIME_DIR', folder)
  const deep = join(folder, 'd'.repeat(90))
  mkdirSync(deep)
  journalPath = join(deep, 'sluice.db')
  const path = controlPath(journalPath)
  expect(path.startsWith(join(folder, 'sluice-'))).toBe(true)
  expect(controlPath(join(deep, 'other.db'))).not.toBe(path)
  symlinkSync(deep, join(folder, 'link'))
  expect(controlPath(join(folder, 'link', 'sluice.db'))).not.toBe(`${join(folder, 'link', 'sluice.db')}.sock`)
  chmodSync(folder, 0o700)
  await serve()
  expect(await sendCommand(journalPath, { command: 'status' })).toBeDefined()
})

test('a runtime directory that other users may use is refused', () => {
  const open = join(folder, 'open')
  mkdirSync(open)
  chmodSync(open, 0o755)
  vi.stubEnv('XDG_RUNTIME_DIR', open)
  expect(() => controlPath(join(folder, 'd'.repeat(0), `${'n'.repeat(100)}.db`))).toThrow('that only you can access')
})

test('the signal SIGUSR2 halts entries', async () => {
  const got = Promise.withResolvers<ControlCommand>()
  await serve((command) => {
    got.resolve(command)
    return {}
  })
  process.kill(process.pid, 'SIGUSR2')
  expect(await got.promise).toEqual({ command: 'halt' })
})

test('the file HALT stops entries, and resume is refused while the file exists', async () => {
  const got = Promise.withResolvers<ControlCommand>()
  writeFileSync(haltPath(journalPath), '')
  await serve((command, by) => {
    if (command.command === 'resume') requireNoHaltFile(haltPath(journalPath))
    got.resolve(command)
    return { by }
  })
  expect(await got.promise).toEqual({ command: 'halt' })
  await expect(sendCommand(journalPath, { command: 'resume' })).rejects.toThrow('remove it first')
  rmSync(haltPath(journalPath))
  expect(await sendCommand(journalPath, { command: 'resume' })).toEqual({ by: 'terminal' })
})

test('a path HALT that is not a regular file of this user does not stop entries, and a warning names it', async () => {
  mkdirSync(haltPath(journalPath))
  await serve(() => expect.unreachable())
  expect(warnings).toEqual([expect.stringContaining('is not a regular file of this user')])
})
