import { expect, test } from 'vitest'
import { lamports, ZERO } from '../../src/base/units.ts'
import { DEFAULT_FILL_MODEL, type FillModel, FREE_FILL_MODEL } from '../../src/engine/accounting/fill-assumptions.ts'
import type { Position } from '../../src/engine/accounting/position.ts'
import type { Fill } from '../../src/engine/order.ts'
import { Mints } from '../../src/market/mints.ts'
import type { Attempt } from '../../src/orders/attempt.ts'
import type { Outcome } from '../../src/orders/ports.ts'
import { PaperExecutor } from '../../src/simulation/paper-executor.ts'
import { PaperMarket } from '../../src/simulation/paper-market.ts'
import { SimulatedClock } from '../../src/simulation/simulated-clock.ts'
import { type ExecutorWorld, executorContract } from '../contracts/executor.contract.ts'
import { buyAttempt, sellAttempt } from '../support/attempts.ts'
import { blockOf, type MarketRow } from '../support/market-rows.ts'

const START = 1_700_000_000_000
const PRICE = 5e-8
const AFTER_A_LOSS_MS = 81_000
/** A fill model whose transactions land after exactly one second and one Solana slot. */
const EXACT: FillModel = { ...DEFAULT_FILL_MODEL, latencyMs: { p50: 1_000, p95: 1_000 }, landingFailurePercent: 0 }
const LANDED_MS = 1_400
const FINAL_MS = LANDED_MS + 12_800

/** A clock, a market in which `mint` is traded at PRICE, and an executor on this market. */
class Paper {
  readonly clock = new SimulatedClock(START)
  readonly #mints = new Mints()
  readonly market = new PaperMarket(this.#mints, { tradePrice: 'sol', tradeAmount: 'sol' })
  readonly executor: PaperExecutor
  readonly outcomes: Outcome[] = []

  constructor(model: Partial<FillModel> = {}, seed = 1) {
    this.executor = new PaperExecutor(this.clock, this.market, { ...EXACT, ...model }, seed)
    // The two sales prove that the token can be sold.
    this.rows([1, 2].map(() => ({ kind: 'sell', time: START, mint: 'mint', price: PRICE })))
    this.print(PRICE, PRICE, PRICE)
  }

  /** Adds trades of 1 SOL each to the market, at the time of the clock. */
  print(...prices: number[]): void {
    this.rows(prices.map((price) => ({ time: this.clock.now(), mint: 'mint', price })))
  }

  rows(rows: MarketRow[]): void {
    this.market.observe(blockOf(rows, this.#mints), 0, rows.length)
  }

  run(attempt: Attempt): void {
    this.executor.execute(attempt, (outcome) => this.outcomes.push(outcome))
  }

  /** Runs an attempt until it is final, and returns its fill. */
  land(attempt: Attempt): Fill | undefined {
    this.run(attempt)
    this.pass(FINAL_MS)
    return fillOf(this.outcomes.at(-1))
  }

  pass(ms: number): void {
    this.clock.advanceTo(this.clock.now() + ms)
  }

  world(attempt: Attempt): ExecutorWorld {
    return { executor: this.executor, attempt, settle: () => this.pass(1_000_000) }
  }
}

function fillOf(outcome: Outcome | undefined): Fill | undefined {
  return outcome?.kind === 'filled' ? outcome.fill : undefined
}

function holding(tokens: bigint): Position {
  return {
    account: 'paper|test||bot',
    bot: 'bot',
    mint: 'mint',
    state: 'open',
    tokens,
    decimals: 6,
    costLamports: ZERO,
    averagePrice: PRICE,
    openedAt: START,
    exits: {},
    highPrice: PRICE,
    realizedLamports: ZERO,
    feeLamports: ZERO,
    exitTries: 0,
    exiting: '',
  }
}

const bought = (attempt: Attempt): ExecutorWorld => {
  const paper = new Paper()
  paper.land(buyAttempt('mint', 0.1))
  return paper.world(attempt)
}

executorContract('the paper executor', [
  { what: 'a buy fills', ends: 'filled', build: () => new Paper().world(buyAttempt('mint', 0.1)) },
  { what: 'a sale fills', ends: 'filled', build: () => bought(sellAttempt('mint')) },
  { what: 'a sale without tokens reverts', ends: 'reverted', build: () => new Paper().world(sellAttempt('mint')) },
  {
    what: 'a buy of a token without a price is refused',
    ends: 'refused',
    build: () => new Paper().world(buyAttempt('unseen', 0.1)),
  },
  {
    what: 'a sale of a token without a price is not sent',
    ends: 'unsent',
    build: () => new Paper().world(sellAttempt('unseen')),
  },
  {
    what: 'a buy reverts if the price exceeds its slippage limit',
    ends: 'reverted',
    build: () => {
      const paper = new Paper()
      paper.clock.after(LANDED_MS / 2, () => paper.print(PRICE * 2, PRICE * 2, PRICE * 2))
      return paper.world(buyAttempt('mint', 0.1))
    },
  },
  {
    what: 'a transaction that never lands is absent',
    ends: 'absent',
    build: () => new Paper({ landingFailurePercent: 100 }).world(buyAttempt('mint', 0.1)),
  },
  {
    what: 'an attempt is absent after a crash',
    ends: 'absent',
    call: 'resume',
    build: () => new Paper().world(buyAttempt('mint', 0.1)),
  },
  {
    what: 'an attempt stays reverted after a crash',
    ends: 'reverted',
    call: 'resume',
    build: () => new Paper().world(buyAttempt('mint', 0.1, { state: 'landed', code: 'SLIPPAGE_EXCEEDED' })),
  },
])

test('on paper, a buy is acknowledged, filled when it lands, and final 32 Solana slots later', () => {
  const paper = new Paper()
  paper.run(buyAttempt('mint', 0.1))
  paper.pass(LANDED_MS - 1)
  expect(paper.outcomes).toEqual([{ kind: 'acked', signature: 'paper-o1.1' }])
  paper.pass(1)
  expect(paper.outcomes[1]).toMatchObject({
    kind: 'filled',
    final: false,
    fill: { final: false, time: START + LANDED_MS },
  })
  paper.pass(12_799)
  expect(paper.outcomes).toHaveLength(2)
  paper.pass(1)
  expect(paper.outcomes[2]).toMatchObject({
    kind: 'filled',
    final: true,
    fill: { final: true, time: START + LANDED_MS },
  })
})

test('on paper, a buy pays the trade, the fees and the rent of a new account, and a full sale returns the rent', () => {
  const paper = new Paper()
  const first = paper.land(buyAttempt('mint', 0.1))
  const again = paper.land(buyAttempt('mint', 0.1, { id: 'o2.1', priorityFeeLamports: lamports(20_000) }))
  expect(first).toMatchObject({ tradeLamports: 100_000_000, feeLamports: 505_000, rentLamports: 2_039_280 })
  expect(first?.walletLamports).toBe(-102_544_280)
  expect(again).toMatchObject({ feeLamports: 25_000, rentLamports: 0, decimals: 6 })
  const all = (first?.tokens ?? 0n) + (again?.tokens ?? 0n)
  const half = paper.land(sellAttempt('mint', { id: 'o3.1', size: { kind: 'percent', percent: 50 } }))
  expect(half).toMatchObject({ tokens: all / 2n, rentLamports: 0 })
  const rest = paper.land(sellAttempt('mint', { id: 'o4.1' }))
  expect(rest).toMatchObject({ tokens: all - all / 2n, rentLamports: -2_039_280 })
  expect(rest?.walletLamports).toBe((rest?.tradeLamports ?? 0) - 505_000 + 2_039_280)
})

test('a paper order is filled at the worst price of its Solana slot; a print that the next print contradicts does not count', () => {
  const alone = new Paper().land(buyAttempt('mint', 0.1))
  const noisy = new Paper()
  noisy.run(buyAttempt('mint', 0.1))
  noisy.print(PRICE * 10, PRICE) // the leg of a router, and an ordinary trade
  noisy.pass(FINAL_MS)
  expect(fillOf(noisy.outcomes.at(-1))?.tokens).toBe(alone?.tokens)

  const spiked = new Paper()
  spiked.run(buyAttempt('mint', 0.1))
  spiked.pass(LANDED_MS - 1)
  const up = PRICE * 1.05
  spiked.print(up, up, up)
  spiked.print(PRICE, PRICE, PRICE, PRICE) // the price recovers before it lands
  spiked.pass(FINAL_MS)
  const tokens = fillOf(spiked.outcomes.at(-1))?.tokens ?? 0n
  expect(Number(tokens) / Number(alone?.tokens)).toBeCloseTo(1 / 1.05, 2)

  const early = new Paper()
  early.run(buyAttempt('mint', 0.1))
  early.print(up, up, up, PRICE)
  early.pass(FINAL_MS) // the price has recovered before its slot begins
  expect(fillOf(early.outcomes.at(-1))?.tokens).toBe(alone?.tokens)

  const later = new Paper()
  later.run(buyAttempt('mint', 0.1))
  later.pass(LANDED_MS)
  later.print(up, up, up)
  later.pass(FINAL_MS)
  expect(fillOf(later.outcomes.at(-1))?.tokens).toBe(alone?.tokens)
})

test('a price beyond the slippage limit reverts a paper trade, which costs its fee', () => {
  const paper = new Paper()
  paper.run(buyAttempt('mint', 0.1, { price: PRICE }))
  paper.print(PRICE * 1.3, PRICE * 1.3, PRICE * 1.3)
  paper.pass(FINAL_MS)
  const reverted = { kind: 'reverted', signature: 'paper-o1.1', feeLamports: 505_000, code: 'SLIPPAGE_EXCEEDED' }
  expect(paper.outcomes.slice(1)).toEqual([
    { ...reverted, final: false },
    { ...reverted, final: true },
  ])
})

test('the slippage of a paper order is measured from the price when it is sent, not from the price of its decision', () => {
  const paper = new Paper()
  paper.executor.restore([holding(1_000_000_000n)], [])
  const stale = sellAttempt('mint', { price: PRICE * 100, slippagePercent: 1 })
  expect(paper.land(stale)).toMatchObject({ tokens: 1_000_000_000n })
  expect(paper.land(buyAttempt('mint', 0.1, { id: 'o2.1', price: PRICE / 2 }))).toMatchObject({ side: 'buy' })
})

test.each([
  [{ kind: 'all' }, 1_000n],
  [{ kind: 'percent', percent: 33.3 }, 333n],
  [{ kind: 'tokens', tokens: 1_000n, decimals: 6 }, 1_000n],
  [{ kind: 'tokens', tokens: 1_001n, decimals: 6 }, undefined],
  [{ kind: 'percent', percent: 0.01 }, undefined],
] as const)('on paper, a sale of %o sells %s of 1000 base units', (size, tokens) => {
  const paper = new Paper()
  paper.executor.restore([holding(1_000n)], [])
  expect(paper.land(sellAttempt('mint', { size }))?.tokens).toBe(tokens)
  if (tokens === undefined) expect(paper.outcomes.at(-1)).toMatchObject({ kind: 'reverted', code: 'REVERTED' })
})

test('if two full exits are sent at the same time on paper, the second one has nothing to sell', () => {
  const paper = new Paper()
  paper.executor.restore([holding(1_000_000_000n)], [])
  paper.run(sellAttempt('mint'))
  paper.run(sellAttempt('mint', { id: 'o1.2' }))
  paper.pass(FINAL_MS)
  const ends = paper.outcomes.slice(-2)
  expect(ends[0]).toMatchObject({ kind: 'filled', fill: { attemptId: 'o1.1' } })
  expect(ends[1]).toMatchObject({ kind: 'reverted', signature: 'paper-o1.2' })
})

test('on paper, a token without trades for ten minutes is worthless and is sold for 0 SOL', () => {
  const paper = new Paper()
  const held = holding(1_000_000_000n)
  paper.executor.restore([held], [])
  expect(paper.executor.valueOf(held)).toBeGreaterThan(0)
  paper.pass(600_001)
  expect(paper.executor.valueOf(held)).toBe(0)
  expect(paper.land(sellAttempt('mint'))).toMatchObject({ tokens: 1_000_000_000n, tradeLamports: 0 })
})

test.each([
  { buys: 10, sales: [1, 1], sells: true },
  { buys: 11, sales: [1, 1], sells: true },
  { buys: 12, sales: [1, 1], sells: false },
  { buys: 12, sales: [1, 1, 1], sells: true },
  { buys: 12, sales: [1, 1, 0.001], sells: false },
])(
  'on paper, a token with 2 + $buys buys, and with sales of $sales SOL, can be sold: $sells',
  ({ buys, sales, sells }) => {
    const paper = new Paper()
    const held = holding(1_000_000_000n)
    paper.executor.restore([held], [])
    const row = { time: START, mint: 'mint', price: PRICE }
    // `Paper` begins with two sales, so only the other sales are added.
    paper.rows(sales.slice(2).map((sol) => ({ ...row, kind: 'sell', sol })))
    paper.print(...Array.from({ length: buys - 1 }, () => PRICE))
    expect(paper.executor.valueOf(held) > 0).toBe(sells)
    const fill = paper.land(sellAttempt('mint'))
    if (sells) expect(fill).toMatchObject({ tokens: 1_000_000_000n })
    else expect(paper.outcomes.at(-1)).toMatchObject({ kind: 'refused', code: 'UNSELLABLE', retry: 'never' })
  },
)

test('after eight buys, a token counts as sellable only if it had more than one sale; after fewer buys, it always does', () => {
  const token = (buys: number, sales: number) => {
    const paper = new Paper()
    paper.rows([
      ...Array.from({ length: sales }, () => ({ kind: 'sell' as const, time: START, mint: 'bait', price: PRICE })),
      ...Array.from({ length: buys }, () => ({ time: START, mint: 'bait', price: PRICE })),
    ])
    return paper.market.isTrap('bait', DEFAULT_FILL_MODEL)
  }
  expect([token(7, 0), token(8, 0), token(8, 1), token(8, 2)]).toEqual([false, true, true, false])
})

test.each(['sell', 'buy'] as const)('a large %s changes the price of paper orders at once', (side) => {
  const pool = Math.sqrt(32_190_000_000 * PRICE) // SOL in the pool of a price on the curve
  const after = (share: number) => {
    const paper = new Paper()
    paper.rows([{ kind: 'newToken', time: START, mint: 'mint' }]) // so the curve's depth is exact
    const held = holding(1_000_000_000n)
    paper.executor.restore([held], [])
    const calm = paper.executor.valueOf(held)
    const net = pool * share * (side === 'sell' ? -1 : 1)
    paper.rows([{ kind: side, time: START, mint: 'mint', price: (PRICE * (pool + net)) / pool, sol: Math.abs(net) }])
    const fill = paper.land(sellAttempt('mint', { slippagePercent: 100 }))
    return (fill?.tradeLamports ?? 0) / calm
  }
  // The proceeds change with the square of the SOL in the pool. They are not exact, because earlier trades have moved
  // the price by some percent.
  const left = (share: number): number => (1 + (side === 'sell' ? -share : share)) ** 2
  for (const share of [0.1, 0.4, 0.8]) expect(Math.abs(after(share) / left(share) - 1)).toBeLessThan(0.1)
})

test('a paper order that is sent in parts gets as much in total as the whole order, for buys and sales', () => {
  const [whole, parts] = [new Paper(), new Paper()]
  const sumOf = (fills: (Fill | undefined)[], of: (fill: Fill) => number): number =>
    fills.reduce((sum, fill) => sum + of(fill as Fill), 0)
  const inParts = (n: number, run: (at: number) => Fill | undefined) => Array.from({ length: n }, (_, at) => run(at))
  const one = whole.land(buyAttempt('mint', 10))
  const ten = inParts(10, (at) => parts.land(buyAttempt('mint', 1, { id: `o${at}.1` })))
  expect(sumOf(ten, ({ tokens }) => Number(tokens)) / Number(one?.tokens)).toBeCloseTo(1, 6)
  const size = (percent: number) => ({ size: { kind: 'percent' as const, percent } })
  const sold = whole.land(sellAttempt('mint', { id: 's1.1' }))
  const tenth = inParts(10, (at) => parts.land(sellAttempt('mint', { id: `s${at}.1`, ...size(100 / (10 - at)) })))
  expect(sumOf(tenth, ({ tradeLamports }) => tradeLamports) / (sold?.tradeLamports ?? 0)).toBeCloseTo(1, 6)
})

test('on paper, the price impact of our own trade halves when others have traded as many SOL as the pool has', () => {
  const tokensAfter = (prints: number) => {
    const paper = new Paper()
    const first = paper.land(buyAttempt('mint', 4))
    paper.print(...Array.from({ length: prints }, () => PRICE))
    const second = paper.land(buyAttempt('mint', 4, { id: 'o2.1' }))
    return 1 - Number(second?.tokens) / Number(first?.tokens)
  }
  const [at, half, none] = [tokensAfter(0), tokensAfter(41), tokensAfter(41 * 12)]
  expect(half / at).toBeCloseTo(0.5, 1)
  expect(none).toBeLessThan(0.001)
})

test('with the fill model `free`, an order is filled at once at the last print, without impact or costs', () => {
  const paper = new Paper(FREE_FILL_MODEL)
  paper.run(buyAttempt('mint', 5, { slippagePercent: 1 }))
  paper.pass(0)
  const bought = fillOf(paper.outcomes.at(-1))
  expect(bought).toMatchObject({ tokens: 100_000_000_000_000n, feeLamports: 0, rentLamports: 0, time: START })
  paper.print(2 * PRICE)
  const sold = paper.land(sellAttempt('mint', { id: 'o2.1' }))
  expect(sold).toMatchObject({ feeLamports: 0, walletLamports: sold?.tradeLamports ?? 0 })
  expect(Math.abs((sold?.tradeLamports ?? 0) - 10_000_000_000)).toBeLessThanOrEqual(1) // rounded down
})

test('on paper, more transactions are lost with a longer latency and with more competition', () => {
  const lost = (prints: number) => {
    const paper = new Paper({ landingFailurePercent: 3 })
    const run = (order: number) => paper.run(buyAttempt('mint', 0.001, { id: `o${order}.1`, armedAt: order }))
    for (let order = 1; order <= 1_000; order++) run(order)
    paper.print(...Array.from({ length: prints }, () => PRICE))
    paper.pass(100_000)
    return paper.outcomes.filter(({ kind }) => kind === 'absent').length
  }
  const [calm, busy] = [lost(0), lost(42)] // twelve prints per slot
  expect(calm).toBeGreaterThan(15)
  expect(calm).toBeLessThan(50)
  expect(busy).toBeGreaterThan(90)
  expect(busy).toBeLessThan(160)
})

test('on paper, a buy needs a known pool depth, and held tokens can always be sold', () => {
  const dear = 1e-6 // above the curve's range
  const paper = new Paper()
  paper.executor.restore([holding(1_000_000_000n)], [])
  paper.print(dear, dear, dear)
  paper.land(buyAttempt('mint', 0.1))
  expect(paper.outcomes.at(-1)).toMatchObject({ kind: 'refused', code: 'DEPTH_UNKNOWN', retry: 'never' })
  expect(paper.land(sellAttempt('mint', { id: 'o2.1' }))).toBeDefined()
  paper.print(dear, dear * 1.01, dear * 1.02, dear * 1.03)
  expect(paper.land(buyAttempt('mint', 0.1, { id: 'o3.1' }))).toBeDefined()
})

test.each([
  ['all trades', ['trades']],
  ['only the trades of the token', ['mint']],
])(
  'after a gap in %s, no paper order is filled at older prices, and held tokens keep their last value',
  (_what, keys) => {
    const paper = new Paper()
    paper.executor.restore([holding(1_000_000_000n)], [])
    const before = paper.executor.valueOf(holding(1_000_000_000n))
    paper.market.interrupted(['priceUpdates', 'other'])
    expect(paper.market.price('mint')).toBe(PRICE)
    paper.market.interrupted(keys)
    paper.land(sellAttempt('mint'))
    paper.land(buyAttempt('mint', 0.1))
    expect(paper.outcomes).toMatchObject([
      { kind: 'unsent', reason: 'the token has no robust price, at which a paper order is filled' },
      { kind: 'refused', code: 'PRICE_UNKNOWN' },
    ])
    expect(paper.executor.valueOf(holding(1_000_000_000n))).toBe(before)
    expect(before).toBeGreaterThan(0)
    paper.print(PRICE / 2, PRICE / 2, PRICE / 2)
    const fill = paper.land(sellAttempt('mint', { id: 'o3.1' }))
    expect(fill?.tradeLamports).toBeLessThan(before * 0.51)
  },
)

test('paper fills at an estimated pool depth are counted, with their extra proceeds at the upper quartile of the estimates', () => {
  const paper = new Paper()
  paper.land(buyAttempt('mint', 0.1))
  expect(paper.executor.depth).toMatchObject({
    curveFills: 1,
    assumedFills: 0,
    estimatedFills: 0,
    spread: null,
    upperLamports: 0,
  })
  const pool = new Paper()
  pool.print(1e-6, 1e-6, 1e-6)
  for (let n = 0, price = 1e-6; n < 12; n++) {
    price *= n % 3 === 0 ? 1.04 : 1.02
    pool.print(price)
  }
  const fill = pool.land(buyAttempt('mint', 1))
  const { curveFills, estimatedFills, spread, upperLamports } = pool.executor.depth
  expect({ curveFills, estimatedFills }).toEqual({ curveFills: 0, estimatedFills: 1 })
  expect(spread).toBeGreaterThan(1.1)
  expect(upperLamports).toBeGreaterThan(0)
  expect(upperLamports).toBeLessThan(0.1 * (fill?.tradeLamports ?? 0))
  const unknown = new Paper()
  unknown.executor.restore([holding(1_000_000_000n)], [])
  unknown.print(1e-6, 1e-6, 1e-6)
  unknown.land(sellAttempt('mint'))
  expect(unknown.executor.depth).toMatchObject({ curveFills: 0, assumedFills: 1, estimatedFills: 0 })
})

test('on paper, a buy without a price is refused, and a sale without a price counts as not sent', () => {
  const paper = new Paper()
  paper.land(buyAttempt('unseen', 0.1))
  paper.land(sellAttempt('unseen'))
  expect(paper.outcomes).toMatchObject([
    { kind: 'refused', code: 'PRICE_UNKNOWN', retry: 'never' },
    { kind: 'unsent', reason: 'the token has no robust price, at which a paper order is filled' },
  ])
})

test('the paper market ignores a price that no plausible pool could have', () => {
  const paper = new Paper()
  paper.print(1e6, 1e6, 1e6)
  paper.land(buyAttempt('mint', 0.1))
  expect(paper.outcomes).toMatchObject([{ kind: 'refused', code: 'PRICE_UNKNOWN' }])
})

test('a provisional paper fill of an earlier process becomes final', () => {
  const before = new Paper()
  before.run(buyAttempt('mint', 0.1))
  before.pass(LANDED_MS)
  const fill = fillOf(before.outcomes.at(-1)) as Fill
  const after = new Paper()
  after.executor.restore([holding(fill.tokens)], [fill])
  after.executor.resume(buyAttempt('mint', 0.1, { state: 'landed' }), (outcome) => after.outcomes.push(outcome))
  after.pass(FINAL_MS)
  expect(after.outcomes).toEqual([{ kind: 'filled', fill: { ...fill, final: true }, final: true }])
})

test('a paper fill that was not reported before the end of the process stays in the wallet and becomes final', () => {
  const before = new Paper()
  before.run(buyAttempt('mint', 0.1))
  before.pass(LANDED_MS)
  const fill = fillOf(before.outcomes.at(-1)) as Fill
  const after = new Paper()
  after.executor.restore([], [], [fill])
  after.executor.resume(buyAttempt('mint', 0.1, { state: 'landed' }), (outcome) => after.outcomes.push(outcome))
  after.pass(FINAL_MS)
  expect(after.outcomes).toEqual([{ kind: 'filled', fill: { ...fill, final: true }, final: true }])
  expect(after.land(sellAttempt('mint', { id: 'o2.1' }))?.tokens).toBe(fill.tokens)
})

test('the random outcome of a paper attempt depends on the seed and on the content of this attempt, not on other attempts', () => {
  const landing = (seed: number, others: string[], id: string) => {
    const paper = new Paper(DEFAULT_FILL_MODEL, seed)
    for (const other of others) paper.run(buyAttempt('mint', 0.1, { id: other }))
    paper.run(buyAttempt('mint', 0.1, { id }))
    paper.pass(1_000_000)
    return paper.outcomes.flatMap((one) => (one.kind === 'filled' && one.fill.attemptId === id ? [one.fill.time] : []))
  }
  const alone = landing(1, [], 'o5.1')
  expect(alone[0]).toBeGreaterThan(START)
  expect(landing(1, ['o1.1', 'o2.1', 'o5.2'], 'o5.1')).toEqual(alone)
  expect(landing(1, [], 'o77.1')).toEqual(alone)
  expect(landing(2, [], 'o5.1')).not.toEqual(alone)
  expect(landing(1, [], 'o5.2')).not.toEqual(alone)
})

test('on paper, about three in a hundred transactions never land, which takes 80 s to prove', () => {
  const paper = new Paper(DEFAULT_FILL_MODEL)
  for (let order = 1; order <= 3_000; order++)
    paper.run(buyAttempt('mint', 0.001, { id: `o${order}.1`, armedAt: order }))
  paper.pass(79_000)
  expect(paper.outcomes.filter(({ kind }) => kind === 'absent')).toEqual([])
  paper.pass(AFTER_A_LOSS_MS)
  const lost = paper.outcomes.filter(({ kind }) => kind === 'absent').length
  expect(lost).toBeGreaterThan(60)
  expect(lost).toBeLessThan(120)
})
