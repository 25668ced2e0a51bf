import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { seededRandom } from '../../src/base/random.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { ConfigError } from '../../src/config/yaml/errors.ts'
import { runs } from '../support/runs.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { RULES, type Wrong } from './wrong-by-rule.ts'
import { YamlSource } from './yaml-source.ts'

/** `SLUICE_SEED` gives others. */
const COUNT = runs(110)
const SEED = Number(process.env.SLUICE_SEED ?? 7)

const folder = temporaryFolder()

const WHOLE = `service:
  baseUrl: https://x.io/api
  wsUrl: wss://x.io/api/data
  apiKey: env:KEY
  plan: { requestsPerMinute: 600, connections: 10, messagesPerSecond: 100, maxBuySol: 100 }
  share: 1
  units: { tradePrice: auto, tradeAmount: auto, priceUpdate: auto, sell: auto }
  lateSeconds: 120
chain: { rpc: [{ url: env:RPC_URL, requestsPerSecond: 8 }], cluster: mainnet-beta }
wallet: { publicKey: YourWaLLetAddressGoesHereAsBase581111111111, keypair: "file:k", limits: { maxSolPerDay: 2, maxDrawdownSol: 1, minBalanceSol: 0.1 } }
journal: { path: a.db, keepTapeDays: 14 }
paper: { balanceSol: 10, seed: 1, latency: { p50Seconds: 1, p95Seconds: 4 } }
defaults:
  orders: { slippagePercent: 5, priorityFeeSol: auto, ttlSeconds: 2, maxEventAgeSeconds: 3, maxChasePercent: 5 }
  exitOrders: { slippageLadder: [5, 15], retrySeconds: 3 }
  exits: { stopLossPercent: 20, takeProfitPercent: 50, trailingPercent: 25, maxHoldSeconds: 900 }
bots:
  - name: dips
    strategy: dip-buyer
    params: { dropPercent: 15, sizeSol: 0.1 }
    mode: live
    executor: cloud
    limits: { maxSolPerOrder: 0.1, maxSolPerHour: 1, maxOpenPositions: 5, maxSolPerMint: 0.1, maxDailyLossSol: 0.5, maxExposureSol: 0.5, maxSolPerCreator: 0.2, maxLosingStreak: 4, streakPauseSeconds: 600 }
`

const SOURCES = [
  WHOLE,
  ...['demo', 'live.example', 'paper.example'].map((name) =>
    readFileSync(new URL(`../../config/${name}.yaml`, import.meta.url), 'utf8'),
  ),
]

async function errorsOf(yaml: string): Promise<readonly ConfigError[]> {
  folder.write('bots.yaml', yaml)
  const loaded = await loadConfig(['bots.yaml'], { cwd: folder.path })
  return loaded.ok ? [] : loaded.errors
}

function placeOf(yaml: string, offset: number): string {
  const lines = yaml.slice(0, offset).split('\n')
  return `${lines.length}:${(lines.at(-1)?.length ?? 0) + 1}`
}

/**
 * Returns the error at the position of the mistake. An error of syntax has no path. It may be reported on a later line
 * if its message contains the line of the mistake.
 */
function errorOf({ yaml, offsets, path: expected }: Wrong, errors: readonly ConfigError[]): ConfigError | undefined {
  const places = offsets.map((offset) => placeOf(yaml, offset))
  if (expected !== undefined)
    return errors.find(({ line, column, path }) => path === expected && places.includes(`${line}:${column}`))
  const lines = places.map((place) => Number(place.split(':', 1)[0]))
  return errors.find(({ line, message }) =>
    lines.some((one) => line === one || line === one + 1 || message.includes(`line ${one}`)),
  )
}

function isSame(yaml: string, source: string): boolean {
  try {
    return isDeepStrictEqual(parse(yaml), parse(source))
  } catch {
    return false
  }
}

test('the configuration files are valid before a mistake is added', async () => {
  for (const yaml of SOURCES) expect(await errorsOf(yaml)).toEqual([])
})

/** Generates wrong files, with each kind of mistake in turn. */
function* wrongFiles(): Generator<Wrong & { readonly rule: string }> {
  const random = seededRandom(SEED)
  const sources = SOURCES.map((yaml) => new YamlSource(yaml))
  const rules = Object.entries(RULES)
  for (let made = 0; made < COUNT; ) {
    const [rule, make] = rules[made % rules.length] as (typeof rules)[number]
    const source = sources[random.integer(sources.length)] as YamlSource
    const wrong = make(source, random)
    if (wrong === undefined || isSame(wrong.yaml, source.yaml)) continue
    made++
    yield { rule, ...wrong }
  }
}

test('`check` reports every mistake in a file with its position and path, and corrects nine of ten typing errors', async () => {
  const missed: string[] = []
  const misunderstood: string[] = []
  let typos = 0
  for (const wrong of wrongFiles()) {
    const errors = await errorsOf(wrong.yaml)
    const error = errorOf(wrong, errors)
    if (error === undefined) missed.push(complaintOf(wrong, errors))
    if (wrong.meant === undefined) continue
    typos++
    const isUnderstood = error?.message.endsWith(`; did you mean ${wrong.meant}?`) === true
    if (!isUnderstood) misunderstood.push(`${wrong.what}: ${error?.message}`)
  }
  if (process.env.SLUICE_RUNS !== undefined)
    console.info(
      `seed ${SEED}: right place and path for ${COUNT - missed.length} of ${COUNT} wrong files, right suggestion for ${typos - misunderstood.length} of ${typos} typing errors`,
    )
  expect(missed, `seed ${SEED}`).toEqual([])
  expect(misunderstood.length, `seed ${SEED}\n${misunderstood.join('\n')}`).toBeLessThanOrEqual(typos / 10)
})

function complaintOf(
  { rule, what, yaml, offsets, path }: Wrong & { rule: string },
  errors: readonly ConfigError[],
): string {
  const said = errors.map((error) => `${error.line}:${error.column} ${error.path}: ${error.message}`)
  return `${rule}, ${what}: at ${offsets.map((one) => placeOf(yaml, one)).join(' or ')} ${path ?? ''}; said ${said.join(' / ')}`
}
