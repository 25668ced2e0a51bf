import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { baseUnits, lamports, solToLamports, wholeTokens } from '../../../src/base/units.ts'
import { quoteFeesFrom } from '../../../src/config/convert-sections.ts'
import { DEFAULT_FILL_MODEL } from '../../../src/engine/accounting/fill-assumptions.ts'
import { quoteBuy, quoteSell } from '../../../src/engine/bots/quotes.ts'
import type { Quote } from '../../../src/engine/strategy.ts'
import { buy, networkFee, sell } from '../../../src/simulation/fill-model.ts'
import { reservesAt } from '../../../src/solana/pool-depth.ts'
import { botSettings, EngineRig, MINT } from '../../support/engine-rig.ts'

const LAUNCH_PRICE = 30 / 1_073_000_000
const ORDERS = {
  ...{ slippagePercent: 5, priorityFeeLamports: null, ttlMs: 2000, maxEventAgeMs: 3000, maxChasePercent: 5 },
}
const EXIT_ORDERS = { slippageLadder: [5], priorityFeeLadder: [lamports(70_000)], retryMs: 3000 }
const FEES = quoteFeesFrom(DEFAULT_FILL_MODEL, ORDERS, EXIT_ORDERS)

describe('a quote', () => {
  it('a quote predicts the amounts and all fees of the fill model', () => {
    const price = fc.double({ min: 1e-9, max: 1e-3, noNaN: true })
    fc.assert(
      fc.property(price, fc.double({ min: 0.001, max: 100, noNaN: true }), (at, sol) => {
        const pool = { quoted: reservesAt(at), worst: reservesAt(at) }
        const filled = buy(solToLamports(sol), 100, pool, DEFAULT_FILL_MODEL)
        const quote = quoteBuy(sol, at, FEES) as Quote
        expect(wholeTokens(filled?.tokens ?? 0n, 6) / quote.tokens).toBeCloseTo(1, 5)
        const tokens = baseUnits(quote.tokens, 6)
        const sold = sell(tokens, 6, 100, pool, DEFAULT_FILL_MODEL)
        const back = quoteSell(wholeTokens(tokens, 6), at, FEES) as Quote
        expect((sold?.tradeLamports ?? 0) / 1e9).toBeCloseTo(back.sol, 6)
      }),
    )
  })

  it('a quote lists all fees: venue, service, base fee, priority fee, and the rent of a buy', () => {
    const quote = quoteBuy(1, LAUNCH_PRICE, FEES) as Quote
    const network = networkFee(null, DEFAULT_FILL_MODEL) / 1e9
    const rent = DEFAULT_FILL_MODEL.rentLamports / 1e9
    expect(quote.feesSol).toBeCloseTo(0.01 + (0.99 - 0.99 / 1.0125) + network + rent, 9)
    expect(quote.impactPercent).toBeCloseTo((0.99 / 1.0125 / 30) * 100, 2)
    const back = quoteSell(quote.tokens, LAUNCH_PRICE, FEES) as Quote
    const gross = back.sol / 0.99 / 0.9875
    expect(back.feesSol).toBeCloseTo(gross - back.sol + 0.000_075, 9)
  })

  it('if the journal recorded no fees, a quote includes the fees that earlier versions of Sluice assumed, so that old journals can be replayed', () => {
    const quote = quoteBuy(1, LAUNCH_PRICE) as Quote
    expect(quote.feesSol).toBe(1 - 1 / 1.0125 + 0.002_044_28)
    const back = quoteSell(quote.tokens, LAUNCH_PRICE) as Quote
    expect(back.impactPercent).toBeGreaterThan(3)
    expect(back.feesSol).toBeCloseTo((back.sol / 0.9875) * 0.0125 + 0.000_005, 9)
  })

  it("a quote of a bot uses the fees of the bot's settings", () => {
    const quotes: (Quote | undefined)[] = []
    const asking = {
      ...{ name: 'asking', about: '', params: undefined as never, keys: ['trades'] },
      start: (_params: never, bot: { quoteBuy(mint: string, sol: number): Quote | undefined }) => ({
        onTrade: () => void quotes.push(bot.quoteBuy(MINT, 1)),
      }),
    }
    const rig = new EngineRig([asking as never], [{ ...botSettings('asking'), quoteFees: FEES }])
    rig.settle(1e-7)
    expect(quotes.at(-1)).toEqual(quoteBuy(1, 1e-7, FEES))
  })
})
