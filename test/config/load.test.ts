import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { deriveSeed } from '../../src/base/random.ts'
import { botSettings } from '../../src/config/accounts.ts'
import type { Config } from '../../src/config/config.ts'
import { overriddenNote } from '../../src/config/effective-exits.ts'
import { loadConfig } from '../../src/config/load.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const folder = temporaryFolder()
const { path: cwd } = folder
const root = join(import.meta.dirname, '../..')

async function load(...texts: string[]): Promise<Config> {
  const result = await tryLoad(...texts)
  if (!result.ok) throw new Error(JSON.stringify(result.errors, null, 2))
  return result.config
}

function tryLoad(...texts: string[]) {
  const files = texts.map((text, index) => {
    folder.write(`${index}.yaml`, text)
    return `${index}.yaml`
  })
  return loadConfig(files, { cwd })
}

const bots = (...lines: string[]) => `service: sandbox\nbots:\n${lines.map((line) => `  - ${line}\n`).join('')}`
const REMOTE = 'service: { baseUrl: "https://x.io/api/", wsUrl: wss://x.io/api/data, apiKey: env:KEY }\n'
const LIVE = `${REMOTE}chain: { rpc: [{ url: env:RPC_URL }] }
wallet: { publicKey: YourWaLLetAddressGoesHereAsBase581111111111 }
`
const ROBOT = 'bots: [{ name: a, strategy: dip-buyer, mode: live, exits: { stopLossPercent: 20 } }]\n'

const shipped = readdirSync(join(root, 'config')).filter((name) => name.endsWith('.yaml'))

test.each(shipped.filter((name) => name !== 'builder-policy.example.yaml'))(
  'config/%s is valid and causes no warning',
  async (name) => {
    const result = await loadConfig([`config/${name}`], { cwd: root })
    expect(result).toMatchObject({ ok: true, config: { warnings: [] } })
  },
)

test('a minimal configuration file gets every default', async () => {
  const config = await load(bots('{ name: a, strategy: dip-buyer }'))
  expect(config).toMatchObject({
    service: { kind: 'sandbox', plan: 'auto', share: 1, lateMs: 120_000 },
    chain: { rpc: [] },
    journal: { path: `${cwd}/data/sluice.db`, keepTapeDays: 14, archive: false },
  })
  expect(config.bots[0]).toMatchObject({
    mode: 'paper',
    executor: 'cloud',
    params: { dropPercent: 15, sizeSol: 0.05 },
    orders: { slippagePercent: 5, priorityFeeLamports: null, ttlMs: 2000, maxEventAgeMs: 3000, maxChasePercent: 5 },
    exitOrders: { slippageLadder: [5, 15, 30, 50], retryMs: 3000 },
    exits: {},
    limits: { maxLamportsPerOrder: null, maxOpenPositions: null },
    tokenChecks: { when: 'before', allow: [] },
    paper: { lamports: 10_000_000_000, seed: deriveSeed(1, 'a'), latencyMs: { p50: 1500, p95: 4000 } },
    at: { file: '0.yaml', line: 3, column: 5 },
  })
})

test('a loaded configuration has the addresses of the service, and a reference in place of its key', async () => {
  const { service, chain } = await load(
    `service:
  baseUrl: https://x.io/api/
  wsUrl: wss://x.io/api/data
  apiKey: env:KEY
  plan: { requestsPerMinute: 600, connections: 10, messagesPerSecond: 100 }
  units: { tradePrice: sol, sell: baseUnits }
chain: { rpc: [{ url: env:RPC_URL }, { url: env:RPC2_URL, requestsPerSecond: 2 }] }
`,
  )
  expect(service).toMatchObject({
    baseUrl: 'https://x.io/api',
    host: 'x.io',
    plan: { name: 'custom', requestsPerMinute: 600, maxBuyLamports: 100_000_000_000 },
    units: { tradePrice: 'sol', tradeAmount: 'auto', priceUpdate: 'auto', sell: 'baseUnits' },
  })
  expect(JSON.stringify(service)).toContain('"apiKey":"env:KEY"')
  expect(chain.rpc.map(({ url, requestsPerSecond }) => [url.describe(), requestsPerSecond])).toEqual([
    ['env:RPC_URL', 8],
    ['env:RPC2_URL', 2],
  ])
})

test.each<[string, string, string, object]>([
  [
    'an exit comes from the bot, or else from the defaults, or else from the strategy',
    'launch-sniper',
    '{ stopLossPercent: 10 }',
    { stopLossPercent: 10, takeProfitPercent: 80, trailingPercent: 25, maxHoldSeconds: 300 },
  ],
  [
    'the exits of the defaults override those of the strategy',
    'momentum',
    '{}',
    { stopLossPercent: 40, takeProfitPercent: 80, maxHoldSeconds: 1800 },
  ],
  [
    'with `exits: strategy`, the exits of the strategy override those of the defaults',
    'momentum',
    'strategy',
    { stopLossPercent: 20, takeProfitPercent: 80, maxHoldSeconds: 1800 },
  ],
  [
    'a bot sets the map of targets by age as a whole',
    'dip-buyer',
    '{ takeProfitByAge: { 600: 40, 0: 60 } }',
    { stopLossPercent: 40, takeProfitPercent: 80, takeProfitByAge: { 0: 60, 600: 40 } },
  ],
  [
    'a bot and a strategy without exits have the exits of the defaults',
    'dip-buyer',
    '{}',
    { stopLossPercent: 40, takeProfitPercent: 80 },
  ],
  [
    '`none` as the value of an exit removes this exit',
    'dip-buyer',
    '{ stopLossPercent: none }',
    { takeProfitPercent: 80 },
  ],
  ['`exits: none` removes all exits', 'launch-sniper', 'none', {}],
])('the exits of a bot: %s', async (_what, strategy, exits, effective) => {
  const defaults = 'defaults: { exits: { stopLossPercent: 40, takeProfitPercent: 80 } }\n'
  const config = await load(defaults + bots(`{ name: a, strategy: ${strategy}, exits: ${exits} }`))
  expect(config.bots[0]?.exits).toEqual(effective)
})

test('`none` in defaults.exits removes exits of strategies, unless the bot has `exits: strategy`', async () => {
  const exitsOf = async (defaults: string, bot = '') =>
    (await load(`defaults: { exits: ${defaults} }\n${bots(`{ name: a, strategy: momentum${bot} }`)}`)).bots[0]?.exits
  expect(await exitsOf('none')).toEqual({})
  expect(await exitsOf('{ stopLossPercent: none }')).toEqual({ maxHoldSeconds: 1800 })
  expect(await exitsOf('none', ', exits: strategy')).toEqual({ stopLossPercent: 20, maxHoldSeconds: 1800 })
})

test('the note about overridden exits lists exactly the bots for which the defaults override exits of the strategy', async () => {
  const text = `defaults:
  exits: { stopLossPercent: 5, takeProfitPercent: 60, trailingPercent: none, maxHoldSeconds: 900 }
${bots(
  '{ name: all, strategy: launch-sniper }',
  '{ name: some, strategy: launch-sniper, exits: { stopLossPercent: 7, trailingPercent: 8 } }',
  '{ name: kept, strategy: launch-sniper, exits: strategy }',
  '{ name: off, strategy: launch-sniper, exits: none }',
  '{ name: none, strategy: dip-buyer }',
)}`
  const config = await load(text)
  expect(config.warnings).toEqual([])
  expect(overriddenNote(config.bots)).toBe(
    'defaults.exits overrides exits of strategies (`exits: strategy` in the section of a bot keeps them): all: stopLossPercent 5 instead of 25, trailingPercent none instead of 25, maxHoldSeconds 900 instead of 300; some: maxHoldSeconds 900 instead of 300',
  )
  expect(overriddenNote(config.bots.slice(2))).toBeUndefined()
  expect(config.bots[1]?.exitSources).toEqual({
    ...{ stopLossPercent: 'bot', trailingPercent: 'bot', takeProfitPercent: 'defaults', maxHoldSeconds: 'defaults' },
  })
  // The hash of the configuration is the same whether a bot's exits come from its own section or from the strategy.
  const spelled = 'exits: { stopLossPercent: 25, takeProfitPercent: 60, trailingPercent: 25, maxHoldSeconds: 300 }'
  const [own, written] = [
    bots('{ name: a, strategy: launch-sniper }'),
    bots(`{ name: a, strategy: launch-sniper, ${spelled} }`),
  ]
  expect((await load(own)).hash).toBe((await load(written)).hash)
})

test('a live bot needs an exit that ends a losing position, and any section may set it', async () => {
  const faults = async (defaults: string, bot: string) => {
    const result = await tryLoad(`defaults: { exits: ${defaults} }\n${LIVE}bots: [{ name: a, mode: live, ${bot} }]\n`)
    return result.ok ? [] : result.errors.map(({ path }) => path)
  }
  expect(await faults('{}', 'strategy: momentum')).toEqual([])
  expect(await faults('{}', 'strategy: dip-buyer, exits: strategy')).toEqual(['bots[0].exits'])
  expect(await faults('{ stopLossPercent: 5 }', 'strategy: dip-buyer, exits: strategy')).toEqual([])
  expect(await faults('{ stopLossPercent: none, maxHoldSeconds: none }', 'strategy: momentum')).toEqual([
    'bots[0].exits',
  ])
  expect(await faults('none', 'strategy: momentum, exits: strategy')).toEqual([])
  expect(await faults('none', 'strategy: momentum')).toEqual([])
})

test('in orders, exitOrders and limits, each key of the bot overrides the same key of the defaults', async () => {
  const defaults = `defaults:
  orders: { slippagePercent: 9, ttlSeconds: 1 }
  exitOrders: { retrySeconds: 1 }
  limits: { maxSolPerOrder: 0.5, maxOpenPositions: 2 }
  tokenChecks: { when: after, mintAuthority: allow, pausable: allow }
`
  const bot =
    '{ name: a, strategy: dip-buyer, orders: { slippagePercent: 3, priorityFeeSol: 0.001 }, limits: { maxSolPerOrder: 0.1 }, tokenChecks: { pausable: refuse, transferFee: allow } }'
  expect((await load(defaults + bots(bot))).bots[0]).toMatchObject({
    orders: { slippagePercent: 3, ttlMs: 1000, priorityFeeLamports: 1_000_000 },
    exitOrders: { slippageLadder: [5, 15, 30, 50], retryMs: 1000 },
    limits: { maxLamportsPerOrder: 100_000_000, maxOpenPositions: 2 },
    tokenChecks: { when: 'after', allow: ['mintAuthority', 'transferFee'] },
  })
})

test('anchors, aliases and merges of YAML are resolved', async () => {
  const text = bots(
    '&first { name: a, strategy: dip-buyer, params: &params { sizeSol: 0.1 }, exits: { stopLossPercent: 5 } }',
    '{ <<: *first, name: b, params: { <<: *params, dropPercent: 30 } }',
  )
  expect((await load(text)).bots[1]).toMatchObject({
    name: 'b',
    params: { sizeSol: 0.1, dropPercent: 30 },
    exits: { stopLossPercent: 5 },
  })
})

test('several files form one configuration, and a file may leave out sections that another file has', async () => {
  const config = await load(
    `${LIVE}journal: { path: one.db }\npaper: { balanceSol: 3 }\nbots: [{ name: a, strategy: dip-buyer }]\n`,
    `${REMOTE}journal: { path: ./one.db }\nbots: [{ name: b, strategy: dip-buyer }]\n`,
  )
  expect(config.journal.path).toBe(`${cwd}/one.db`)
  expect(config.wallets[0]?.publicKey).toBeDefined()
  expect(config.bots.map(({ name, paper, at }) => [name, paper.lamports / 1e9, at.file])).toEqual([
    ['a', 3, '0.yaml'],
    ['b', 10, '1.yaml'],
  ])
})

test('files that set a shared section differently are refused, and each error names the line', async () => {
  const result = await tryLoad(
    `${LIVE}journal: { path: one.db }\nbots: [{ name: a, strategy: dip-buyer }]\n`,
    'service: sandbox\nchain: { rpc: [{ url: env:OTHER }] }\njournal: { path: two.db }\nbots: [{ name: a, strategy: dip-buyer }]\n',
  )
  const agree = 'files that run together must have the same section'
  expect(result).toEqual({
    ok: false,
    errors: [
      { file: '1.yaml', line: 1, column: 10, path: 'service', message: `differs from 0.yaml:1; ${agree}` },
      { file: '1.yaml', line: 2, column: 8, path: 'chain', message: `differs from 0.yaml:2; ${agree}` },
      { file: '1.yaml', line: 3, column: 10, path: 'journal', message: `differs from 0.yaml:4; ${agree}` },
      {
        file: '1.yaml',
        line: 4,
        column: 16,
        path: 'bots[0].name',
        message: 'the bot at 0.yaml:5 has the same name; choose another one',
      },
    ],
  })
})

test('a bot whose strategy cannot be loaded is checked for errors that no strategy could avoid', async () => {
  const faults = (bot: string) => tryLoad(`${REMOTE}bots:\n  - ${bot}\n`)
  const missing = { path: 'bots[0].strategy', message: expect.stringMatching(/did you mean dip-buyer/) }
  const wrong = `{ name: a, strategy: dip-byer, mode: live, params: { anything: 1 },
      exits: { stopLossPercent: 60, takeProfitPercent: 50 }, orders: { slippagePercent: 9 },
      filters: { denyMints: no-such-list.txt }, limits: { maxSolPerOrder: 2, maxSolPerHour: 1, maxSlippagePercent: 5 } }`
  expect(await faults(wrong)).toMatchObject({
    errors: [
      { path: 'bots[0].strategy' },
      { path: 'bots[0].mode', message: expect.stringContaining('chain.rpc') },
      { path: 'bots[0].mode', message: expect.stringContaining('wallet.publicKey') },
      { path: 'bots[0].exits.stopLossPercent' },
      { path: 'bots[0].filters.denyMints' },
      { path: 'bots[0].limits.maxSolPerOrder' },
      { path: 'bots[0].limits.maxSlippagePercent' },
    ],
  })
  // The bot's defaults override the exits of the strategy, unless the bot has `exits: strategy`.
  const far = (bot: string) =>
    tryLoad(
      `${LIVE}defaults: { exits: { takeProfitPercent: 50, breakEvenAtPercent: 40 } }\nbots: [{ name: a, strategy: dip-byer, ${bot} }]\n`,
    )
  expect(await far('exits: { takeProfitPercent: 30 }')).toMatchObject({
    errors: [
      {
        path: 'defaults.exits.breakEvenAtPercent',
        message: expect.stringContaining('comes from bots[0].exits (for the bot a)'),
      },
      missing,
    ],
  })
  expect(await far('exits: strategy')).toMatchObject({ errors: [missing] })
  // The strategy may set two things: the stop-loss of a live bot, and the trailing stop that the bot's
  // `trailingArmPercent` needs.
  const live = 'mode: live, exits: { trailingArmPercent: 20 }'
  expect(await tryLoad(`${LIVE}bots: [{ name: a, strategy: dip-byer, ${live} }]\n`)).toEqual({
    ok: false,
    errors: [expect.objectContaining(missing)],
  })
})

test('two loopback addresses with different ports are different RPCs', async () => {
  const rpc = (port: number) => `${REMOTE}chain: { rpc: [{ url: "http://127.0.0.1:${port}" }] }\n`
  expect(await tryLoad(rpc(8899), rpc(8899))).toMatchObject({ ok: true })
  expect(await tryLoad(rpc(8899), rpc(8900))).toMatchObject({ ok: false, errors: [{ path: 'chain' }] })
})

test.each<[string, (name: string) => string | undefined, string]>([
  ['a missing file', () => undefined, 'no such file; did you mean demo.yaml?'],
  ['a folder', (name) => folder.write(`${name}/x`, ''), 'expected a file, found a directory or device'],
  [
    'a file that is not UTF-8',
    () => folder.write('demo.yml', Buffer.from([0xff, 0xfe]) as unknown as string),
    'expected UTF-8 text',
  ],
  [
    'a file that is too long',
    () => folder.write('demo.yml', ' '.repeat(1_100_000)),
    'expected a file of at most 1 MiB',
  ],
])('the configuration is not loaded from %s', async (what, make, message) => {
  const inner = temporaryName(what)
  folder.write(`${inner}/demo.yaml`, '')
  const made = make(`${inner}/demo.yml`)
  const at = made === undefined || made.endsWith('/x') ? join(cwd, inner) : cwd
  const result = await loadConfig(['demo.yml'], { cwd: at })
  expect(result).toEqual({ ok: false, errors: [{ file: 'demo.yml', line: 1, column: 1, path: '', message }] })
})

function temporaryName(what: string): string {
  return what.replaceAll(' ', '-')
}

const RESOLVED = { service: 'x.io', cluster: 'genesis0123', publicKeyOf: () => 'WALLET' }

test.each([
  ['live', 'live', LIVE, { mode: 'live', id: 'live|x.io|genesis0|WALLET', executor: 'cloud', notices: 0 }],
  ['paper', 'live without --live', LIVE, { mode: 'paper', id: 'paper|x.io||a', executor: 'paper', notices: 1 }],
  [
    'paper',
    'live in a file with the sandbox',
    'service: sandbox\n',
    { mode: 'live', id: 'live|x.io|genesis0|WALLET', executor: 'cloud', notices: 0 },
  ],
  ['backtest', 'in a backtest', LIVE, { mode: 'backtest', id: 'backtest|x.io||a', executor: 'paper', notices: 0 }],
] as const)(
  'if the command allows %s, a bot that is %s has the expected mode, account and executor',
  async (allow, _what, head, { mode, id, executor, notices }) => {
    const config = await load(head + ROBOT)
    const result = botSettings(config, { ...RESOLVED, allow })
    expect(result.settings).toMatchObject([
      { account: { mode, id }, executor, exits: { stopLossPercent: 20 }, strategy: 'dip-buyer' },
    ])
    expect(result.notices).toHaveLength(notices)
    expect(structuredClone(result.settings)).toEqual(JSON.parse(JSON.stringify(result.settings)))
  },
)

test('the hash of a configuration changes with settings that affect decisions, and with no other settings', async () => {
  const hash = async (text: string) => (await load(text)).hash
  const before = await hash(LIVE + ROBOT)
  expect(before).toMatch(/^[0-9a-f]{64}$/)
  expect(await hash(`# a comment\n${LIVE}journal: { path: other.db }\n${ROBOT}`)).toBe(before)
  expect(await hash(LIVE.replace('env:KEY', 'file:~/key').replace('env:RPC_URL', 'env:OTHER') + ROBOT)).toBe(before)
  expect(await hash(LIVE + ROBOT.replace('mode: live', 'params: { dropPercent: 15 }, mode: live'))).toBe(before)
  expect(await hash(LIVE + ROBOT.replace('20', '21'))).not.toBe(before)
  expect(await hash(LIVE.replaceAll('x.io', 'y.io') + ROBOT)).not.toBe(before)
})

test.each<[string, string, string]>([
  [
    'a trailing stop that always acts before the stop-loss',
    bots('{ name: a, strategy: dip-buyer, exits: { stopLossPercent: 20, trailingPercent: 15 } }'),
    '3:84 bots[0].exits.trailingPercent: the trailing stop (15 %) always acts before the stop-loss (20 %); remove one, or set trailingArmPercent',
  ],
  [
    'a take-profit that fees consume',
    bots('{ name: a, strategy: dip-buyer, exits: { takeProfitPercent: 10 } }'),
    '3:65 bots[0].exits.takeProfitPercent: 10 % is less than twice the 8.8 % that fees and rent cost: raise the target, or buy larger amounts',
  ],
  [
    'a live bot without an hourly limit',
    LIVE + ROBOT,
    '4:8 bots[0].limits: without limits.maxSolPerHour a live bot may spend the whole wallet within an hour',
  ],
  [
    'a local executor without a builder policy',
    `${LIVE.replace('wallet: {', 'wallet: { keypair: "file:k",')}${ROBOT.replace('mode: live', 'mode: live, executor: local, limits: { maxSolPerHour: 1 }')}`,
    '4:62 bots[0].executor: the local executor signs transactions that the service builds: set service.builderPolicy, or a live run ends with exit code 4',
  ],
  [
    'different hosts in baseUrl and wsUrl',
    REMOTE.replace('wss://x.io', 'wss://y.io'),
    '1:49 service.wsUrl: the host y.io differs from the host of baseUrl (x.io), and the key is sent to both',
  ],
  [
    'a service without an API key',
    REMOTE.replace(', apiKey: env:KEY', ''),
    '1:10 service: without apiKey only backtests are possible',
  ],
  [
    'a wallet for the sandbox, which has its own',
    'service: sandbox\nwallet: {}\n',
    '2:1 wallet: this section is ignored, because the sandbox has its own; remove it',
  ],
])('the configuration check warns about %s', async (_what, text, warning) => {
  const { warnings } = await load(text)
  expect(warnings.map(({ line, column, path, message }) => `${line}:${column} ${path}: ${message}`)).toEqual([warning])
})

test('limits above the caps of the signer give a warning', async () => {
  const key = LIVE.replace(
    'wallet: {',
    'wallet: { keypair: "file:k", caps: { maxSolPerTransaction: 0.1, maxSolPerHour: 1 },',
  )
  const robot = (limits: string) => ROBOT.replace('mode: live', `mode: live, executor: local, limits: ${limits}`)
  const caps = async (limits: string) =>
    (await load(key + robot(limits))).warnings.flatMap(({ message }) => /caps\.\w+/.exec(message) ?? [])
  const few = 'minSolPerOrder: 0.05, maxSlippagePercent: 20'
  expect(await caps(`{ ${few}, maxSolPerOrder: 0.05, maxSolPerHour: 0.5 }`)).toEqual([])
  expect(await caps(`{ ${few}, maxSolPerOrder: 0.1, maxSolPerHour: 0.5 }`)).toEqual(['caps.maxSolPerTransaction'])
  expect(await caps('{ maxSolPerOrder: 0.05, maxSolPerHour: 0.5 }')).toEqual(['caps.maxSolPerHour'])
  expect(await caps('{ maxSolPerOrder: 0.05 }')).toEqual(['caps.maxSolPerHour'])
})
