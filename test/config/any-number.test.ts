import fc from 'fast-check'
import { expect, test } from 'vitest'
import { stringify } from 'yaml'
import { checkJson } from '../../src/commands/trade/check.ts'
import { checkText } from '../../src/commands/trade/check-text.ts'
import { loadPolicy } from '../../src/config/builder-policy-file.ts'
import { type LoadResult, loadConfig } from '../../src/config/load.ts'
import { changedNumbers, type Path, withNumber } from '../support/changed-numbers.ts'
import { runs } from '../support/runs.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const folder = temporaryFolder()
const KEY = 'YourWaLLetAddressGoesHereAsBase581111111111'

const exits = {
  stopLossPercent: 20,
  takeProfitPercent: 50,
  takeProfitByAge: { 0: 45, 300: 30, 600: 0 },
  takeProfitSteps: [
    { atPercent: 25, sellPercent: 30 },
    { atPercent: 40, sellPercent: 20 },
  ],
  trailingPercent: 25,
  trailingArmPercent: 10,
  breakEvenAtPercent: 5,
  maxHoldSeconds: 900,
  idleSeconds: 60,
  whenStale: { policy: 'poll', afterSeconds: 30 },
  windowPrints: 21,
}
const limits = {
  minSolPerOrder: 0.01,
  maxSolPerOrder: 0.1,
  maxSlippagePercent: 30,
  maxSolPerHour: 1,
  maxSolPerDay: 2,
  maxOpenPositions: 5,
  maxSolPerMint: 0.1,
  maxSolPerCreator: 0.2,
  maxExposureSol: 0.5,
  maxDailyLossSol: 0.5,
  maxDrawdownSol: 1,
  maxLosingStreak: 4,
  streakPauseSeconds: 600,
}
const orders = { slippagePercent: 5, priorityFeeSol: 0.001, ttlSeconds: 2, maxEventAgeSeconds: 3, maxChasePercent: 5 }
const exitOrders = { slippageLadder: [5, 15], priorityFeeLadderSol: [0.0001, 0.001], retrySeconds: 3 }
const filters = { minLiquiditySol: 1, minAgeSeconds: 5, maxPoolSharePercent: 10 }

/** A configuration file that sets every number that a configuration can set. */
const CONFIG = {
  service: {
    baseUrl: 'https://x.io/api',
    wsUrl: 'wss://x.io/api/data',
    apiKey: 'env:KEY',
    plan: { requestsPerMinute: 600, connections: 10, messagesPerSecond: 100, maxBuySol: 100 },
    share: 0.5,
    lateSeconds: 120,
  },
  chain: { rpc: [{ url: 'env:RPC_URL', requestsPerSecond: 8, sendsPerSecond: 1 }], secondOpinionSol: 1 },
  wallet: {
    publicKey: KEY,
    keypair: 'file:k',
    caps: { maxSolPerTransaction: 1, maxSolPerHour: 10, maxSolPerDay: 50 },
    limits: { ...limits, minBalanceSol: 0.1 },
  },
  journal: { path: 'a.db', keepTapeDays: 14 },
  paper: { balanceSol: 10, seed: 1, serviceFeePercent: 1, latency: { p50Seconds: 1, p95Seconds: 4 } },
  defaults: { orders, exitOrders, exits, limits, filters },
  bots: [
    { name: 'dips', strategy: 'dip-buyer', params: { dropPercent: 15, sizeSol: 0.05 }, mode: 'live' },
    {
      name: 'launches',
      strategy: 'launch-sniper',
      params: { sizeSol: 0.05, maxAgeSeconds: 30, minLiquidity: 1, maxLiquidity: 1_000, maxLaunchesPerCreator: 1 },
      mode: 'live',
      executor: 'local',
      ...{ limits, exits, orders, exitOrders, filters },
    },
    { name: 'trend', strategy: 'momentum', params: { fast: 5, slow: 30, sampleSeconds: 1, minSlopePercent: 0.5 } },
  ],
}

const POLICY = {
  feeAccounts: [{ address: KEY, maxPercent: 1, maxSol: 0.1 }],
  tips: { accounts: 'jito', maxSol: 0.01 },
  maxPriorityFeeSol: 0.01,
  rentAccounts: 2,
  maxWalletSol: 1,
}

function load(config: object): Promise<LoadResult> {
  folder.write('any.yaml', stringify(config, { aliasDuplicateObjects: false }))
  return loadConfig(['any.yaml'], { cwd: folder.path })
}

/** Expects that all lamports and milliseconds are whole numbers, and that all other numbers are finite. */
function expectExact(value: unknown, path: Path = []): void {
  if (typeof value === 'number') {
    const name = String(path.at(-1))
    const isWhole = /Lamports|Ms$|^p50$|^p95$/.test(name)
    expect(isWhole ? Number.isSafeInteger(value) : Number.isFinite(value), `${path.join('.')} is ${value}`).toBe(true)
  } else if (typeof value === 'object' && value !== null)
    for (const [key, one] of Object.entries(value)) expectExact(one, [...path, key])
}

test('the configuration with every possible number is valid', async () => {
  expect(await load(CONFIG)).toMatchObject({ ok: true })
})

test('for a file with any numbers, `check` reports an error or shows exact amounts and times', async () => {
  let right = 0
  const numRuns = runs(100)
  await fc.assert(
    fc.asyncProperty(changedNumbers(CONFIG), async (config) => {
      const loaded = await load(config)
      expectExact(checkJson(loaded))
      if (!loaded.ok) return
      right++
      const { files: _, ...effective } = loaded.config
      expectExact(effective)
      expect(checkText(loaded.config)).not.toMatch(/NaN|Infinity|undefined/)
    }),
    { numRuns },
  )
  expect(right).toBeGreaterThan(numRuns / 20)
})

test('a builder policy with any numbers is refused, or its amounts are exact', () => {
  fc.assert(
    fc.property(changedNumbers(POLICY), (policy) => {
      expectExact(loadPolicy(folder.write('policy.yaml', stringify(policy))))
    }),
    { numRuns: runs(75) },
  )
})

test.each<[Path]>([
  [['bots', 1, 'limits', 'maxSolPerHour']],
  [['wallet', 'limits', 'maxExposureSol']],
  [['wallet', 'caps', 'maxSolPerDay']],
])('100,000 SOL at %j is refused, and the message contains the allowed range', async (path) => {
  const loaded = await load(withNumber(CONFIG, path, () => 100_000))
  expect(loaded.ok ? [] : loaded.errors.map(({ message }) => message)).toEqual([
    expect.stringMatching(/^expected at least [\d.]+ and at most 10000 SOL, found 100000$/),
  ])
})

test('`check` shows no worst case if the product of two limits exceeds any possible wallet', async () => {
  const wide = { maxOpenPositions: 10_000, maxSolPerMint: 10_000 }
  const bots = [{ name: 'dips', strategy: 'dip-buyer', params: { sizeSol: 1e300 }, limits: wide }]
  const loaded = await load({ service: 'sandbox', bots })
  expect(checkJson(loaded)).toMatchObject({ ok: true, bots: [{ worstCase: { exposureSol: null, lossSol: null } }] })
})
