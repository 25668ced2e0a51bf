import { Worker } from 'node:worker_threads'
import { afterEach, expect, test, vi } from 'vitest'
import { ExitCode } from '../../src/base/errors.ts'
import { deskFrom } from '../../src/config/convert-sections.ts'
import { Desk, requireSafeDesk, threadOptions } from '../../src/desk/host.ts'

const config = deskFrom({ port: 0 }, '')
const start = { config, journal: '/data/sluice.db', acts: true, sessions: [], isRun: true }

afterEach(() => {
  vi.unstubAllEnvs()
  vi.useRealTimers()
})

test('the thread of the desk has one environment variable, the folder of compiled code, and receives neither the API key nor the path of the keypair', async () => {
  vi.stubEnv('SLUICE_API_KEY', 'the-key-of-the-service')
  vi.stubEnv('NODE_COMPILE_CACHE', '/compiled')
  const code = `const { parentPort, workerData } = require('node:worker_threads')
    parentPort.postMessage(JSON.stringify([process.env, process.argv, process.execArgv, workerData]))`
  const worker = new Worker(code, { ...threadOptions(start), eval: true })
  const seen = await new Promise<string>((resolve) => worker.once('message', resolve))
  await worker.terminate()
  const [env, , , data] = JSON.parse(seen)
  expect(env).toEqual({ NODE_COMPILE_CACHE: '/compiled' })
  expect(seen).not.toContain('the-key-of-the-service')
  expect(Object.keys(data).sort()).toEqual(['acts', 'config', 'isRun', 'journal', 'sessions'])
  expect(Object.keys(data.config).sort()).toEqual(['bind', 'isPortFixed', 'port', 'readOnly'])
})

test('the desk runs in its thread, makes login links, and is restarted with its sessions if the thread dies', async () => {
  const logged: string[] = []
  const alerts: string[] = []
  const write = (...parts: unknown[]): void => void logged.push(JSON.stringify(parts))
  const desk = new Desk({
    ...{ config, journal: '/data/sluice.db', alert: (text: string) => void alerts.push(text) },
    log: { info: write, warn: write, error: write } as never,
  })
  const origin = await desk.ready
  expect(origin).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  expect(await desk.link(false)).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/login\?link=[\w-]{32}$/)
  await desk.close()
  expect(desk.origin).toBeUndefined()
  await expect(desk.link(false)).rejects.toThrow('the desk is down at present')
  expect(alerts).toEqual([])
})

test('a closed desk is down at once, even if its thread is late to end', async () => {
  const log = { info: () => {}, warn: () => {}, error: () => {} } as never
  const desk = new Desk({ config, journal: '/data/sluice.db', log, alert: () => {} })
  await desk.ready
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const closed = desk.close()
  vi.runAllTimers() // the thread has not had the time to end
  await closed
  vi.useRealTimers()
  expect(desk.origin).toBeUndefined()
  await expect(desk.link(false)).rejects.toThrow('the desk is down at present')
})

test('if another program uses the configured port, the desk raises an alert, and trading continues', async () => {
  const { createServer } = await import('node:net')
  const other = createServer()
  const port = await new Promise<number>((resolve) =>
    other.listen(0, '127.0.0.1', () => resolve((other.address() as { port: number }).port)),
  )
  const alerts: string[] = []
  const log = { info: () => {}, warn: () => {}, error: () => {} } as never
  const fixed = deskFrom({ port }, '')
  const desk = new Desk({ config: fixed, journal: '', log, alert: (text) => void alerts.push(text) })
  expect(await desk.ready).toBeUndefined()
  expect(alerts).toEqual([
    expect.stringMatching(/^the desk is down: .*EADDRINUSE.*; the desk restarts in 1 s; trading continues$/),
  ])
  await desk.close()
  other.close()
})

test.each<[string, Parameters<typeof deskFrom>[0], boolean]>([
  ['loopback', {}, true],
  ['the IPv6 loopback address', { bind: '::1' }, true],
  ['every address of the machine', { bind: '0.0.0.0' }, false],
  [
    'every address of the machine, with a host name but without TLS',
    { bind: '::', origin: 'https://desk.example.com' },
    false,
  ],
  [
    'an address behind a configured proxy',
    { bind: '10.0.0.2', origin: 'https://d.example', proxy: ['10.0.0.5'] },
    true,
  ],
])('a desk that listens on %s is allowed or refused as expected', (_name, settings, isAllowed) => {
  const check = (): void => requireSafeDesk(deskFrom(settings, ''), Date.now())
  if (isAllowed) check()
  else expect(check).toThrow(expect.objectContaining({ exitCode: ExitCode.unsafe }))
})

test('a desk whose certificate cannot be used is refused with exit code 2', () => {
  const tls = { certificate: '/nowhere/c.pem', key: '/nowhere/k.pem' }
  expect(() => requireSafeDesk(deskFrom({ origin: 'https://d.example', tls }, ''), Date.now())).toThrow(
    expect.objectContaining({ exitCode: ExitCode.usage, message: expect.stringContaining('no such file') }),
  )
})
