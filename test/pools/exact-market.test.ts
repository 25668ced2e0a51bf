import { beforeAll, describe, expect, test } from 'vitest'
import { type ExactMarket, playMarket } from '../../bench/pools/exact-market.ts'
import { DisplacedPool } from '../../bench/pools/exact-pool.ts'
import { CURVE_START, TOKEN_SUPPLY } from '../../src/solana/constants.ts'

const SEED = 3

describe(`a simulated market of five minutes, seed ${SEED}`, () => {
  let market: ExactMarket
  beforeAll(() => {
    market = playMarket({ seed: SEED, minutes: 5 })
  })

  test('without a trade of our own, every pool passes through exactly its recorded states', () => {
    for (const pool of market.pools.values()) {
      const displaced = new DisplacedPool(pool, Number.NEGATIVE_INFINITY)
      const times = new Set(pool.events.map(({ time }) => time))
      for (const time of times) {
        displaced.advance(time)
        expect(displaced.reserves).toEqual(pool.events.findLast((event) => event.time === time)?.after)
      }
    }
  })

  test('every print equals the trade of its pool, unless a router distorts it', () => {
    const trades = [...market.pools.values()].flatMap(({ mint, events }) =>
      events.map(({ time, kind, after }) => `${mint} ${time} ${kind} ${after.virtualSol}`),
    )
    expect(new Set(trades).size).toBeGreaterThan(10_000)
    let exact = 0
    let prints = 0
    for (const { time, event } of market.rows) {
      if (event.type !== 'trade') continue
      const { events } = market.pools.get(event.mint) ?? { events: [] }
      const own = events.filter((one) => one.time === time && one.kind === event.side)
      expect(own.length).toBeGreaterThan(0)
      const amount = event.side === 'buy' ? event.sol * 1e9 : event.tokens * 1e6
      if (own.some((one) => Math.abs(Number(one.amount) - amount) < 1)) exact++
      prints++
    }
    expect(exact / prints).toBeGreaterThan(0.85)
  })

  test('the market contains honeypots, migrations, whales, withdrawn liquidity and plain pools', () => {
    const pools = [...market.pools.values()]
    const all = pools.flatMap(({ events }) => events)
    expect(pools.some(({ isHoneypot }) => isHoneypot)).toBe(true)
    expect(pools.some(({ start, events }) => !start.complete && events.at(-1)?.after.complete === true)).toBe(true)
    expect(all.filter(({ kind, amount }) => kind === 'buy' && amount > 5_000_000_000n).length).toBeGreaterThan(10)
    expect(all.some(({ kind }) => kind === 'withdraw')).toBe(true)
    expect(pools.filter(({ start }) => start.complete).length).toBe(16)
  })

  test('no pool ever holds more than the supply of its token, and no curve less SOL than it started with', () => {
    for (const { events } of market.pools.values())
      for (const { after } of events) {
        expect(after.virtualTokens).toBeLessThanOrEqual(after.complete ? TOKEN_SUPPLY : CURVE_START.virtualTokens)
        if (!after.complete) expect(after.virtualSol).toBeGreaterThanOrEqual(CURVE_START.virtualSol)
      }
  })

  test('the tape has no row within a gap of the feed, although trading continues during the gap', () => {
    for (const { from, to } of market.gaps) {
      expect(market.rows.filter(({ time }) => time > from && time < to)).toEqual([])
      const lost = [...market.pools.values()].flatMap(({ events }) =>
        events.filter(({ time }) => time > from && time < to),
      )
      expect(lost.length).toBeGreaterThan(0)
    }
  })

  test('the same seed gives the same market, and another seed gives another market', () => {
    const digest = ({ rows }: ExactMarket): string =>
      rows
        .slice(-20)
        .map(({ time, event }) => time + event.mint)
        .join()
    const short = (seed: number): string => digest(playMarket({ seed, minutes: 1 }))
    expect(short(SEED)).toBe(short(SEED))
    expect(short(SEED)).not.toBe(short(SEED + 1))
  })
})
