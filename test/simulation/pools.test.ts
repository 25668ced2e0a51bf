import fc from 'fast-check'
import { expect, test } from 'vitest'
import { seededRandom } from '../../src/base/random.ts'
import { RowKind } from '../../src/market/block.ts'
import { LiveBlock } from '../../src/market/live-block.ts'
import { EstimatedPools } from '../../src/simulation/estimated-pools.ts'
import { PricePath } from '../../src/simulation/price-path.ts'
import { CURVE_PRODUCT, POOL_PRODUCT } from '../../src/solana/pool-depth.ts'

const TOKEN = 7
const MINTS = Array.from({ length: TOKEN + 1 }, (_, token) => `mint${token}`)
const NOBODY = new Uint8Array(MINTS.length)

/** A constant-product pool without a fee, and prints of its trades. */
class Pool {
  readonly pools = new EstimatedPools()
  readonly #block = new LiveBlock(MINTS)
  readonly #product: number
  #sol: number
  time = 1

  constructor(product: number, price: number) {
    this.#product = product
    this.#sol = Math.sqrt(product * price)
  }

  /** Makes a trade of `sol` SOL. A negative amount is a sale with these proceeds. */
  trade(sol: number, wrong = 1): void {
    const tokens = Math.abs(this.#product / this.#sol - this.#product / (this.#sol + sol))
    this.#sol += sol
    const numbers = { price: 0, amount: Math.abs(sol), size: tokens / wrong, marketCap: 0, extra: 0, extra2: 0 }
    this.#block.append(this.time, this.time++, sol < 0 ? RowKind.sell : RowKind.buy, TOKEN, numbers, '', '')
    const { length } = this.#block
    this.pools.fold(this.#block, length - 1, length, NOBODY, () => {})
  }

  launch(): void {
    const numbers = { price: NaN, amount: 30, size: NaN, marketCap: 30, extra: NaN, extra2: NaN }
    this.#block.append(this.time, this.time++, RowKind.newToken, TOKEN, numbers, '', '')
    const { length } = this.#block
    this.pools.fold(this.#block, length - 1, length, NOBODY, () => {})
  }

  get price(): number {
    return this.#sol ** 2 / this.#product
  }
}

test("a token whose launch was seen and that never traded above the curve's range is on the curve", () => {
  const pool = new Pool(1e9, 1e-7)
  for (let n = 0; n < 10; n++) pool.trade(1)
  expect(pool.pools.product(TOKEN) / 1e9).toBeCloseTo(1, 6) // it may be in any pool
  pool.launch()
  expect(pool.pools.product(TOKEN)).toBe(CURVE_PRODUCT)
  expect(pool.pools.isMeasured(TOKEN)).toBe(true)
  expect(pool.pools.isMeasured(TOKEN + 5_000)).toBe(true)
})

test("above the curve's range, four prints of one side give an estimate of the pool's product, which is kept", () => {
  const pool = new Pool(5e9, 1e-6)
  const known: boolean[] = []
  for (let n = 0; n < 4; n++) {
    pool.trade(1)
    known.push(pool.pools.isMeasured(TOKEN))
  }
  expect(known).toEqual([true, true, false, true]) // the first two prints still look like the curve
  expect(pool.pools.product(TOKEN) / 5e9).toBeCloseTo(1, 4)
  while (pool.price > 3e-7) pool.trade(-2)
  expect(pool.pools.product(TOKEN) / 5e9).toBeCloseTo(1, 4)
})

test("one or two prints above the curve's range count as wrong, and three prove that the token has left the curve", () => {
  const pool = new Pool(CURVE_PRODUCT, 1e-7)
  pool.launch()
  for (let n = 0; n < 40; n++) pool.trade(0.3, n % 3 === 0 ? 1 : 5)
  expect(pool.pools.product(TOKEN)).toBe(CURVE_PRODUCT)
  for (let n = 0; n < 3; n++) pool.trade(0.01, 5)
  expect(pool.pools.product(TOKEN)).toBeLessThanOrEqual(POOL_PRODUCT)
})

test('the estimated depth of a pool is at most that of a fresh migration; small prints, or prints of both sides, do not change it', () => {
  const deep = new Pool(1e12, 1e-6)
  for (let n = 0; n < 8; n++) deep.trade(5)
  expect(deep.pools.product(TOKEN)).toBe(POOL_PRODUCT)
  const small = new Pool(5e9, 1e-6)
  for (let n = 0; n < 20; n++) small.trade(0.1)
  for (let n = 0; n < 20; n++) small.trade(n % 2 === 0 ? 1 : -1)
  expect(small.pools.isMeasured(TOKEN)).toBe(false)
  expect(small.pools.product(TOKEN)).toBe(POOL_PRODUCT)
})

test('with one wrong print in six, the lower quartile of the depth estimates is used, and the upper one is close to the truth', () => {
  const seed = 5
  const random = seededRandom(seed)
  const pool = new Pool(5e9, 1e-6)
  const lows: number[] = []
  const highs: number[] = []
  for (let n = 0; n < 4_000; n++) {
    const sol =
      (0.3 + random.next() * 2) * (pool.price > 1.2e-6 ? -1 : pool.price < 0.8e-6 ? 1 : random.next() < 0.5 ? -1 : 1)
    pool.trade(sol, random.next() < 1 / 6 ? 0.3 + random.next() * 3 : 1)
    if (n <= 100) continue
    const { low = 0, high = 0 } = pool.pools.band(TOKEN) ?? {}
    expect(low).toBeLessThanOrEqual(high)
    expect(low).toBe(pool.pools.product(TOKEN))
    lows.push(low / 5e9)
    highs.push(high / 5e9)
  }
  const at = (found: number[], share: number) => found.sort((a, b) => a - b)[Math.floor(found.length * share)] as number
  expect(at(lows, 0.5), `seed ${seed}`).toBeGreaterThan(0.2)
  expect(at(lows, 0.9), `seed ${seed}`).toBeLessThan(1.05)
  expect(at(highs, 0.5), `seed ${seed}`).toBeGreaterThan(0.9)
  expect(at(highs, 0.5), `seed ${seed}`).toBeLessThan(1.5)
})

test('after a gap, the depth estimate of a pool is forgotten, but not the migration and the last price', () => {
  const pool = new Pool(5e9, 1e-6)
  for (let n = 0; n < 8; n++) pool.trade(1)
  const before = pool.pools.price(TOKEN) as number
  pool.pools.forgetAll()
  expect(pool.pools.price(TOKEN)).toBeUndefined()
  expect(pool.pools.lastPrice(TOKEN)).toBe(before)
  expect(pool.pools.isMeasured(TOKEN)).toBe(false)
  expect(pool.pools.band(TOKEN)).toBeUndefined()
  expect(pool.pools.printedAt(TOKEN)).toBe(pool.time - 1)
  for (let n = 0; n < 4; n++) pool.trade(1)
  expect(pool.pools.price(TOKEN)).toBeGreaterThan(before)
  expect(pool.pools.lastPrice(TOKEN)).toBe(pool.pools.price(TOKEN))
  expect(pool.pools.isMeasured(TOKEN)).toBe(true)
  pool.pools.forget(TOKEN + 5_000) // an unknown token
  expect(pool.pools.price(TOKEN)).toBeDefined()
})

/** A step of the test: a batch of rows, or a call between two batches. */
type Move =
  | { readonly kind: 'rows'; readonly seed: number; readonly count: number }
  | { readonly kind: 'forget'; readonly token: number }
  | { readonly kind: 'forgetAll' }
  | { readonly kind: 'drop'; readonly kept: number }

const token = fc.nat(TOKEN)
const aMove: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('rows'), seed: fc.nat(), count: fc.integer({ min: 1, max: 80 }) }),
  },
  fc.record({ kind: fc.constant('forget'), token }),
  fc.constant<Move>({ kind: 'forgetAll' }),
  fc.record({ kind: fc.constant('drop'), kept: token }),
)

/** Returns everything that the pools know about a token. */
function toldOf(pools: EstimatedPools, one: number): unknown[] {
  const path = new PricePath({ product: CURVE_PRODUCT, isExact: false, explained: 1.2 })
  pools.retrace(one, path, 0, pools.count(one))
  path.begin()
  return [
    ...[pools.price(one), pools.lastPrice(one), pools.count(one), pools.volume(one), pools.printedAt(one)],
    ...[pools.product(one), pools.isOnCurve(one), pools.band(one), pools.isMeasured(one), pools.holds(one)],
    ...[pools.isTrap(one, { buys: 3, salesPercent: 20 }), path.low, path.high],
  ]
}

/**
 * Returns random rows: launches, prices around the end of the curve, and amounts that are partly too small to count.
 */
function rowsOf(seed: number, count: number, from: number): LiveBlock {
  const random = seededRandom(seed)
  const block = new LiveBlock(MINTS, count)
  for (let row = 0; row < count; row++) {
    const kind = random.next() < 0.03 ? RowKind.newToken : random.next() < 0.6 ? RowKind.buy : RowKind.sell
    const amount = random.next() < 0.2 ? 0.001 : 12 * random.next()
    const numbers = { price: 0, amount, size: amount / (4e-7 * (0.8 + 0.4 * random.next())), marketCap: 0 }
    block.append(from + row, from + row, kind, random.integer(TOKEN + 1), { ...numbers, extra: 0, extra2: 0 }, '', '')
  }
  return block
}

/** Plays the moves. Queries every token after each row (`always`), or only at the end. */
function played(moves: readonly Move[], always: boolean): unknown[] {
  const pools = new EstimatedPools()
  const told = (): unknown[] => MINTS.map((_, one) => toldOf(pools, one))
  let time = 1
  for (const move of moves) {
    if (move.kind === 'forget') pools.forget(move.token)
    else if (move.kind === 'forgetAll') pools.forgetAll()
    else if (move.kind === 'drop') pools.drop(time - 50, (one) => one === move.kept)
    else {
      const block = rowsOf(move.seed, move.count, time)
      time += move.count
      if (!always) pools.fold(block, 0, move.count, NOBODY, () => {})
      else
        for (let row = 0; row < move.count; row++) {
          pools.fold(block, row, row + 1, NOBODY, () => {})
          told()
        }
    }
  }
  return told()
}

test('the estimate of a pool is the same whether it is queried after each row or only at the end', () => {
  fc.assert(
    fc.property(fc.array(aMove, { maxLength: 12 }), (moves) => {
      expect(played(moves, false)).toEqual(played(moves, true))
    }),
    { numRuns: 60 },
  )
  // More prints than fit into the list of waiting prints.
  const many: Move[] = [{ kind: 'rows', seed: 3, count: 10_000 }]
  expect(played(many, false)).toEqual(played(many, true))
})
