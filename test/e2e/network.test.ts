import { readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { openReader } from '../../src/journal/reader/reader.ts'
import { called } from './called.ts'
import { type LoudService, openLoudService } from './loud-service.ts'
import { launch } from './process.ts'
import { openStage, orderIn, type Stage, tell } from './stage.ts'
import { until } from './until.ts'
import { openVenue, type Venue } from './venue.ts'

const WIRETAP = fileURLToPath(new URL('./wiretap.ts', import.meta.url))
// biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal must not receive these characters
const COLOUR = /\u001b/
const SOURCE_KEY = 'source-key-1a2b3c4d5e6f'
const RPC_KEY = 'rpc-key-9f8e7d6c5b4a'

/** Runs bots with secrets from the environment on a service with many faults, which refuses the API key at the end. */
async function troubledRun(atEnd: Parameters<typeof openVenue>[1]) {
  const source = await openSource(atEnd)
  const bots = [
    { name: 'trips', strategy: 'round-trips', params: { rounds: 2 } },
    { name: 'attentive', strategy: 'attentive', sources: { mood: { url: 'env:SLUICE_E2E_MOOD', everySeconds: 1 } } },
  ] as const
  const venue = await openVenue({ bots }, atEnd)
  const { apiKeys, rpcUrl, faults } = venue.sandbox
  venue.configure({
    service: { apiKey: 'env:SLUICE_E2E_KEY' },
    chain: { rpc: [{ url: 'env:SLUICE_E2E_RPC', requestsPerSecond: 50 }] },
  })
  for (const kind of ['dropAfter', 'rateLimit', 'reverted', 'garbage'] as const) faults.set({ kind })
  const heard = join(venue.folder, 'heard')
  const secrets = [apiKeys.standard, RPC_KEY, SOURCE_KEY]
  const one = venue.run({
    SLUICE_E2E_KEY: apiKeys.standard,
    SLUICE_E2E_RPC: `${rpcUrl}?api-key=${RPC_KEY}`,
    SLUICE_E2E_MOOD: `http://127.0.0.1:${source.port}/mood?key=${SOURCE_KEY}`,
    SLUICE_E2E_WIRETAP: heard,
    NODE_OPTIONS: `--import=${WIRETAP}`,
  })
  await until('fills', () => /"running"/.test(one.stderr) && venue.books().fills.length > 0)
  for (const kind of ['rpcError', 'disconnect'] as const) faults.set({ kind })
  await until('the consequences', () => venue.books().gaps.length >= 2 && faults.active.length === 0)
  faults.set({ kind: 'keyRevoked' })
  await until('the refusal', () => /refuses the API key/.test(one.stderr))
  one.child.kill('SIGINT')
  expect(await one.ended).toBe(0)
  return { venue, one, secrets, source, heard: readFileSync(heard, 'utf8').trim().split('\n') }
}

describe.concurrent('network connections and files of a run', () => {
  test('a run connects only to the configured hosts, and no secret is in logs, journal or output', async ({
    onTestFinished,
  }) => {
    const { venue, one, secrets, source, heard } = await troubledRun(onTestFinished)
    expect(new Set(heard)).toEqual(new Set([portOf(venue), source.port].map((port) => `connect 127.0.0.1:${port}`)))
    expect(noted(venue)).toContain('the mood is 1')
    const outputs = await Promise.all(
      [['orders', '--json'], ['fills', '--json'], ['positions'], ['replay', '--verify']].map((args) =>
        called([...args, '--journal', venue.journal]),
      ),
    )
    const shown = [one.stdout, one.stderr, ...outputs.flatMap(({ stdout, stderr }) => [stdout, stderr])]
    for (const [what, bytes] of [...filesOf(venue), ['output', Buffer.from(shown.join('\n'))] as const])
      for (const secret of secrets) expect(isIn(secret, bytes), `a secret in ${what}`).toBe(false)
    expect(isIn('"authenticate"', readFileSync(venue.journal))).toBe(false)
    for (const [path] of filesOf(venue).filter(([path]) => path.includes('journal.db')))
      expect(statSync(path).mode & 0o077, path).toBe(0)
  })

  test('the demo connects only to its own sandbox', async ({ onTestFinished }) => {
    const venue = await openVenue({ bots: [] }, onTestFinished) // for its folder
    const heard = join(venue.folder, 'heard')
    const args = ['demo', '--journal', join(venue.folder, 'demo.db'), '--seconds', '2', '--json']
    const demo = launch(args, { SLUICE_E2E_WIRETAP: heard, NODE_OPTIONS: `--import=${WIRETAP}` })
    expect(await demo.ended).toBe(0)
    const whom = new Set(readFileSync(heard, 'utf8').trim().split('\n'))
    expect(whom.size).toBe(1)
    expect([...whom][0]).toMatch(/^connect 127\.0\.0\.1:\d+$/)
  })

  test('the hook that records network connections records a connection', async ({ onTestFinished }) => {
    const venue = await openVenue({ bots: [] }, onTestFinished)
    const heard = join(venue.folder, 'heard')
    const program = `fetch('http://elsewhere.invalid').catch(() => {}); new WebSocket('ws://sockets.invalid').onerror = () => {}`
    const one = launch(['-e', program], { SLUICE_E2E_WIRETAP: heard, NODE_OPTIONS: `--import=${WIRETAP}` }, '')
    await one.ended
    expect(readFileSync(heard, 'utf8').split('\n').sort()).toEqual(
      expect.arrayContaining([
        'connect elsewhere.invalid:80',
        'lookup elsewhere.invalid',
        'connect sockets.invalid:80',
      ]),
    )
  })
})

describe.concurrent('a service that echoes requests', () => {
  const SAID = /no: /

  test.for<[what: string, part: 'wsUrl' | 'rpc', code: number]>([
    ['an answer of the feed', 'wsUrl', 3],
    ['an answer of the RPC', 'rpc', 1],
  ])(
    'if %s repeats the request, the run ends with its message, without secrets and control characters',
    async ([, part, code], { onTestFinished }) => {
      const { stage, loud } = await openLoudStage(onTestFinished)
      const LOUD_KEY = `loud-key-for-${part}`
      const rpc = { url: `env:LOUD_RPC`, requestsPerSecond: 50 }
      stage.configure({
        service: { apiKey: 'env:LOUD_KEY', ...(part === 'wsUrl' && { wsUrl: `ws://127.0.0.1:${loud.port}/api/data` }) },
        ...(part === 'rpc' && { chain: { rpc: [rpc] } }),
      })
      const one = stage.run({ LOUD_KEY, LOUD_RPC: `http://127.0.0.1:${loud.port}/rpc?api-key=${LOUD_KEY}` })
      expect(await one.ended).toBe(code)
      expect(one.stderr).toMatch(SAID)
      expect(one.stderr).not.toMatch(COLOUR)
      expect(isIn(LOUD_KEY, Buffer.from(one.stderr))).toBe(false)
    },
  )

  test('if the answer to an order repeats the request, the journal records the answer without the secrets in it', async ({
    onTestFinished,
  }) => {
    const { stage, loud } = await openLoudStage(onTestFinished)
    const key = stage.sandbox.apiKeys.standard
    stage.configure({ service: { baseUrl: `http://127.0.0.1:${loud.port}/api`, units: { tradeAmount: 'sol' } } })
    const running = await stage.go()
    expect((await tell(running.handle, stage, 'buy')).answer).toBe('o1')
    await orderIn(stage, 'o1', ({ state, code }) => state === 'failed' && code === 'INVALID_MINT')
    await running.stop()
    expect(stage.books().reports.at(-1)?.reason).toMatch(SAID)
    for (const [what, bytes] of filesOf(stage)) expect(isIn(key, bytes), `a secret in ${what}`).toBe(false)
  })
})

async function openLoudStage(atEnd: Parameters<typeof openVenue>[1]): Promise<{ stage: Stage; loud: LoudService }> {
  const loud = await openLoudService()
  atEnd(() => loud.close())
  return { stage: await openStage({}, atEnd), loud }
}

/** Starts a data source whose answers and errors contain the URL of the request, and with it the key in the URL. */
async function openSource(atEnd: Parameters<typeof openVenue>[1]): Promise<{ port: number }> {
  let asked = 0
  const server = createServer(({ url }, response) => {
    asked++
    response.end(asked % 2 === 0 ? `the source has no data at ${url}` : JSON.stringify({ value: asked, url }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEnd(async () => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port }
}

function noted({ journal }: Venue): string[] {
  const reader = openReader(journal)
  const notes = [...reader.decisions()].filter(({ kind }) => kind === 'note').map(({ reason }) => reason)
  reader.close()
  return notes
}

function portOf({ sandbox }: Venue): number {
  return Number(new URL(sandbox.baseUrl).port)
}

/** Returns the files that a run left in its folder, without the user's own secret files. */
function filesOf({ folder }: Venue): [path: string, bytes: Buffer][] {
  const kept = ['key', 'rpc']
  return readdirSync(folder)
    .filter((name) => !kept.includes(name))
    .map((name) => [join(folder, name), readFileSync(join(folder, name))])
}

/** Returns whether the bytes contain the secret or an encoding of it. */
function isIn(secret: string, bytes: Buffer): boolean {
  const forms = [secret, Buffer.from(secret).toString('hex'), Buffer.from(secret).toString('base64').replace(/=+$/, '')]
  return forms.some((form) => bytes.includes(form))
}
