import fc from 'fast-check'
import { expect, test } from 'vitest'
import { lamports } from '../../../src/base/units.ts'
import { newPosition, type Position } from '../../../src/engine/accounting/position.ts'
import type { PositionReading } from '../../../src/engine/exits/exit-levels.ts'
import { heldPosition, rowOf } from '../../../src/runtime/view/position-rows.ts'
import { ReceivedPositions, SentPositions } from '../../../src/runtime/view/position-transfer.ts'
import type { PositionStatus } from '../../../src/runtime/view/view.ts'

const NOW = 1_800_000_000_000
const UNKNOWN = { lamports: undefined, price: undefined, highPrice: 0, printedAt: NOW, pricedAt: NOW }
const EXITS = { stopLossPercent: 20, trailingPercent: 10, idleSeconds: 60 }

const reading: fc.Arbitrary<PositionReading> = fc.record({
  lamports: fc.option(fc.nat(9).map(lamports), { nil: undefined }),
  price: fc.option(fc.constantFrom(1e-6, 2e-6), { nil: undefined }),
  highPrice: fc.constantFrom(0, 2e-6),
  printedAt: fc.constantFrom(NOW, NOW + 1),
  pricedAt: fc.constantFrom(NOW, NOW + 1),
})
const mint = fc.constantFrom('m1', 'm2', 'm3', '__proto__')
const step = fc.oneof(
  fc.record({ kind: fc.constant('buy' as const), mint, tokens: fc.bigInt(0n, 3n) }),
  fc.record({ kind: fc.constant('close' as const), mint }),
  fc.record({ kind: fc.constant('price' as const), mint, reading }),
  fc.record({ kind: fc.constant('promise' as const), mint, sales: fc.array(fc.constantFrom(1e-6, 3e-6)) }),
  fc.record({ kind: fc.constant('read' as const) }),
)

/** Open positions: `positions` and `sales` as the view model knows them, `readings` as the engine knows them. */
class Scene {
  readonly positions = new Map<string, Position>()
  readonly readings = new Map<string, PositionReading>()
  readonly sales = new Map<string, readonly number[]>()

  take(one: Exclude<typeof step extends fc.Arbitrary<infer T> ? T : never, { kind: 'read' }>): void {
    if (one.kind === 'close') this.positions.delete(one.mint)
    else if (one.kind === 'price') this.readings.set(one.mint, one.reading)
    else if (one.kind === 'promise') this.sales.set(one.mint, one.sales)
    else {
      const { mint, tokens } = one
      const opened = newPosition({ account: 'w', bot: 'dips', mint }, NOW, EXITS)
      this.positions.set(mint, { ...opened, tokens, averagePrice: 1e-6, costLamports: lamports(5) })
    }
  }

  read() {
    return [...this.positions.values()].map((position) => {
      const held = heldPosition(position, 'main', undefined, this.sales.get(position.mint))
      return { held, reading: this.readings.get(position.mint) ?? UNKNOWN }
    })
  }
}

const byId = (rows: readonly PositionStatus[]): Map<string, PositionStatus> => new Map(rows.map((row) => [row.id, row]))

test('another thread computes the same position rows as this thread, and receives no data if no position has changed', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const scene = new Scene()
      const sent = new SentPositions()
      const received = new ReceivedPositions()
      for (const one of [...steps, { kind: 'read' } as const]) {
        if (one.kind !== 'read') {
          scene.take(one)
          continue
        }
        const before = byId(received.rows)
        const news = sent.next(scene.read())
        const changed = news === undefined ? new Map() : received.take(structuredClone(news), NOW)
        const after = byId(received.rows)
        expect(after).toEqual(byId(scene.read().map((one) => rowOf(one, NOW))))
        // The changed rows turn the earlier rows into the later rows. No changed row is equal to the earlier one.
        const followed = [...new Map([...before, ...changed])].filter(([, row]) => row !== null)
        expect(new Map(followed)).toEqual(after)
        for (const [id, row] of changed) expect(row).not.toEqual(before.get(id))
        expect(sent.next(scene.read())).toBeUndefined()
      }
    }),
    { numRuns: 500 },
  )
})

test('the row of a position whose prices did not change stays the same object', () => {
  const scene = new Scene()
  for (const mint of ['m1', 'm2'] as const) scene.take({ kind: 'buy', mint, tokens: 1n })
  const rows = scene.read().map((one) => rowOf(one, NOW))
  scene.take({ kind: 'price', mint: 'm2', reading: { ...UNKNOWN, lamports: lamports(7), price: 2e-6 } })
  const after = scene.read().map((one) => rowOf(one, NOW + 90))
  expect(after[0]).toBe(rows[0])
  expect(after[1]).toMatchObject({ price: 2e-6, changePercent: expect.closeTo(40) })
})

test('a take-profit target that falls with the age of a position is shown for the present age', () => {
  const position = {
    ...newPosition({ account: 'w', bot: 'dips', mint: 'm1' }, NOW, {}),
    tokens: 1n,
    averagePrice: 1e-6,
  }
  const exits = { takeProfitByAge: { 0: 100, 60: 10 } }
  const held = heldPosition({ ...position, exits } as Position, undefined, undefined)
  const targetAt = (now: number) => rowOf({ held, reading: UNKNOWN }, now).exits[0]?.price
  expect([targetAt(NOW), targetAt(NOW + 60_000)]).toEqual([expect.closeTo(2e-6, 9), expect.closeTo(1.1e-6, 9)])
})
