import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { LaunchEvent, MarketEvent, PriceEvent, TradeEvent } from '../../../src/sandbox/market/market.ts'
import { runMarket } from '../../../src/sandbox/market/market.ts'
import { RecordedMarket } from '../../../src/sandbox/market/recorded-market.ts'
import { SeededMarket } from '../../../src/sandbox/market/seeded-market.ts'
import { SimulatedClock } from '../../../src/simulation/simulated-clock.ts'
import { isPublicKey, isSignature } from '../../../src/solana/base58.ts'
import { Curve } from '../../../src/solana/bonding-curve.ts'

interface Seen {
  at: number
  event: MarketEvent
  /** Price of the curve after the event, SOL per token. */
  price: number
}

function play(seed: number, ms: number, options: { launchesPerSecond?: number } = {}): Seen[] {
  const seen: Seen[] = []
  let at = 0
  const market: SeededMarket = new SeededMarket({
    seed,
    emit: (event) => seen.push({ at, event, price: market.token(event.mint)?.curve.price ?? Number.NaN }),
    ...options,
  })
  for (at = 0; at < ms; at += 50) market.advance(at)
  return seen
}

const trades = (seen: Seen[]): (Seen & { event: TradeEvent })[] =>
  seen.filter((one): one is Seen & { event: TradeEvent } => one.event.type === 'trade')
const off = (event: TradeEvent, price: number): number => Math.max(event.price / price, price / event.price)

describe('generated market', () => {
  const seen = play(1, 300_000)

  test('the same seed of a market gives the same events, and another seed gives other events', () => {
    expect(play(1, 20_000)).toEqual(seen.filter(({ at }) => at < 20_000))
    expect(play(2, 20_000)).not.toEqual(seen.filter(({ at }) => at < 20_000))
  })

  test('the generated market has the documented activity from its first second on', () => {
    const perSecond = trades(seen).length / 300
    expect(perSecond).toBeGreaterThan(20)
    expect(perSecond).toBeLessThan(45)
    expect(trades(seen).filter(({ at }) => at < 1_000).length).toBeGreaterThan(5)
    expect(
      new Set(
        trades(seen)
          .filter(({ at }) => at < 30_000)
          .map(({ event }) => event.mint),
      ).size,
    ).toBeGreaterThan(25)
    const launches = seen.filter(({ event }) => event.type === 'newToken').length
    expect(launches / 300).toBeGreaterThan(0.2)
    expect(launches / 300).toBeLessThan(0.4)
  })

  test('15 % of the generated prints are hops of routed swaps, with prices that are wrong by a factor of 2 to 30', () => {
    const noisy = trades(seen).filter(({ event, price }) => off(event, price) > 2)
    const share = noisy.length / trades(seen).length
    expect(share).toBeGreaterThan(0.13)
    expect(share).toBeLessThan(0.17)
    expect(noisy.filter(({ event }) => event.sol < 0.05).length / noisy.length).toBeGreaterThan(0.6)
    expect(noisy.filter(({ event }) => event.sol > 0.1).length / noisy.length).toBeGreaterThan(0.05)
    for (const { event, price } of noisy) expect(off(event, price)).toBeLessThan(60)
  })

  test('in every generated print, the price equals SOL divided by tokens', () => {
    for (const { event } of trades(seen)) {
      expect(event.price).toBeCloseTo(event.sol / event.tokens, 15)
      expect(event.sol).toBeGreaterThan(0)
      expect(isPublicKey(event.mint) && isPublicKey(event.trader) && isSignature(event.signature)).toBe(true)
    }
    const signatures = trades(seen).map(({ event }) => event.signature)
    expect(new Set(signatures).size).toBe(signatures.length)
  })

  test('in the generated market, falls and rises of 15 % occur every few seconds', () => {
    const high = new Map<string, number>()
    const low = new Map<string, number>()
    let falls = 0
    let rises = 0
    for (const { event, price } of seen) {
      if (!Number.isFinite(price)) continue
      high.set(event.mint, Math.max(high.get(event.mint) ?? 0, price))
      low.set(event.mint, Math.min(low.get(event.mint) ?? Number.POSITIVE_INFINITY, price))
      if (price < high.get(event.mint)! * 0.85) falls += Number(high.set(event.mint, price) !== undefined)
      if (price > low.get(event.mint)! * 1.15) rises += Number(low.set(event.mint, price) !== undefined)
    }
    expect(falls).toBeGreaterThan(60)
    expect(rises).toBeGreaterThan(60)
  })

  test('a price update reports a significant move, with the change since the last price update', () => {
    const updates = seen.map(({ event }) => event).filter((event): event is PriceEvent => event.type === 'priceUpdate')
    expect(updates.length).toBeGreaterThan(300)
    for (const update of updates) expect(Math.abs(update.changePercent)).toBeGreaterThanOrEqual(5)
  })

  test('some generated launches have hostile names or the mint of a currency', () => {
    const events = play(1, 30_000, { launchesPerSecond: 20 })
      .map(({ event }) => event)
      .filter((event): event is LaunchEvent => event.type === 'newToken')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for control characters
    expect(events.some(({ name }) => /[\u0000-\u001f]/.test(name))).toBe(true)
    expect(events.some(({ name }) => name.includes('<'))).toBe(true)
    expect(events.some(({ name, symbol }) => name === '' && symbol === '')).toBe(true)
  })

  test("our own trade is printed without distortion and does not change other traders' actions", () => {
    const events: MarketEvent[] = []
    const market = new SeededMarket({ seed: 1, emit: (event) => events.push(event) })
    const { mint } = seen.find(({ event }) => event.type === 'trade')!.event
    const { curve } = market.token(mint)!
    const swap = curve.quoteBuy(1_000_000_000n)
    const before = curve.price
    curve.applyBuy(swap)
    expect(curve.price).toBeGreaterThan(before)
    market.print({
      mint,
      signature: 's',
      trader: 'w',
      side: 'buy',
      sol: swap.sol,
      tokens: swap.tokens,
      slippagePercent: 5,
      priorityFeeSol: 0.001,
    })
    expect(events[0]).toMatchObject({
      type: 'trade',
      mint,
      signature: 's',
      trader: 'w',
      sol: Number(swap.sol) / 1e9,
      slippagePercent: 5,
    })
    market.advance(4_950)
    const strangers = events.filter((event) => event.type === 'trade').slice(1)
    expect(strangers.map(({ signature }) => signature)).toEqual(
      trades(seen)
        .filter(({ at }) => at < 5_000)
        .slice(0, strangers.length)
        .map(({ event }) => event.signature),
    )
  })
})

test('a token of the generated market continues to trade in the next process', () => {
  const prints: string[] = []
  const market = new SeededMarket({ seed: 1, emit: ({ type, mint }) => type === 'trade' && prints.push(mint) })
  const held = 'J5p7z5dZew83HwpFnUqr1HL2S29sn8i7S8eFNwDUpump'
  market.adopt({
    mint: held,
    creator: 'c',
    symbol: 's',
    name: 'n',
    metadata: { description: '', image: '', website: '', twitter: '' },
    curve: new Curve(),
  })
  market.advance(30_000)
  expect(prints.filter((mint) => mint === held).length).toBeGreaterThan(10)
})

describe('pace', () => {
  test.each([1, 10, 100])('with the speed %i, the market runs at this multiple of real time', (speed) => {
    const clock = new SimulatedClock(1_000)
    let events = 0
    const stop = runMarket(new SeededMarket({ seed: 1, emit: () => events++ }), clock, speed)
    clock.advanceTo(1_000 + 20_000 / speed)
    const whole = play(1, 20_001).length
    expect(events).toBeGreaterThanOrEqual(whole * 0.97)
    expect(events).toBeLessThanOrEqual(whole * 1.03)
    stop()
    clock.advanceTo(clock.now() + 5_000)
    expect(events).toBeLessThanOrEqual(whole * 1.03)
  })
})

describe('recorded market', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-market-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const mint = 'J5p7z5dZew83HwpFnUqr1HL2S29sn8i7S8eFNwDUpump'
  const trade = (timestamp: number, price: number, signature = `s${timestamp}`): string => {
    return JSON.stringify({
      type: 'trade',
      mint,
      signature,
      trader: 't',
      amount: 1,
      tokensTraded: 1 / price,
      price,
      marketCap: price * 1e9,
      timestamp,
      side: 'buy',
      slippage: 1,
      priorityFee: 0,
    })
  }
  const file = (lines: string[]): string => {
    const path = join(folder, 'recorded.ndjson')
    writeFileSync(path, `${lines.join('\n')}\n`)
    return path
  }

  test('a recording is played by its timestamps, unknown lines are skipped, and the market is silent at the end', () => {
    const events: MarketEvent[] = []
    const path = file([
      trade(5_000, 2e-7),
      '{"type":"gap","from":1,"to":2}',
      'damage',
      trade(5_100, 2e-7),
      trade(9_000, 3e-7),
    ])
    const market = new RecordedMarket({ path, emit: (event) => events.push(event) })
    expect(market.skipped).toBe(2)
    market.advance(99)
    expect(events).toHaveLength(1)
    market.advance(100)
    expect(events).toHaveLength(2)
    expect(market.nextAt).toBe(4_000)
    market.advance(60_000)
    expect(events).toHaveLength(3)
    expect(market.nextAt).toBeUndefined()
  })

  test('a long gap of the recording lasts one second when it is played', () => {
    let events = 0
    const market = new RecordedMarket({
      path: file([trade(0, 1e-7), trade(20_000, 1e-7), trade(9_000_000, 1e-7)]),
      emit: () => events++,
    })
    market.advance(20_999)
    expect(events).toBe(2)
    market.advance(21_000)
    expect(events).toBe(3)
  })

  test('a repetition of the recording has new signatures', () => {
    const signatures: string[] = []
    const emit = (event: MarketEvent): unknown => event.type === 'trade' && signatures.push(event.signature)
    const market = new RecordedMarket({ path: file([trade(0, 1e-7), trade(1_000, 1e-7)]), emit, repeat: true })
    market.advance(5_500)
    expect(signatures).toHaveLength(6)
    expect(new Set(signatures).size).toBe(6)
  })

  test('a hop of a routed swap does not move the curve on which our orders execute', () => {
    const market = new RecordedMarket({
      path: file([1, 1, 1, 20, 1].map((factor, index) => trade(index, factor * 1e-7))),
      emit: () => {},
    })
    market.advance(3)
    expect(market.token(mint)!.curve.price).toBeCloseTo(1e-7, 10)
  })

  test('the recorded market refuses a file without a market message', () => {
    expect(() => new RecordedMarket({ path: file(['x']), emit: () => {} })).toThrow(/one JSON message per line/)
  })

  const real = '../shared/data/real-market.ndjson'
  test.skipIf(!existsSync(real))(`a real recording is played completely (skipped where ${real} is absent)`, () => {
    const counts = { trade: 0, newToken: 0, priceUpdate: 0 }
    const market = new RecordedMarket({ path: real, emit: ({ type }) => counts[type]++ })
    market.advance(Number.MAX_SAFE_INTEGER)
    expect(counts).toEqual({ trade: 5_014, newToken: 99, priceUpdate: 0 })
    expect(market.skipped).toBe(0)
  })
})
