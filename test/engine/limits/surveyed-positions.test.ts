import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatSol, solToLamports } from '../../../src/base/units.ts'
import { liquidationSol } from '../../../src/engine/accounting/liquidation.ts'
import type { Position } from '../../../src/engine/accounting/position.ts'
import { Crew, MINT_3 } from '../../support/crew.ts'
import { MINT, MINT_2 } from '../../support/engine-rig.ts'

const BOUND = solToLamports(0.35)
const AMOUNT = 0.1
const step = fc.record({
  what: fc.constantFrom('print', 'print', 'prints', 'buy', 'buy', 'buy', 'sell', 'gap', 'wait'),
  name: fc.constantFrom('a', 'b'),
  mint: fc.constantFrom(MINT, MINT_2, MINT_3),
  price: fc.constantFrom(2e-7, 3e-7, 1e-6, 1.5e-6, 4e-6),
})

/** Returns the positions by mint, as the outputs of the engine describe them. */
function openPositions({ rig }: Crew): Position[] {
  const byMint = new Map<string, Position>()
  for (const output of rig.outputs) if (output.kind === 'position') byMint.set(output.position.mint, output.position)
  return [...byMint.values()].filter(({ state }) => state !== 'closed')
}

/** Returns the value of a position, computed from the prices of the engine. */
function worthOf({ rig: { engine } }: Crew, position: Position): number | undefined {
  const [robust, ofExits] = [engine.price(position.mint), engine.exitPriceOf(position)]
  const price = robust === undefined ? undefined : Math.min(robust, ofExits ?? robust)
  const highPrice = engine.readingOf(position)?.highPrice ?? 0
  const sol = liquidationSol({ ...position, highPrice }, price)
  return sol === undefined ? undefined : solToLamports(sol)
}

test('after any sequence of events, the limits count each position with its current value', () => {
  const refusals = { count: 0 }
  const property = fc.property(fc.array(step, { minLength: 10, maxLength: 40 }), (steps) => {
    const crew = new Crew({ paperSol: 100, walletLimits: { maxExposureLamports: BOUND } })
    const { rig } = crew
    for (const { what, name, mint, price } of steps) {
      const held = openPositions(crew).find((one) => one.mint === mint)
      if (what === 'print') rig.trade(price, { mint })
      else if (what === 'prints') rig.settle(price, mint)
      else if (what === 'wait') rig.now += 700_000
      else if (what === 'gap') rig.input({ kind: 'gap', from: rig.now, to: rig.now, keys: [mint] })
      else if (what === 'sell' && held !== undefined) crew.sold(held.bot, mint, price)
      else if (what === 'buy') {
        const placed = crew.buy(name, mint, AMOUNT, { price, scaleIn: true })
        const used = openPositions(crew).reduce((sum, position) => {
          return sum + Math.max(position.costLamports, worthOf(crew, position) ?? 0)
        }, 0)
        if (placed.ok) {
          expect(used + solToLamports(AMOUNT)).toBeLessThanOrEqual(BOUND)
          rig.fill(crew.last(), 1e-6)
        } else if (placed.code === 'EXPOSURE_LIMIT') {
          refusals.count++
          expect(used + solToLamports(AMOUNT)).toBeGreaterThan(BOUND)
          expect(placed.reason).toContain(formatSol(used))
        }
      }
      for (const position of openPositions(crew))
        expect(rig.engine.readingOf(position)?.lamports).toBe(worthOf(crew, position))
    }
  })
  fc.assert(property, { seed: 23, numRuns: 30 })
  expect(refusals.count).toBeGreaterThan(10)
})
