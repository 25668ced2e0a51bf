import { expect, test } from 'vitest'
import { loadConfig } from '../../src/config/load.ts'
import { type Random, seededRandom } from '../../src/core/random.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const folder = temporaryFolder()

const whole = `service:
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

/** Every key, where it stands in the text. */
const keys = [...whole.matchAll(/(?<=[\s{])([a-zA-Z]\w*):(?=\s)/g)].map((match) => ({
  key: match[1] as string,
  offset: match.index,
}))

function mistype(word: string, random: Random): string {
  const at = Math.floor(random.next() * (word.length - 1))
  const letter = String.fromCharCode(97 + Math.floor(random.next() * 26))
  const [before, here, next, after] = [word.slice(0, at), word[at] ?? '', word[at + 1] ?? '', word.slice(at + 2)]
  const ways = [
    before + next + after,
    before + next + here + after,
    before + letter + next + after,
    before + here + letter + next + after,
    word.toLowerCase(),
    word.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`),
  ]
  return ways[Math.floor(random.next() * ways.length)] as string
}

test('the whole file is right', async () => {
  folder.write('typo.yaml', whole)
  expect(await loadConfig(['typo.yaml'], { cwd: folder.path })).toMatchObject({ ok: true })
})

test('a mistyped key is found where it stands, and nine of ten are understood', async () => {
  const seed = 7
  const random = seededRandom(seed)
  const missed: string[] = []
  let tried = 0
  while (tried < 300) {
    const { key, offset } = keys[Math.floor(random.next() * keys.length)] as (typeof keys)[number]
    const typo = mistype(key, random)
    if (keys.some((other) => other.key === typo)) continue
    tried++
    folder.write('typo.yaml', whole.slice(0, offset) + typo + whole.slice(offset + key.length))
    const result = await loadConfig(['typo.yaml'], { cwd: folder.path })
    const lines = whole.slice(0, offset).split('\n')
    const place = { file: 'typo.yaml', line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 }
    const path = expect.stringMatching(new RegExp(`(^|\\.)${typo}$`))
    const errors = result.ok ? [] : result.errors
    expect(errors, `seed ${seed}: ${typo} for ${key}`).toContainEqual({ ...place, path, message: expect.any(String) })
    const { message } = errors.find((error) => error.path.split('.').at(-1) === typo) ?? {}
    if (message !== `unknown key; did you mean ${key}?`) missed.push(`${typo} for ${key}: ${message}`)
  }
  expect(missed.length, missed.join('\n')).toBeLessThan(tried / 10)
})
