import { expect, test } from 'vitest'
import { lamports } from '../../../src/base/units.ts'
import type { Position } from '../../../src/engine/accounting/position.ts'
import type { Output } from '../../../src/engine/messages.ts'
import type { Order } from '../../../src/engine/order.ts'
import { NO_MONEY } from '../../../src/engine/recovered-money.ts'
import type { Bot, EquityView, Handlers, RoundTripView } from '../../../src/engine/strategy.ts'
import { botSettings, EngineRig, fillOf, MINT, orders, startInput } from '../../support/engine-rig.ts'

/** A strategy that stores its `bot` and all round trips, fills and orders that it receives. */
class Ears {
  readonly trips: RoundTripView[] = []
  readonly calls: string[] = []
  bot: Bot | undefined
  readonly strategy = {
    ...{ name: 'ears', about: '', params: undefined as never, keys: ['trades'] },
    start: (_params: never, bot: Bot): Handlers<unknown> => {
      this.bot = bot
      return {
        onTrade: () => {
          for (const request of this.wishes.splice(0)) request(bot)
        },
        onFill: ({ side }) => void this.calls.push(`fill ${side}`),
        onOrder: ({ side, state }) => void this.calls.push(`order ${side} ${state}`),
        onPositionClosed: (trip, token) => {
          this.trips.push(trip)
          this.calls.push(`closed ${token.mint === MINT} ${token.position === undefined}`)
        },
      }
    },
  }
  readonly wishes: ((bot: Bot) => unknown)[] = []
}

const TOKENS = 1_000_000_000_000n

interface World {
  readonly ears: Ears
  readonly rig: EngineRig
  /** Prints trades until a request is accepted, and returns its order. */
  ask(wish: (bot: Bot) => unknown): Order
}

function world(money = NO_MONEY, ears = new Ears()): World {
  const rig = new EngineRig([ears.strategy as never], [botSettings('ears', { exits: {} as never })], money)
  const ask = (wish: (bot: Bot) => unknown): Order => {
    ears.wishes.push(wish)
    const made = orders(rig.trade(price(rig)))
    if (made[0] === undefined) throw new Error('no order was made')
    return made[0]
  }
  return { ears, rig, ask }
}

let last = 1e-6
const price = (_rig: EngineRig): number => last

function settle(rig: EngineRig, to: number): void {
  last = to
  rig.settle(to)
}

const buy =
  (sol: number, more: object = {}) =>
  (bot: Bot) =>
    bot.buy(MINT, { sol, reason: 'cheap', ...more })
const sell =
  (reason: string, more: object = { all: true }) =>
  (bot: Bot) =>
    bot.sell(MINT, { reason, ...more } as never)

function positionOf(outputs: readonly Output[]): Position {
  const found = outputs.findLast((output) => output.kind === 'position')
  if (found?.kind !== 'position') throw new Error('no position')
  return found.position
}

test('a strategy receives each closed position once, with all its figures, after it has received the fill and the order of the last sale', () => {
  const { ears, rig, ask } = world()
  settle(rig, 1e-6)
  const bought = ask(buy(1, { tag: 'dip' }))
  const openedAt = rig.now
  rig.fill(bought, 1e-6)
  settle(rig, 1.2e-6)
  settle(rig, 0.5e-6)
  const failed = ask(sell('out', { all: true, tag: 'first try' }))
  rig.report(failed, 'failed', { code: 'REVERTED', feeLamports: lamports(700_000) })
  rig.now += 20_000
  rig.input({ kind: 'timer', id: 1 })
  const part = ask(sell('half', { percent: 50 }))
  rig.report(part, 'filled', { fill: fillOf(part, 1e-6, rig.now, { tokens: TOKENS / 2n }) })
  settle(rig, 1e-6)
  ears.calls.length = 0
  const rest = ask(sell('rest', { all: true, tag: 'enough' }))
  rig.now += 400
  rig.report(rest, 'filled', { fill: { ...fillOf(rest, 1.1e-6, rig.now, { tokens: TOKENS / 2n }), tag: 'enough' } })
  expect(ears.calls).toEqual(['fill sell', 'order sell filled', 'closed true true'])
  const [trip] = ears.trips
  expect(ears.trips).toHaveLength(1)
  expect(trip).toMatchObject({
    ...{ mint: MINT, openedAt, closedAt: rig.now, buys: 1, sells: 2, costSol: 1, proceedsSol: 1.05, revises: false },
    ...{ entryReason: 'cheap', entryTag: 'dip', exitReason: 'rest', exitTag: 'enough' },
  })
  expect(trip?.heldSeconds).toBeCloseTo((rig.now - openedAt) / 1000, 9)
  expect(trip?.feesSol).toMatchObject({ failed: 0.0007, other: 0.000015, total: 0.000715 })
  expect(trip?.profitSol).toBeCloseTo(1.05 - 1 - 0.000715, 9)
  expect(trip?.profitPercent).toBeCloseTo((1.05 - 1 - 0.000715) * 100, 6)
  // The highest price was 1.2e-6. A sale at this price would have brought less than 1.2 SOL, because venue fee and
  // price impact are deducted. The best profit was therefore between 0.1 and 0.2 SOL.
  expect(trip?.best.sol).toBeGreaterThan(0.1)
  expect(trip?.best.sol).toBeLessThan(0.2)
  expect(trip?.worst.percent).toBeLessThan(-50)
  expect(trip?.worst.percent).toBeGreaterThan(-60)
})

test('if there was no price while the position was held, its best and its worst mark are its profit', () => {
  const { ears, rig, ask } = world()
  settle(rig, 1e-6)
  const bought = ask(buy(1))
  rig.fill(bought, 1e-6)
  const sold = ask(sell('out'))
  rig.report(sold, 'filled', { fill: fillOf(sold, 3e-6, rig.now, { tokens: TOKENS }) })
  const [trip] = ears.trips
  expect(trip?.best.sol).toBe(trip?.profitSol)
  expect(trip?.worst.sol).toBeLessThan(0)
})

test('a buy that fails closes no round trip', () => {
  const { ears, rig, ask } = world()
  settle(rig, 1e-6)
  rig.report(ask(buy(1)), 'failed', { code: 'REVERTED', feeLamports: lamports(500_000) })
  expect(ears.calls).toEqual(['order buy failed'])
  expect(ears.trips).toEqual([])
})

test('if a fork removes the closing sale, the position opens again, and the strategy receives a corrected round trip when it closes', () => {
  const { ears, rig, ask } = world()
  settle(rig, 1e-6)
  rig.fill(ask(buy(1)), 1e-6)
  const sold = ask(sell('out'))
  const fill = fillOf(sold, 2e-6, rig.now, { tokens: TOKENS, final: false })
  rig.report(sold, 'filled', { fill })
  rig.report(sold, 'working', { reversed: fill.signature })
  const again = fillOf(sold, 1.5e-6, rig.now, { tokens: TOKENS, signature: 'other' })
  rig.report(sold, 'filled', { fill: again, attemptId: `${sold.id}.2` })
  expect(ears.trips.map(({ proceedsSol, sells, revises }) => [proceedsSol, sells, revises])).toEqual([
    [2, 1, false],
    [1.5, 1, true],
  ])
})

test('tokens that leave the wallet without an order close the round trip with that reason', () => {
  const { ears, rig, ask } = world()
  settle(rig, 1e-6)
  const bought = ask(buy(1))
  rig.fill(bought, 1e-6)
  rig.input({ kind: 'deficit', account: bought.account, mint: MINT, tokens: 0n })
  expect(ears.trips).toMatchObject([
    { exitReason: 'left the wallet without an order', proceedsSol: 0, sells: 0, profitSol: -1.000005 },
  ])
})

test('the best and the worst mark, the sums and the reasons survive a restart', () => {
  const first = world()
  settle(first.rig, 1e-6)
  const bought = first.ask(buy(1, { tag: 'dip' }))
  first.rig.fill(bought, 1e-6)
  settle(first.rig, 2e-6)
  settle(first.rig, 0.6e-6)
  const [mark] = first.rig.engine.takeMarks()
  const held = { ...positionOf(first.rig.outputs), best: mark?.best, worst: mark?.worst } as Position
  const accounts = [{ account: bought.account, lamports: lamports(9e9), slot: 0, halted: false }]
  const { ears, rig, ask } = world({ ...NO_MONEY, nextOrder: 10, accounts, positions: [held] })
  settle(rig, 1e-6)
  const sold = ask(sell('out'))
  rig.report(sold, 'filled', { fill: fillOf(sold, 1e-6, rig.now, { tokens: TOKENS }) })
  const [trip] = ears.trips
  expect(trip).toMatchObject({ buys: 1, sells: 1, entryReason: 'cheap', entryTag: 'dip', exitReason: 'out' })
  expect(trip?.best).toEqual({ sol: (mark?.best?.lamports ?? 0) / 1e9, percent: mark?.best?.percent })
  expect(trip?.worst).toEqual({ sol: (mark?.worst?.lamports ?? 0) / 1e9, percent: mark?.worst?.percent })
})

test('a position that an earlier version of Sluice recorded closes with sums that are computed from its cost', () => {
  const first = world()
  settle(first.rig, 1e-6)
  const bought = first.ask(buy(1))
  first.rig.fill(bought, 1e-6)
  const { trip: _trip, best: _best, worst: _worst, ...held } = positionOf(first.rig.outputs)
  const { ears, rig, ask } = world({ ...NO_MONEY, nextOrder: 10, positions: [held] })
  settle(rig, 1e-6)
  const sold = ask(sell('out'))
  rig.report(sold, 'filled', { fill: fillOf(sold, 1.5e-6, rig.now, { tokens: TOKENS }) })
  expect(ears.trips).toMatchObject([{ costSol: 1, proceedsSol: 1.5, entryReason: '', feesSol: { other: 0.00001 } }])
})

test('if the journal records no marks, positions keep neither sums nor marks, so that older journals can be replayed', () => {
  const ears = new Ears()
  const rig = new EngineRig([ears.strategy as never], [botSettings('ears', { exits: {} as never })])
  const { exitPrice: _exitPrice, ...old } = startInput([botSettings('ears', { exits: {} as never })])
  rig.input(old)
  rig.input({ kind: 'feed', status: 'live', confirmed: [] })
  settle(rig, 1e-6)
  ears.wishes.push(buy(1))
  const [bought] = orders(rig.trade(1e-6))
  rig.fill(bought as Order, 1e-6)
  settle(rig, 2e-6)
  expect(Object.keys(positionOf(rig.outputs))).not.toContain('trip')
  expect(rig.engine.takeMarks()[0]).not.toHaveProperty('best')
})

test('the equity is the balance plus the proceeds of selling all positions', () => {
  const { ears, rig, ask } = world()
  const seen: (EquityView | undefined)[] = []
  const look = (): void => {
    ears.wishes.push((bot) => seen.push(bot.equity()))
    rig.trade(last)
  }
  settle(rig, 1e-6)
  look()
  rig.fill(ask(buy(1)), 1e-6)
  look()
  const [before, after] = seen
  expect(before).toEqual({ sol: 10, walletSol: 10, positionsSol: 0, ownPositionsSol: 0, unpriced: 0 })
  expect(after?.walletSol).toBeCloseTo(9 - 0.000005, 9)
  expect(after?.positionsSol).toBe(ears.bot?.position(MINT)?.valueSol)
  expect(after?.ownPositionsSol).toBe(after?.positionsSol)
  expect(after?.sol).toBeCloseTo((after?.walletSol ?? 0) + (after?.positionsSol ?? 0), 9)
  expect(after?.positionsSol).toBeGreaterThan(0.9)
  expect(after?.positionsSol).toBeLessThan(1)
})
