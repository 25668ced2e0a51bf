import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DAY } from '../../src/base/units.ts'
import { DEFAULT_FILL_MODEL as MODEL } from '../../src/engine/accounting/fill-assumptions.ts'
import type { Block } from '../../src/market/block.ts'
import { Mints } from '../../src/market/mints.ts'
import { PaperMarket } from '../../src/simulation/paper-market.ts'
import type { PricePath } from '../../src/simulation/price-path.ts'
import { blockOf, type MarketRow } from '../support/market-rows.ts'

const NAMES = Array.from({ length: 25 }, (_, at) => `mint ${at}`)
const START = 20_000 * DAY

/** A paper market, and the tokens that it follows. */
class Watched {
  readonly mints = new Mints()
  readonly market = new PaperMarket(this.mints, { tradePrice: 'sol', tradeAmount: 'sol' })
  readonly paths = new Map<string, PricePath | undefined>()
  readonly ahead: Block[] = []

  constructor(kept: ReadonlySet<string>) {
    this.mints.addHolder(this.market)
    this.market.addKeeper((mint) => kept.has(mint))
  }

  observe(count: number): void {
    for (const block of this.ahead.splice(0, count)) this.market.observe(block, 0, block.length)
  }

  /** Frees the numbers of unused tokens between two blocks, while some rows wait. */
  giveBack(): void {
    const waiting = new Set(this.ahead.flatMap(({ token }) => [...token]))
    this.mints.giveBack((token) => waiting.has(token))
  }

  follow(mint: string): void {
    const path = this.paths.get(mint)
    if (path !== undefined) this.market.unfollow(mint, path)
    this.paths.set(mint, path === undefined ? this.market.follow(mint, MODEL) : undefined)
  }

  knows(): unknown {
    const of = (mint: string): unknown[] => {
      const { market } = this
      const prices = [
        market.price(mint),
        market.salePrice(mint, MODEL),
        market.markPrice(mint, MODEL),
        market.deeper(mint, 1e-7),
      ]
      return [
        mint,
        ...prices,
        market.printedAt(mint),
        market.isTrap(mint, MODEL),
        { ...this.paths.get(mint), low: this.paths.get(mint)?.low, high: this.paths.get(mint)?.high },
      ]
    }
    return NAMES.map(of)
  }
}

const mint = fc.constantFrom(...NAMES)
const hours = fc.oneof({ weight: 6, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(30) })
const step = fc.oneof(
  {
    weight: 14,
    arbitrary: fc.record({
      kind: fc.constant('prints' as const),
      mint,
      hours,
      price: fc.double({ min: 1, max: 2, noNaN: true }),
      sol: fc.constantFrom(0.1, 0.5, 60),
      isSale: fc.boolean(),
    }),
  },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('observe' as const), count: fc.nat(20) }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('giveBack' as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constantFrom('keep', 'follow', 'pool', 'gap'), mint }),
  },
)

test("recycled token numbers do not change the market's state, even while rows wait", () => {
  let saved = 0
  fc.assert(
    fc.property(fc.array(step, { minLength: 100, maxLength: 200 }), (steps) => {
      const kept = new Set<string>()
      const [once, again] = [new Watched(kept), new Watched(kept)]
      let now = START
      for (const one of steps) {
        if (one.kind === 'giveBack') again.giveBack()
        else if (one.kind === 'keep' && !kept.delete(one.mint)) kept.add(one.mint)
        if (one.kind === 'prints') now += one.hours * (DAY / 24) + 1
        for (const each of [once, again]) {
          if (one.kind === 'prints') {
            const row: MarketRow = {
              kind: one.isSale ? 'sell' : 'buy',
              time: now,
              mint: one.mint,
              price: 0,
              sol: one.sol,
            }
            const rows = [0.99, 1, 1.01].map((factor) => ({ ...row, price: 1e-7 * one.price * factor }))
            each.ahead.push(blockOf(rows, each.mints))
          } else if (one.kind === 'observe') each.observe(one.count)
          else if (one.kind === 'follow') each.follow(one.mint)
          else if (one.kind === 'pool') each.market.pooled(one.mint, 3e-7, now)
          else if (one.kind === 'gap') each.market.interrupted([one.mint])
        }
        expect(again.knows()).toEqual(once.knows())
      }
      saved += once.mints.list.length - again.mints.list.length
    }),
    { numRuns: 20, endOnFailure: true },
  )
  expect(saved).toBeGreaterThan(0)
})
