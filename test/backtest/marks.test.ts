import fc from 'fast-check'
import { expect, test } from 'vitest'
import { metricsOf } from '../../src/backtest/metrics/metrics.ts'
import { type Backtest, runBacktest } from '../../src/backtest/run.ts'
import { seededRandom } from '../../src/base/random.ts'
import { loadConfig } from '../../src/config/load.ts'
import { netOf, type RoundTrip } from '../../src/engine/accounting/round-trip.ts'
import { openReader } from '../../src/journal/reader/reader.ts'
import { type Reserves, solFor } from '../../src/solana/pool-depth.ts'
import { journalPath } from '../support/journal-samples.ts'
import type { MarketRow } from '../support/market-rows.ts'
import { writeTape } from '../support/recorded-tape.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const T0 = 1_780_000_000_000
const STEP_MS = 150
const SERVICE = { baseUrl: 'https://s.example/api', wsUrl: 'wss://s.example/api/data' }
/** Number of markets that the test plays. With a larger number, their seeds are random. */
const RUNS = Number(process.env.SLUICE_MARK_RUNS ?? 3)
const folder = temporaryFolder()

type Depths = Map<string, { time: number; pool: Reserves }[]>

interface ExactMarket {
  readonly rows: MarketRow[]
  /** The reserves of each pool after each of its trades. */
  readonly depths: Depths
}

interface Noise {
  /**
   * `share`: the share of trades at which a burst of wrong prints begins. `prints`: the number of prints of a burst.
   */
  readonly share: number
  readonly prints: number
  /** Price of each print of a burst, divided by the pool's price. */
  readonly factor: number
}

/**
 * Returns a market of tokens on exact bonding curves, whose prices rise and fall. Some bursts of prints have prices
 * that the pool never had, like the prints of a routed swap.
 */
function exactMarket(seed: number, count: number, noise: Noise): ExactMarket {
  const random = seededRandom(seed)
  const tokens = [...'ABCDEF'].map((letter) => ({
    mint: `${letter}zphy2B4JTUteQ8jGtj9Tc9anpttVXY3CRgGuJTpump`,
    ...{ sol: 40 + 30 * random.next(), tokens: 0, bias: 0.5, noisy: 0, calm: 0 },
  }))
  for (const token of tokens) token.tokens = 32_190_000_000 / token.sol
  const rows: MarketRow[] = []
  const depths: Depths = new Map(tokens.map(({ mint }) => [mint, []]))
  for (let row = 0; row < count; row++) {
    const time = T0 + row * STEP_MS
    const busy = tokens.find(({ noisy }) => noisy > 0)
    const token = busy ?? (tokens[random.integer(tokens.length)] as (typeof tokens)[number])
    const price = token.sol / token.tokens
    if (token.noisy > 0) {
      token.noisy--
      rows.push({ kind: 'buy', time, mint: token.mint, price: price * noise.factor, sol: 0.05 + random.next() })
      continue
    }
    token.calm++
    if (token.calm > 60 && random.next() < noise.share) Object.assign(token, { noisy: noise.prints, calm: 0 })
    if (random.next() < 0.03) token.bias = 0.2 + 0.6 * random.next()
    const isBuy = token.sol < 31 || (token.sol < 80 && random.next() < token.bias)
    const amount = 0.05 + 1.5 * random.next()
    const product = token.sol * token.tokens
    token.sol += isBuy ? amount : -Math.min(amount, token.sol - 30.01)
    const after = product / token.sol
    const moved = Math.abs(after - token.tokens)
    token.tokens = after
    const paid = Math.abs(token.sol - product / (after + (isBuy ? moved : -moved)))
    rows.push({ kind: isBuy ? 'buy' : 'sell', time, mint: token.mint, price: paid / moved, sol: paid })
    depths.get(token.mint)?.push({ time, pool: { sol: token.sol, tokens: token.tokens } })
  }
  return { rows, depths }
}

async function played(rows: readonly MarketRow[]): Promise<Backtest> {
  const path = journalPath()
  await writeTape(path, [{ time: T0, items: rows }])
  const exits = { stopLossPercent: 30, maxHoldSeconds: 90 }
  const bots = [{ name: 'dips', strategy: 'dip-buyer', params: { dropPercent: 8, sizeSol: 0.3 }, exits }]
  const loaded = await loadConfig([folder.write('bots.yaml', JSON.stringify({ service: SERVICE, bots }))])
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors))
  const reader = openReader(path)
  try {
    return runBacktest(loaded.config, reader.market(), { partial: false, logged: true })
  } finally {
    reader.close()
  }
}

function tripsOf({ bots: [bot] }: Backtest): readonly RoundTrip[] {
  return bot?.result.log?.money.trips ?? []
}

/** The maximum age of the robust price, the median of five prints. */
const LAG_MS = 15_000

/**
 * Returns the highest value of a round trip's tokens before `until`, in lamports: the proceeds if all of them had been
 * sold to the exact pool at its best moment, without fees.
 */
function mostPaid({ mint, openedAt, boughtTokens }: RoundTrip, depths: Depths, until: number): number {
  const path = depths.get(mint) ?? []
  const first = path.findLastIndex(({ time }) => time <= openedAt - LAG_MS)
  const sums = path.flatMap(({ time, pool }, at) => (at < first || time > until ? [] : solFor(boughtTokens, pool, 0)))
  return Math.max(0, ...sums) * 1e9
}

/**
 * Returns the highest equity that is possible with the exact pools at a time, in lamports above the balance at the
 * start. For a round trip that opens or closes at exactly this time, the better result counts.
 */
function mostAt(time: number, trips: readonly RoundTrip[], depths: Depths): number {
  let most = 0
  for (const trip of trips) {
    const closedAt = trip.closedAt ?? Number.POSITIVE_INFINITY
    if (trip.openedAt > time) continue
    const open = mostPaid(trip, depths, time) - trip.boughtLamports
    if (closedAt < time) most += netOf(trip)
    else
      most += Math.max(...[open], ...(closedAt === time ? [netOf(trip)] : []), ...(trip.openedAt === time ? [0] : []))
  }
  return most
}

function maxDrawdown({ bots: [bot], from, to }: Backtest, trips: readonly RoundTrip[]) {
  if (bot === undefined) throw new Error('no bot')
  const { startLamports, equity } = bot
  const found = new Map(metricsOf({ from, to, startLamports, trips, equity }).map(({ key, value }) => [key, value]))
  return {
    lamports: Number(found.get('maxDrawdown')) * 1e9,
    from: found.get('drawdownFrom'),
    to: found.get('drawdownTo'),
  }
}

test('bursts of wrong prints raise no mark (the value of an open position) above what the exact pools would pay', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 2 ** 31 }), fc.integer({ min: 1, max: 7 }), async (seed, prints) => {
      const { rows, depths } = exactMarket(seed, 2_000, { share: 0.02, prints, factor: 7 })
      const backtest = await played(rows)
      const [bot] = backtest.bots
      const trips = tripsOf(backtest)
      expect(trips.length).toBeGreaterThan(3)
      for (const { time, lamports } of bot?.equity.curve ?? []) {
        const most = (bot?.startLamports ?? 0) + mostAt(time, trips, depths)
        // A transaction that failed after its trade was closed may still have cost a fee.
        expect(lamports, `at ${time - T0} ms`).toBeLessThanOrEqual(most + (bot?.result.fees.failed ?? 0) + 1e4)
      }
      // The maximum loss of all positions that were held during the drawdown.
      const drawdown = maxDrawdown(backtest, trips)
      const held = trips.filter(
        ({ openedAt, closedAt }) => openedAt <= Number(drawdown.to) && (closedAt ?? Infinity) >= Number(drawdown.from),
      )
      const atRisk = held.reduce((sum, trip) => {
        const highest = mostPaid(trip, depths, Number(drawdown.to))
        return sum + Math.max(trip.boughtLamports, highest) + trip.feeLamports
      }, 0)
      expect(drawdown.lamports).toBeLessThanOrEqual(atRisk)
    }),
    { numRuns: RUNS, ...(RUNS === 3 ? { seed: 15 } : {}) },
  )
})
