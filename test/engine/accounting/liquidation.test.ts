import { describe, expect, it } from 'vitest'
import { solToLamports } from '../../../src/base/units.ts'
import { KnownWorth } from '../../../src/engine/accounting/known-worth.ts'
import { Liquidation, liquidationSol, valueAt } from '../../../src/engine/accounting/liquidation.ts'
import { newPosition } from '../../../src/engine/accounting/position.ts'
import type { EngineState } from '../../../src/engine/engine-state.ts'
import type { ExitWatch } from '../../../src/engine/exits/exit-watch.ts'
import type { QuoteFees } from '../../../src/engine/settings.ts'
import { CURVE_PRODUCT, GRADUATION_PRICE, POOL_PRODUCT, reservesAt, solFor } from '../../../src/solana/pool-depth.ts'
import { Crew, MINT_3, TOKENS } from '../../support/crew.ts'
import { fillOf, MINT, MINT_2 } from '../../support/engine-rig.ts'

const sol = solToLamports
const FEES = { venuePercent: 2, servicePercent: 1 } as QuoteFees
const resume = { kind: 'command', command: { name: 'resume' } } as const

describe('the liquidation value', () => {
  const held = { ...newPosition({ account: 'a', bot: 'b', mint: MINT }, 0, {}), tokens: 10_000_000_000_000n }
  const watching = (held: object) =>
    ({ find: () => ({ printedAt: 0, worth: new KnownWorth(), ...held }) }) as unknown as ExitWatch
  const into = (price: number, product: number) => solFor(1e7, reservesAt(price, product))
  const productAt = (price: number) => (price < GRADUATION_PRICE ? CURVE_PRODUCT : POOL_PRODUCT)
  it.each([
    ['a position on the bonding curve is worth its proceeds there', 1e-7, {}, into(1e-7, CURVE_PRODUCT)],
    ['a position in a pool is worth its proceeds there', 1e-6, {}, into(1e-6, POOL_PRODUCT)],
    [
      'a position in a pool is still valued there after the price fell below the last price of the curve',
      1e-7,
      { highPrice: GRADUATION_PRICE },
      into(1e-7, POOL_PRODUCT),
    ],
    ['after three failed sales, a position whose fourth sale is open is worth nothing', 1e-7, { exitTries: 4 }, 0],
    [
      'after two failed sales, a position whose third sale is open keeps its value',
      1e-7,
      { exitTries: 3 },
      into(1e-7, CURVE_PRODUCT),
    ],
    ['a position without tokens is worth nothing', 1e-7, { tokens: 0n }, 0],
  ])('%s', (_name, price, more, expected) => {
    expect(liquidationSol({ ...held, ...more }, price)).toBe(expected)
  })

  it('the value of a position without a price is undefined', () => {
    expect(liquidationSol(held, undefined)).toBe(undefined)
    expect(liquidationSol({ ...held, exitTries: 4 }, undefined)).toBe(0)
  })

  it.each([
    ['the last price of the token', 1e-6, undefined, 0, 1e-6],
    ['a last price that is ten minutes old', 1e-6, undefined, 600_000, 1e-6],
    ['no value if the token has no price', undefined, undefined, 0, undefined],
    ['the value 0 if the last price is more than ten minutes old', 1e-6, undefined, 600_001, 0],
    ['the value 0 if the token has had no price for more than ten minutes', undefined, undefined, 600_001, 0],
    ['the price of the pool if the pool was read after the last print', 1e-6, 0.5e-6, 900_000, 0.5e-6],
    ['the price of the pool if there was no print since the start', undefined, 0.5e-6, 0, 0.5e-6],
  ])('the value of a position uses %s', (_name, price, pool, quietMs, by) => {
    const session = { now: quietMs, prices: { at: () => price }, hasMarks: false } as unknown as EngineState
    const watch = watching({ pool: pool === undefined ? undefined : { at: () => pool } })
    const expected = by === undefined ? undefined : by === 0 ? 0 : Math.round(into(by, productAt(by)) * 1e9)
    expect(new Liquidation(session, watch, () => FEES).of(held)).toBe(expected)
  })

  it.each([
    ['the robust price if it is below the price of the exits', 1e-6, 2e-6, 1e-6],
    ['the price of the exits if it is below the robust price', 1e-6, 0.4e-6, 0.4e-6],
    ['the robust price if the exits have no price', 1e-6, undefined, 1e-6],
    ['no price if there is no robust price, for example after a gap', undefined, 1e-6, undefined],
  ])(
    'if positions have marks (highest and lowest value), the value is computed from %s, after the fees of venue and service',
    (_name, price, ofExits, by) => {
      const session = { now: 0, prices: { at: () => price }, hasMarks: true } as unknown as EngineState
      const liquidation = new Liquidation(session, watching({ price: ofExits ?? Number.NaN }), () => FEES)
      const gross = by === undefined ? undefined : solFor(1e7, reservesAt(by, productAt(by)), 0.02)
      const expected = gross === undefined ? undefined : Math.round(gross * 0.99 * 1e9)
      expect(liquidation.of(held)).toBe(expected)
      expect(liquidation.shownSol(held)).toBe(expected === undefined ? undefined : expected / 1e9)
    },
  )

  it('the value of tokens is undefined at an implausible price', () => {
    expect(valueAt(1e-6, 1_000_000n, 6)).toBe(1_000)
    expect(valueAt(1e9, 2n ** 63n, 6)).toBe(undefined)
    expect(valueAt(Number.NaN, 1n, 6)).toBe(undefined)
  })
})

describe('exposure', () => {
  /** Bot `a` has bought tokens for 0.1 SOL at 1e-6 SOL per token. The price has since moved to `price`. */
  function holding(limits: object, price: number): Crew {
    const crew = new Crew({ limits })
    for (const mint of [MINT, MINT_2]) crew.rig.newToken(mint, 10, 'maker')
    expect(crew.bought('a', MINT, 0.1)).toBe('')
    crew.rig.settle(price, MINT)
    return crew
  }

  it.each([
    ['maxExposureLamports', 'EXPOSURE_LIMIT', MINT_2],
    ['maxLamportsPerCreator', 'CREATOR_LIMIT', MINT_2],
    ['maxLamportsPerMint', 'MINT_LIMIT', MINT],
  ])('the limit %s counts the higher of value and cost of a position', (key, code, mint) => {
    const limits = { [key]: sol(0.3) }
    // 100,000 tokens are worth 0.2962 SOL at a price of 3e-6, after price impact and the venue's fee.
    const risen = holding(limits, 3e-6)
    const wish = { price: mint === MINT ? 3e-6 : 1e-6, scaleIn: true }
    expect(risen.bought('a', mint, 0.01, wish)).toBe(code)
    expect(risen.bought('a', mint, 0.0035, wish)).toBe('')
    const fallen = holding(limits, 0.1e-6)
    const low = { ...wish, price: mint === MINT ? 0.1e-6 : 1e-6 }
    expect(fallen.bought('a', mint, 0.201, low)).toBe(code)
    expect(fallen.bought('a', mint, 0.2, low)).toBe('')
  })

  it('the limit counts a position without a price at its cost', () => {
    const crew = holding({ maxExposureLamports: sol(0.3) }, 3e-6)
    crew.rig.input({ kind: 'gap', from: 0, to: 1, keys: [MINT] })
    expect([crew.bought('a', MINT_2, 0.201), crew.bought('a', MINT_2, 0.2)]).toEqual(['EXPOSURE_LIMIT', ''])
  })
})

describe('a loss', () => {
  const gap = { kind: 'gap', from: 0, to: 1, keys: [MINT] } as const

  it.each(['maxDrawdownLamports', 'maxDailyLossLamports'])(
    'the limit %s counts a position without prints as lost',
    (key) => {
      const crew = new Crew({ limits: { [key]: sol(0.09) } })
      expect(crew.bought('a', MINT, 0.1)).toBe('')
      crew.rig.now += 600_000
      crew.rig.settle(1e-6, MINT_2)
      const reason = expect.stringMatching(
        /[^;]*; 1 held token has no trades and counts as worthless every day until sold/,
      )
      expect(crew.buy('a', MINT_2, 0.01)).toMatchObject({ ok: false, reason })
      crew.rig.settle(1e-6, MINT) // MINT has a print again
      expect(crew.bought('a', MINT_2, 0.01)).toBe('')
    },
  )

  it.each(['maxDrawdownLamports', 'maxDailyLossLamports'])(
    'the limit %s counts a position that cannot be sold as lost',
    (key) => {
      const crew = new Crew({ limits: { [key]: sol(0.09) }, exits: { takeProfitPercent: 50, windowPrints: 5 } })
      expect(crew.bought('a', MINT, 0.1)).toBe('')
      crew.rig.settle(2e-6, MINT)
      for (let failed = 0; failed < 3; failed++) {
        expect(crew.bought('a', MINT_2, 0.000_1)).toBe('AMOUNT_RANGE')
        expect(crew.rig.outputs.filter(({ kind }) => kind === 'alarm')).toEqual([])
        crew.rig.report(crew.last(), 'failed', { code: 'REVERTED' })
        crew.fire(`retry:${MINT}`)
      }
      crew.rig.settle(2e-6, MINT)
      expect(crew.rig.outputs.filter(({ kind }) => kind === 'alarm')).toMatchObject([
        {
          bot: 'a',
          code: 'UNSELLABLE',
          reason: expect.stringMatching(`^${MINT}: 3 sales in a row have failed .take-profit`),
        },
      ])
      expect(crew.bought('a', MINT_2, 0.01)).toMatch(/^(DRAWDOWN|LOSS)_LIMIT$/)
      const order = crew.last()
      crew.rig.report(order, 'filled', { fill: fillOf(order, 2e-6, crew.rig.now, { tokens: TOKENS / 2n }) })
      expect(crew.bought('a', MINT_2, 0.01)).toBe('')
    },
  )

  it('after 20 failed sales, a position no longer counts as open or as exposure, and its sale is tried less and less often', () => {
    const limits = { maxOpenPositions: 1, maxExposureLamports: sol(0.1) }
    const crew = new Crew({ limits, exits: { takeProfitPercent: 50, windowPrints: 5 } })
    expect(crew.bought('a', MINT, 0.1)).toBe('')
    crew.rig.settle(2e-6, MINT)
    const waits: number[] = []
    for (let failed = 1; failed <= 28; failed++) {
      crew.rig.settle(1e-6, MINT_2)
      const isOver = failed > 20
      expect(crew.buy('a', MINT_2, 0.2)).toMatchObject({ code: isOver ? 'EXPOSURE_LIMIT' : 'POSITIONS_LIMIT' })
      const from = crew.rig.now
      crew.rig.report(crew.last(), 'failed', { code: 'REVERTED' })
      crew.fire(`retry:${MINT}`)
      waits.push((crew.rig.now - from) / 3_000)
    }
    expect(waits.slice(0, 8)).toEqual([1, 2, 4, 8, 16, 32, 64, 64])
    expect(waits.slice(18)).toEqual([64, 64, 128, 256, 512, 1024, 2048, 4096, 4096, 4096])
    crew.rig.report(crew.last(), 'failed', { code: 'REVERTED' })
    const timersAt = (side: 'buy' | 'sell') =>
      crew.rig.trade(1e-6, { side }).flatMap((output) => (output.kind === 'timer' ? [output.timer.at] : []))
    expect(timersAt('buy')).toEqual([])
    expect(timersAt('sell'), 'after another trader has sold the token, the sale is retried sooner').toEqual([
      crew.rig.now + 64 * 3_000,
    ])
    expect(timersAt('sell')).toEqual([])
    const after = crew.restarted({ limits })
    after.rig.settle(1e-6, MINT_2)
    expect(after.bought('a', MINT_2, 0.1)).toBe('')
  })

  it.each(['maxExposureLamports', 'maxLamportsPerCreator'])(
    'the limit %s counts a position that cannot be sold if a buy would add to it',
    (key) => {
      const takeProfitSteps = [{ atPercent: 50, sellPercent: 50 }]
      const crew = new Crew({ limits: { [key]: sol(0.25) }, exits: { takeProfitSteps, windowPrints: 5 } })
      expect(crew.bought('a', MINT, 0.1)).toBe('')
      crew.rig.settle(2e-6, MINT)
      for (let failed = 1; failed <= 21; failed++) {
        crew.rig.report(crew.last(), 'failed', { code: 'REVERTED' })
        crew.fire(`retry:${MINT}`)
      }
      crew.rig.report(crew.last(), 'failed', { code: 'REVERTED' })
      for (const mint of [MINT, MINT_2]) crew.rig.settle(2e-6, mint)
      const more = { price: 2e-6, scaleIn: true }
      expect(crew.bought('a', MINT, 0.2, more)).toMatch(/^(EXPOSURE|CREATOR)_LIMIT$/)
      expect(crew.bought('a', MINT_2, 0.2, more)).toBe('')
    },
  )

  it.each(['ABSENT', 'RATE_LIMIT', 'SIGNER_CAP'] as const)(
    'a sale that failed with %s says nothing about the token, so the position keeps its value and its sale is retried as often as before',
    (code) => {
      const limits = { maxOpenPositions: 1 }
      const crew = new Crew({ limits, exits: { takeProfitPercent: 50, windowPrints: 5 } })
      expect(crew.bought('a', MINT, 0.1)).toBe('')
      crew.rig.settle(2e-6, MINT)
      let from = 0
      for (let failed = 1; failed <= 28; failed++) {
        crew.rig.report(crew.last(), 'failed', { code })
        from = crew.rig.now
        crew.fire(`retry:${MINT}`)
      }
      expect(crew.rig.now - from).toBe(64 * 3_000)
      for (const one of [crew, crew.restarted({ limits })]) {
        one.rig.settle(1e-6, MINT_2)
        expect(one.bought('a', MINT_2, 0.1)).toBe('POSITIONS_LIMIT')
      }
    },
  )

  it('a refusal names the held tokens without a price, because the loss is then not known', () => {
    const crew = new Crew({ limits: { maxDrawdownLamports: sol(0.09) } })
    expect(crew.bought('a', MINT, 0.1)).toBe('')
    crew.rig.input(gap)
    expect(crew.buy('a', MINT_2, 0.01)).toMatchObject({
      code: 'DRAWDOWN_LIMIT',
      reason: expect.stringMatching(/; 1 held token has no price since the start or a gap and counts as worthless$/),
    })
    crew.rig.settle(1e-6, MINT)
    expect(crew.bought('a', MINT_2, 0.01)).toBe('')
  })
})

describe('`resume`', () => {
  const limits = { maxDrawdownLamports: sol(0.15) }

  it('a `resume` forgives no loss of a held token without a price', () => {
    const crew = new Crew({ limits })
    expect([crew.bought('a', MINT, 0.1), crew.bought('a', MINT_2, 0.1)]).toEqual(['', ''])
    crew.rig.input({ kind: 'gap', from: 0, to: 1, keys: [MINT, MINT_2] })
    crew.rig.input(resume)
    expect(crew.bought('a', MINT_3, 0.01)).toBe('DRAWDOWN_LIMIT')
    for (const mint of [MINT, MINT_2]) crew.rig.settle(1e-6, mint)
    expect(crew.bought('a', MINT_3, 0.01)).toBe('')
    for (const mint of [MINT, MINT_2]) crew.rig.settle(0.2e-6, mint)
    expect(crew.bought('a', MINT_3, 0.01, { scaleIn: true })).toBe('DRAWDOWN_LIMIT')
  })

  it('`resume` forgives an unrealized loss without any earlier profit or pause', () => {
    const crew = new Crew({ limits })
    expect(crew.bought('a', MINT, 0.2)).toBe('')
    crew.rig.settle(0.1e-6, MINT)
    expect(crew.bought('a', MINT_2, 0.01)).toBe('DRAWDOWN_LIMIT')
    crew.rig.input(resume)
    expect(crew.bought('a', MINT_2, 0.01)).toBe('')
    const after = crew.restarted({ limits })
    after.rig.settle(0.1e-6, MINT)
    expect(after.bought('a', MINT_3, 0.01)).toBe('')
    // The price recovers, so the forgiven loss no longer exists. The next fall of the price is a new loss, which
    // counts.
    after.rig.settle(1e-6, MINT)
    expect(after.buy('a', MINT_3, 0.01)).toMatchObject({ code: 'POSITION_OPEN' })
    expect(after.bought('a', MINT_3, 0.01, { scaleIn: true })).toBe('')
    after.rig.settle(0.1e-6, MINT)
    expect(after.bought('a', MINT_3, 0.01, { scaleIn: true })).toBe('DRAWDOWN_LIMIT')
  })

  it('after a restart, the loss that an earlier `resume` forgave stays forgiven', () => {
    const crew = new Crew({ limits })
    expect(crew.bought('a', MINT, 0.2)).toBe('')
    crew.rig.settle(0.1e-6, MINT)
    crew.rig.input(resume)
    crew.rig.input({ kind: 'gap', from: 0, to: 1, keys: [MINT] })
    crew.rig.input(resume)
    crew.rig.settle(0.1e-6, MINT)
    expect(crew.bought('a', MINT_2, 0.01)).toBe('')
  })

  it('`resume` forgives a loss once, and the later sale of the position does not change this', () => {
    const crew = new Crew({ limits })
    expect(crew.bought('a', MINT, 0.1)).toBe('')
    expect(crew.bought('a', MINT_2, 0.1)).toBe('')
    for (const mint of [MINT, MINT_2]) crew.rig.settle(0.2e-6, mint)
    crew.rig.input(resume)
    crew.sold('a', MINT, 0.2e-6)
    expect(crew.bought('a', MINT_3, 0.14)).toBe('')
    crew.rig.settle(0.01e-6, MINT_3)
    crew.rig.settle(0.01e-6, MINT_2)
    expect(crew.bought('a', MINT, 0.01)).toBe('DRAWDOWN_LIMIT') // lost 0.139 and 0.019 SOL since the resume
  })
})

describe('adopting tokens at an implausible price', () => {
  it('adopting tokens at an implausible price is refused, and the engine continues', () => {
    const crew = new Crew({ mode: 'live' })
    crew.rig.settle(9e8, MINT)
    const account = crew.rig.outputs.find((output) => output.kind === 'account')?.money.account as string
    const told = crew.rig.input({ kind: 'adopt', account, bot: 'a', mint: MINT, tokens: 10n ** 18n, decimals: 6 })
    expect(told).toMatchObject([{ kind: 'refused', code: 'PRICE_UNKNOWN' }])
  })
})
