import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { openForWriting } from '../../src/journal/database.ts'
import { sendCommand } from '../../src/live/control/client.ts'
import { startSandbox } from '../../src/sandbox/sandbox.ts'
import { DEFAULT_VENUE } from '../../src/venues/registry.ts'
import { called } from './called.ts'
import { openLoudService } from './loud-service.ts'
import { sluice } from './process.ts'
import { openRpcProxy } from './rpc-proxy.ts'
import { openStage } from './stage.ts'
import { until } from './until.ts'
import { openVenue, type Venue, type VenueOptions } from './venue.ts'

interface Check {
  readonly name: string
  readonly status: 'ok' | 'warn' | 'fail'
  readonly found: string
  readonly fix?: string
}

interface Visit {
  readonly code: number | null
  readonly checks: readonly Check[]
  /** Returns the status and the findings of one check. */
  readonly of: (name: string) => string
  /** The names of the failed checks. */
  readonly failed: readonly string[]
  readonly all: string
}

const BOT = { name: 'puppet', strategy: 'puppet', limits: { maxSolPerOrder: 0.1, maxOpenPositions: 3 } } as const
/** The slot time of the real chain. It is used because doctor reports the lag of an RPC node in Solana slots. */
const SLOT_MS = 400
type AtEnd = Parameters<typeof openVenue>[1]

function venueOf(atEnd: AtEnd, options: Partial<VenueOptions> = {}): Promise<Venue> {
  return openVenue({ bots: [BOT], slotMs: SLOT_MS, ...options }, atEnd)
}

async function doctor({ configFile }: Venue, env?: Readonly<Record<string, string>>): Promise<Visit> {
  const args = ['doctor', configFile, '--json']
  const { code, stdout, stderr } = env === undefined ? await called(args) : await sluice(args, env)
  const lines = stdout.trimEnd().split('\n')
  expect(lines, stderr).toHaveLength(1)
  const { ok, checks } = JSON.parse(lines[0] as string) as { ok: boolean; checks: Check[] }
  expect(ok).toBe(code === 0)
  for (const { status, fix } of checks) expect(status === 'ok').toBe(fix === undefined)
  const found = (name: string): string => {
    const check = checks.find((one) => one.name === name)
    return check === undefined ? 'not looked at' : `${check.status}: ${check.found}`
  }
  const failed = checks.filter(({ status }) => status === 'fail').map(({ name }) => name)
  return { code, checks, of: found, failed, all: `${stdout}${stderr}` }
}

/** Sets an environment variable to an RPC address, and returns the setting that refers to this variable. */
function rpcFile({ folder }: Venue, name: string, url: string): object {
  const path = join(folder, name)
  writeFileSync(path, url, { mode: 0o600 })
  return { url: `file:${path}`, requestsPerSecond: 50 }
}

describe.concurrent('a healthy setup', () => {
  test.for([0, 1, 2, 3, 7])(
    'doctor finds no problem in a correct setup with dialect %d of the service',
    async (dialect, { onTestFinished }) => {
      const venue = await venueOf(onTestFinished, { dialect })
      const visit = await doctor(venue)
      expect(visit.failed).toEqual([])
      expect(visit.code).toBe(0)
      expect(visit.of('key')).toMatch(/^ok: accepted by 127\.0\.0\.1:\d+/)
      expect(visit.of('plan')).toMatch(
        /^ok: standard: 100 requests per minute, 5 connections, 50 messages per second$/i,
      )
      expect(visit.of('units')).toMatch(/^ok: amount \/ tokensTraded is SOL per token, according to \d+ prints/)
      const isUsd = venue.sandbox.dialect.tradePrice === 'usd'
      expect(visit.of('units')).toMatch(
        isUsd ? /price is 1\d\d times the price in SOL, so it is in another currency$/ : /the price is in SOL too$/,
      )
      expect(visit.of('sell number')).toMatch(/^warn: unit unknown/)
      expect(visit.of('portfolio')).toMatch(/contains the requested key.*is the balance in SOL/)
      expect(visit.of('token info')).toMatch(/contains the requested key/)
      expect(visit.of('requests')).toBe('ok: 2 of 100 requests of the last minute used')
      expect(visit.of('rpc 1 methods')).toBe('ok: all 8 methods answer, and the node respects minContextSlot')
      expect(visit.of('wallet')).toMatch(/^ok: \w+: 20 SOL, 0 tokens$/)
      expect(visit.of('clock')).toMatch(/^ok: /)
      expect(venue.requests).toHaveLength(2)
      for (const secret of Object.values(venue.sandbox.apiKeys)) expect(visit.all).not.toContain(secret)
      expect(visit.all).not.toContain(venue.sandbox.rpcUrl)
    },
  )

  test('doctor checks the embedded sandbox and prints one line per check', async ({ onTestFinished }) => {
    const venue = await venueOf(onTestFinished)
    const file = join(venue.folder, 'sandbox.yaml')
    writeFileSync(
      file,
      JSON.stringify({ service: 'sandbox', journal: { path: join(venue.folder, 'own.db') }, bots: [] }),
    )
    const { code, stdout, stderr } = await sluice(['doctor', file])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).not.toContain('\u001b')
    expect(stdout).toMatch(/^ {2}ok {4}key {12}accepted by sandbox /m)
    expect(stdout).toMatch(/\n\d+ ok, \d+ warnings, 0 failed\n$/)
  })

  test('doctor counts the requests between two calls and compares them with the records', async ({
    onTestFinished,
  }) => {
    const venue = await venueOf(onTestFinished)
    expect((await doctor(venue)).of('portfolio')).not.toMatch(/unchanged/)
    const second = await doctor(venue)
    expect(second.of('portfolio')).toMatch(/unchanged$/)
    const [, used] = /^ok: (\d) of 100 requests of the last minute used$/.exec(second.of('requests')) ?? []
    const recent = venue.requestedAt.filter((at) => performance.now() - at < 60_000)
    expect(Number(used)).toBeGreaterThanOrEqual(recent.length)
    expect(Number(used)).toBeLessThanOrEqual(4)
    expect(second.of('journal')).toMatch(/^ok: .*: intact, not in use$/)
    for (const end of ['', '.lock']) expect(statSync(`${venue.journal}${end}`).mode & 0o077).toBe(0)
  })

  test('doctor connects to the configured hosts only', async ({ onTestFinished }) => {
    const venue = await venueOf(onTestFinished)
    const heard = join(venue.folder, 'heard')
    const wiretap = fileURLToPath(new URL('./wiretap.ts', import.meta.url))
    await doctor(venue, { SLUICE_E2E_WIRETAP: heard, NODE_OPTIONS: `--import=${wiretap}` })
    const whom = new Set(readFileSync(heard, 'utf8').trim().split('\n'))
    expect(whom).toEqual(new Set([`connect ${new URL(venue.sandbox.baseUrl).host}`]))
  })
})

describe.concurrent('the service', () => {
  test('if the service refuses the key, doctor exits with 3', async ({ onTestFinished }) => {
    const venue = await venueOf(onTestFinished)
    venue.giveKey('standard-nobody-knows-me')
    const visit = await doctor(venue)
    expect(visit).toMatchObject({ code: 3, failed: ['key'] })
    expect(visit.of('rpc 1')).toMatch(/^ok/)
    expect(visit.all).not.toContain('nobody-knows-me')
    expect(venue.requests).toEqual([])
  })

  test('if the service refuses a request under this plan, doctor exits with 3', async ({ onTestFinished }) => {
    const venue = await venueOf(onTestFinished)
    venue.sandbox.faults.set({ kind: 'planRefused', target: 'portfolio' })
    const visit = await doctor(venue)
    expect(visit).toMatchObject({ code: 3, failed: ['portfolio'] })
    expect(visit.of('portfolio')).toMatch(/^fail: 403: not included in this plan/)
  })

  test.for<[what: string, plan: unknown, key: 'standard' | 'premium' | 'enterprise', found: RegExp]>([
    [
      'a configuration that allows more than the plan',
      'premium',
      'standard',
      /^fail: .*; the configuration allows more: 1000 requests/,
    ],
    [
      'a configuration that allows less than the plan',
      'standard',
      'premium',
      /^warn: .*; the configuration allows less: 100 requests/,
    ],
    [
      'a configuration that leaves out the numbers of an Enterprise plan',
      'auto',
      'enterprise',
      /^warn: the plan is Enterprise, but/,
    ],
  ])('doctor reports %s', async ([, plan, key, found], { onTestFinished }) => {
    const venue = await venueOf(onTestFinished, { config: { service: { plan } } })
    venue.giveKey(venue.sandbox.apiKeys[key])
    expect((await doctor(venue)).of('plan')).toMatch(found)
  })

  test('if the service echoes secrets and control characters, doctor prints neither', async ({ onTestFinished }) => {
    const loud = await openLoudService()
    onTestFinished(() => loud.close())
    const venue = await venueOf(onTestFinished)
    const host = `127.0.0.1:${loud.port}`
    venue.configure({ service: { baseUrl: `http://${host}/api`, wsUrl: `ws://${host}/api/data` } })
    const visit = await doctor(venue)
    expect(visit).toMatchObject({ code: 3, failed: ['key'] })
    expect(visit.all).not.toContain(venue.sandbox.apiKeys.standard)
    expect(visit.all).not.toContain('\u001b')
  })

  test("if the service does not tell the unit of a sale's number, the configuration can tell it", async ({
    onTestFinished,
  }) => {
    const venue = await venueOf(onTestFinished, { config: { service: { units: { sell: 'baseUnits' } } } })
    expect((await doctor(venue)).of('sell number')).toBe(
      'ok: the service reads the number as base units, according to service.units.sell',
    )
  })
})

/** The first Solana slot of each sandbox's chain. */
const FIRST_SLOT = 300_000_000

describe.concurrent('an RPC', () => {
  const future = (params: readonly unknown[]): readonly unknown[] =>
    params.map((one) => (typeof one === 'object' && !Array.isArray(one) ? { ...one, minContextSlot: undefined } : one))
  test.for<[what: string, change: Parameters<typeof openRpcProxy>[1], check: string, found: RegExp]>([
    [
      'an RPC that ignores minContextSlot',
      { call: (_, params) => future(params) },
      'rpc 2 methods',
      /the node ignores minContextSlot/,
    ],
    [
      'an RPC that does not support the history of an address',
      {
        answer: ({ method, answer: { id, ...rest } }) =>
          method === 'getSignaturesForAddress'
            ? { jsonrpc: '2.0', id, error: { code: -32_601, message: 'Method not found' } }
            : { id, ...rest },
      },
      'rpc 2 methods',
      /getSignaturesForAddress: -32601 Method not found/,
    ],
    [
      'an RPC that is behind',
      {
        call: (method, params) => (method === 'getBlockTime' ? [FIRST_SLOT] : params),
        answer: ({ method, answer }) => {
          const { result } = answer as { result: { absoluteSlot: number } }
          return method === 'getEpochInfo' && result
            ? { ...answer, result: { ...result, absoluteSlot: result.absoluteSlot - 400 } }
            : answer
        },
      },
      'rpc 2 lag',
      /^fail: slot \d+, [34]\d\d behind the newest/,
    ],
    [
      'an RPC that is down',
      { answer: () => 503 },
      'rpc 2',
      /^fail: file:.*: the answer is not JSON-RPC, status 503|RPC 2 rests/,
    ],
  ])('doctor reports %s', async ([, change, check, found], { onTestFinished }) => {
    const venue = await venueOf(onTestFinished)
    const proxy = await openRpcProxy(venue.sandbox.rpcUrl, change)
    onTestFinished(() => proxy.close())
    venue.configure({
      chain: { rpc: [rpcFile(venue, 'rpc', venue.sandbox.rpcUrl), rpcFile(venue, 'rpc2', proxy.url)] },
    })
    const visit = await doctor(venue)
    expect(visit).toMatchObject({ code: 1, failed: [check] })
    expect(visit.of(check)).toMatch(found)
    expect(visit.all).not.toContain(proxy.url)
  })

  test('doctor reports an RPC that refuses requests because there are too many', async ({ onTestFinished }) => {
    const venue = await venueOf(onTestFinished)
    let calls = 0
    const proxy = await openRpcProxy(venue.sandbox.rpcUrl, {
      answer: ({ answer }) => (++calls % 4 === 0 ? 429 : answer),
    })
    onTestFinished(() => proxy.close())
    venue.configure({ chain: { rpc: [rpcFile(venue, 'rpc', proxy.url)] } })
    expect((await doctor(venue)).of('rpc 1 budget')).toMatch(/^warn: 50 requests per second, and the node answered 429/)
  })

  test('doctor reports an RPC of another cluster', async ({ onTestFinished }) => {
    const venue = await venueOf(onTestFinished)
    const other = await startSandbox(DEFAULT_VENUE.served, { seed: 2 })
    onTestFinished(() => other.close())
    const rpc = [rpcFile(venue, 'rpc', venue.sandbox.rpcUrl), rpcFile(venue, 'rpc2', other.rpcUrl)]
    venue.configure({ chain: { rpc } })
    const visit = await doctor(venue)
    expect(visit).toMatchObject({ code: 1, failed: ['rpc 2'] })
    expect(visit.of('rpc 2')).toMatch(/this is not the chain of the first RPC$/)
    venue.configure({ chain: { rpc, cluster: 'mainnet-beta' } })
    expect((await doctor(venue)).failed).toEqual(['rpc 1', 'rpc 2', 'wallet'])
  })
})

describe.concurrent('this machine', () => {
  test('if other users can read the key, doctor fails', async ({ onTestFinished }) => {
    const venue = await venueOf(onTestFinished)
    const key = join(venue.folder, 'key')
    chmodSync(key, 0o644)
    const visit = await doctor(venue)
    expect(visit).toMatchObject({ code: 1, failed: ['secrets'] })
    expect(visit.of('secrets')).toMatch(/service\.apiKey: .*others can read it \(mode 0644\)/)
    expect(visit.checks.find(({ name }) => name === 'secrets')?.fix).toBe(`chmod 600 '${key}'`)
  })

  test('if the clock of this machine is a minute ahead, doctor reports it', async ({ onTestFinished }) => {
    const venue = await venueOf(onTestFinished)
    const ahead = 'const%20now%20=%20Date.now;%20Date.now%20=%20()%20=>%20now()%20+%2060_000'
    const visit = await doctor(venue, { NODE_OPTIONS: `--import=data:text/javascript,${ahead}` })
    expect(visit.failed).toContain('clock')
    expect(visit.of('clock')).toMatch(/^fail: (60|59)(\.\d+)? s ahead of the service/)
    expect(visit.of('rpc 1 lag')).toMatch(/^ok/)
  })

  test("if the journal's file is not a journal, doctor fails", async ({ onTestFinished }) => {
    const venue = await venueOf(onTestFinished)
    writeFileSync(venue.journal, 'something else', { mode: 0o600 })
    const visit = await doctor(venue)
    expect(visit).toMatchObject({ code: 1, failed: ['journal'] })
    expect(visit.of('portfolio')).toMatch(/^warn: not tested: the journal, which counts requests/)
    expect(venue.requests).toEqual([])
    expect(readFileSync(venue.journal, 'utf8')).toBe('something else')
  })

  test('doctor reports a journal of an older version, and does not change it', async ({ onTestFinished }) => {
    const venue = await venueOf(onTestFinished)
    openForWriting(venue.journal).close()
    const db = new Database(venue.journal)
    db.exec('DROP TABLE learned; PRAGMA user_version = 2')
    db.close()
    const visit = await doctor(venue)
    expect(visit).toMatchObject({ code: 0, failed: [] })
    expect(visit.of('journal')).toMatch(/^warn: .* was written by an older version of Sluice$/)
    expect(venue.requests).toEqual([])
  })

  test('if the wallet is empty, doctor fails', async ({ onTestFinished }) => {
    const visit = await doctor(await venueOf(onTestFinished, { fundSol: 0 }))
    expect(visit).toMatchObject({ code: 1, failed: ['wallet'] })
    expect(visit.of('wallet')).toMatch(/is empty$/)
  })

  test("if the wallet's balance does not cover one buy, doctor reports it", async ({ onTestFinished }) => {
    const visit = await doctor(await venueOf(onTestFinished, { fundSol: 0.05 }))
    expect(visit.of('wallet')).toMatch(/^fail: \w+: 0\.05 SOL, 0 tokens; one buy needs up to 0\.16/)
  })

  test('an invalid configuration ends doctor with 2', async ({ onTestFinished }) => {
    const { configFile } = await venueOf(onTestFinished)
    writeFileSync(configFile, 'service: sandbx\n')
    expect(await called(['doctor', configFile])).toMatchObject({ code: 2, stdout: '' })
  })
})

describe.concurrent('while a bot runs', () => {
  test("on the journal of a running bot, doctor reads the bot's state and uses no requests of the plan", async ({
    onTestFinished,
  }) => {
    const stage = await openStage({}, onTestFinished)
    const one = stage.run()
    await until('its start', () => /"msg":"running"/.test(one.stderr))
    const feed = async () => ((await sendCommand(stage.journal, { command: 'status' })) as { feed: string }).feed
    await until('its feed', async () => (await feed()) === 'live')
    const visit = await doctor(stage)
    expect(visit.failed).toEqual([])
    expect(visit.of('journal')).toMatch(new RegExp(`^ok: .* in use by process ${one.pid}, started`))
    expect(visit.of('process')).toMatch(
      new RegExp(`^ok: process ${one.pid}, .*: feed live, 0 positions, plan Standard, 0 of 100`),
    )
    expect(visit.of('key')).toMatch(/^ok/)
    expect(visit.of('portfolio')).toMatch(/^warn: not tested: process/)
    expect(visit.of('rpc 1')).toMatch(/^ok/)
    expect(stage.requests).toEqual([])
    expect(one.child.exitCode).toBe(null)
  })

  test('with a plan that allows one connection, doctor opens no second one while a bot runs on another journal', async ({
    onTestFinished,
  }) => {
    const plan = { requestsPerMinute: 100, connections: 1, messagesPerSecond: 50 }
    const stage = await openStage({ config: { service: { plan, units: {} } } }, onTestFinished)
    const one = stage.run()
    await until('its start', () => /"msg":"running"/.test(one.stderr))
    expect((await doctor(stage)).of('key')).toMatch(/^warn: not tested: the plan has one connection/)
    stage.configure({ service: { plan }, journal: { path: join(stage.folder, 'other.db') } })
    const visit = await doctor(stage)
    expect(visit.of('process')).toMatch(new RegExp(`^warn: process ${one.pid}, .* uses the key or the journal`))
    expect(visit.of('key')).toMatch(/^warn: not tested: the plan has one connection/)
    expect(stage.requests).toEqual([])
  })
})
