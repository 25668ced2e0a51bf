import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PricePath } from '../../src/simulation/price-path.ts'
import { CURVE_PRODUCT, poolAround } from '../../src/solana/pool-depth.ts'

const RULES = { product: CURVE_PRODUCT, isExact: true, explained: 1.25 }

/** A simulated constant-product pool without a fee. It gives the prints of its trades to the price path under test. */
class Pool {
  readonly path: PricePath
  #sol: number

  constructor(rules = RULES, price = 5e-8) {
    this.path = new PricePath(rules)
    this.#sol = Math.sqrt(CURVE_PRODUCT * price)
  }

  /** Executes a trade, gives its print to the path, and returns its price. `net`: SOL paid in; negative for a sale. */
  trade(net: number): number {
    const mean = (this.#sol * (this.#sol + net)) / CURVE_PRODUCT
    this.#sol += net
    this.path.print(mean, net)
    return mean
  }

  get price(): number {
    return this.#sol ** 2 / CURVE_PRODUCT
  }
}

const trades = fc.array(fc.double({ min: -0.6, max: 2, noNaN: true }), { minLength: 2, maxLength: 30 })

test('if the depth of the pool is known exactly, a price path begins at the price after the last trade', () => {
  fc.assert(
    fc.property(trades, (shares) => {
      const pool = new Pool()
      for (const share of shares) pool.trade(share * Math.sqrt(pool.price * CURVE_PRODUCT))
      pool.path.begin()
      expect(pool.path.low / pool.price).toBeCloseTo(1, 6)
      expect(pool.path.high / pool.price).toBeCloseTo(1, 6)
    }),
  )
})

test('if the depth of the pool is estimated too low, the true price is between the lowest and the highest price of the path', () => {
  fc.assert(
    fc.property(trades, fc.double({ min: 0.1, max: 1, noNaN: true }), (shares, depth) => {
      const pool = new Pool({ ...RULES, product: CURVE_PRODUCT * depth, isExact: false })
      pool.trade(0.1)
      pool.path.begin()
      for (const share of shares) {
        pool.trade(share * Math.sqrt(pool.price * CURVE_PRODUCT))
        expect(pool.path.low).toBeLessThanOrEqual(pool.price * (1 + 1e-9))
        expect(pool.path.high).toBeGreaterThanOrEqual(pool.price * (1 - 1e-9))
      }
    }),
  )
})

test('a price path includes an unexplained print until a print fits the pool again; three unexplained prints become the price', () => {
  const pool = new Pool()
  const { path } = pool
  pool.trade(1)
  path.begin()
  const calm = pool.price
  path.print(calm * 10, 0.01)
  expect([path.low / calm, path.high / calm].map(Math.round)).toEqual([1, 10])
  pool.trade(0.01)
  expect(path.high / calm).toBeCloseTo(1, 2)
  for (let n = 0; n < 3; n++) path.print(calm / 10, 0.01)
  path.begin()
  expect(path.high / calm).toBeCloseTo(0.1, 2)
})

test('the price range in the Solana slot of an order has the price at the beginning of the slot and the prices in it', () => {
  const pool = new Pool()
  pool.trade(1)
  pool.path.begin()
  pool.trade(30)
  const high = pool.price
  pool.trade(-15)
  const before = pool.price
  expect(pool.path.high).toBeCloseTo(high, 12)
  pool.path.enterSlot()
  pool.trade(-5)
  expect([pool.path.high / before, pool.path.low / pool.price].map((ratio) => ratio.toFixed(6))).toEqual([
    '1.000000',
    '1.000000',
  ])
  expect(pool.path.prints).toBe(3)
})

test('poolAround returns the prices of the pool before and after a trade, from the price and the SOL of the trade', () => {
  const { before, after } = poolAround(6e-8, 10, CURVE_PRODUCT)
  expect(Math.sqrt(before * after)).toBeCloseTo(6e-8, 14)
  expect(Math.sqrt(after * CURVE_PRODUCT) - Math.sqrt(before * CURVE_PRODUCT)).toBeCloseTo(10, 6)
})
