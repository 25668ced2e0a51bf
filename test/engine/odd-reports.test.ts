import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Output } from '../../src/engine/messages.ts'
import type { Order } from '../../src/engine/order.ts'
import { NO_MONEY } from '../../src/engine/recovered-money.ts'
import { type Bot, defineStrategy } from '../../src/engine/strategy.ts'
import { type BotOptions, botSettings, EngineRig, fillOf, MINT, orders } from '../support/engine-rig.ts'

/** Returns a strategy that buys every token that has a price and is not held. */
function buyer() {
  const seen: { bot: Bot<undefined>; told: string[] } = { bot: undefined as never, told: [] }
  const strategy = defineStrategy({
    name: 'buyer',
    about: '',
    params: z.object({}),
    keys: ['trades'],
    start: (_params, bot) => {
      seen.bot = bot
      return {
        onTrade(_trade, token) {
          if (token.price !== undefined && token.position === undefined) bot.buy(token, { sol: 0.1, reason: 'it can' })
        },
        onSignal: () => void bot.sell(MINT, { percent: 50, reason: 'half of it' }),
        onOrder: ({ id, state }) => void seen.told.push(`${id} ${state}`),
        onFill: ({ orderId }) => void seen.told.push(`${orderId} fill`),
      }
    },
  })
  return { strategy: strategy as never, seen }
}

function setUp(options: BotOptions = {}) {
  const { strategy, seen } = buyer()
  const rig = new EngineRig([strategy], [botSettings('buyer', options)])
  const [buy] = orders(rig.settle(1e-6)) as [Order]
  return { rig, buy, seen }
}

const lastOf = <K extends Output['kind']>(outputs: readonly Output[], kind: K) =>
  outputs.findLast((output): output is Extract<Output, { kind: K }> => output.kind === kind)
const position = (outputs: readonly Output[]) => lastOf(outputs, 'position')?.position
const timers = (outputs: readonly Output[]) =>
  outputs.flatMap((output) => (output.kind === 'timer' ? [output.timer.name.split(':')[0]] : []))

describe('a fork', () => {
  it('the reversal of a buy reopens its order, and if this order then fails, the position is closed', () => {
    const { rig, buy, seen } = setUp({ limits: { maxLamportsPerHour: 150_000_000 as never } })
    rig.fill(buy, 1e-6, { final: false })
    const reversed = rig.report(buy, 'working', { code: 'REVERSED', reversed: `signature-${buy.id}` })
    expect(position(reversed)).toMatchObject({ state: 'opening', tokens: 0n, costLamports: 0, feeLamports: 0 })
    expect(seen.bot.orders()).toMatchObject([{ id: buy.id, state: 'working' }])
    expect(seen.bot.wallet().reservedSol).toBeGreaterThan(0.1)
    expect(position(rig.report(buy, 'not_executed'))).toMatchObject({ state: 'closed' })
    expect(seen.bot.positions()).toEqual([])
    expect(seen.bot.budget().solThisHour).toBe(0)
    expect(seen.told).toEqual([`${buy.id} fill`, `${buy.id} filled`, `${buy.id} working`, `${buy.id} not_executed`])
    expect(orders(rig.trade(1e-6))).toHaveLength(1)
  })

  it('an order cannot reverse a fill that now belongs to another order', () => {
    const { rig, buy, seen } = setUp()
    rig.fill(buy, 1e-6, { final: false })
    const [held] = seen.bot.positions()
    const other = { ...buy, id: 'o77' }
    const signature = `signature-${buy.id}`
    rig.report(other, 'filled', { code: 'LATE_FILL', fill: { ...fillOf(other, 1e-6, rig.now), signature } })
    rig.report(buy, 'working', { code: 'REVERSED', reversed: signature })
    rig.report(buy, 'not_executed')
    expect(seen.bot.positions()).toMatchObject([{ tokens: held?.tokens }])
  })

  it('the reversal of an exit restores the position with its exits, its timer and the result of the day', () => {
    const { rig, buy, seen } = setUp({ exits: { stopLossPercent: 20, maxHoldSeconds: 600 } })
    const { tokens } = fillOf(buy, 1e-6, rig.now)
    rig.fill(buy, 1e-6)
    const [exit] = orders(rig.settle(0.5e-6)) as [Order]
    const before = seen.bot.budget().profitTodaySol
    rig.report(exit, 'filled', { fill: fillOf(exit, 0.5e-6, rig.now, { tokens, final: false }) })
    expect(seen.bot.positions()).toEqual([])
    const reversed = rig.report(exit, 'working', { reversed: `signature-${exit.id}` })
    expect(position(reversed)).toMatchObject({
      ...{ state: 'closing', tokens, costLamports: 100_000_000, averagePrice: 1e-6 },
      exits: { stopLossPercent: 20, maxHoldSeconds: 600 },
    })
    expect(seen.bot.budget().profitTodaySol).toBeCloseTo(before, 9)
    expect(timers(rig.report(exit, 'not_executed'))).toEqual(['retry'])
  })

  it('if a buy and the sale of its tokens are both reversed, nothing is left, in any order of the reports', () => {
    const { rig, buy, seen } = setUp()
    rig.fill(buy, 1e-6, { final: false })
    const { tokens } = fillOf(buy, 1e-6, rig.now)
    const [sale] = orders(rig.input({ kind: 'command', command: { name: 'sell', mint: MINT } })) as [Order]
    rig.report(sale, 'filled', { fill: fillOf(sale, 1e-6, rig.now, { tokens, final: false }) })
    rig.report(buy, 'working', { reversed: `signature-${buy.id}` })
    rig.report(sale, 'working', { reversed: `signature-${sale.id}` })
    expect(position(rig.outputs)).toMatchObject({ state: 'opening', tokens: 0n, costLamports: 0 })
    expect(lastOf(rig.outputs, 'account')?.money.lamports).toBe(10e9)
    expect(seen.bot.budget().profitTodaySol).toBe(0)
  })

  it('if a fork removes a partly sold buy and the buy lands again, maxHoldSeconds still counts from the first fill', () => {
    const { rig, buy } = setUp({ exits: { maxHoldSeconds: 60 } })
    rig.fill(buy, 1e-6, { final: false })
    const first = lastOf(rig.outputs, 'timer')?.timer
    const [sale] = orders(rig.input({ kind: 'command', command: { name: 'signal', signal: 'half', data: null } })) as [
      Order,
    ]
    const half = fillOf(buy, 1e-6, rig.now).tokens / 2n
    rig.report(sale, 'filled', { fill: fillOf(sale, 1e-6, rig.now, { tokens: half }) })
    rig.report(buy, 'working', { reversed: `signature-${buy.id}` })
    rig.now += 30_000
    rig.fill(buy, 1e-6)
    rig.now = first?.at ?? 0
    const second = rig.input({ kind: 'timer', id: first?.id ?? 0 })
    expect([orders(second), timers(second)]).toEqual([[], ['hold']])
    const { id, at } = lastOf(second, 'timer')?.timer ?? { id: 0, at: 0 }
    rig.now = at
    expect(orders(rig.input({ kind: 'timer', id }))[0]?.reason).toBe('held for 60 s')
  })

  it('after a restart, a late fill finds its order among the restored orders', () => {
    const { rig, buy } = setUp()
    rig.fill(buy, 1e-6, { final: false })
    const held = position(rig.outputs)
    const fill = fillOf(buy, 1e-6, rig.now, { final: false })
    const { strategy, seen } = buyer()
    const again = new EngineRig([strategy], [botSettings('buyer')], {
      ...NO_MONEY,
      ...{ nextOrder: 2, orders: [{ order: buy, state: 'filled' }], positions: [held as never], fills: [fill] },
    })
    again.report(buy, 'working', { reversed: fill.signature })
    expect(seen.bot.orders()).toMatchObject([{ id: buy.id, state: 'working' }])
    again.report(buy, 'not_executed')
    expect(seen.bot.positions()).toEqual([])
  })
})

describe('a late fill', () => {
  it('a late fill of a buy that had failed opens a position with the exits of its bot, and counts for the hourly limit', () => {
    const { rig, buy, seen } = setUp({ exits: { stopLossPercent: 20, maxHoldSeconds: 60 } })
    rig.report(buy, 'failed')
    expect(seen.bot.budget().solThisHour).toBe(0)
    rig.now += 60_000
    const outputs = rig.fill(buy, 1e-6)
    expect(position(outputs)).toMatchObject({ state: 'open', exits: { stopLossPercent: 20 } })
    expect(timers(outputs)).toEqual(['hold'])
    expect(seen.bot.budget().solThisHour).toBe(0.1)
    expect(orders(rig.settle(0.7e-6))).toMatchObject([{ side: 'sell' }])
  })

  it('a late fill of a sale counts even without a position, and leaves the subscriptions of the bot unchanged', () => {
    const { rig, buy, seen } = setUp()
    rig.fill(buy, 1e-6)
    const { tokens } = fillOf(buy, 1e-6, rig.now)
    const [sale] = orders(rig.input({ kind: 'command', command: { name: 'sell', mint: MINT } })) as [Order]
    rig.report(sale, 'filled', { fill: fillOf(sale, 1e-6, rig.now, { tokens }) })
    rig.report(sale, 'filled', { fill: fillOf(sale, 1e-6, rig.now, { tokens, signature: 'once more' }) })
    expect(seen.bot.positions()).toEqual([])
    // The next buy subscribes to the mint again, which shows that the number of subscribers did not fall below 0.
    const outputs = rig.trade(1e-6)
    expect(orders(outputs)).toHaveLength(1)
    expect(lastOf(outputs, 'keys')?.want).toContain(MINT)
  })
})

describe('reports out of order', () => {
  it('a provisional report after a final report changes nothing', () => {
    const { rig, buy, seen } = setUp()
    rig.fill(buy, 1e-6, { final: true })
    rig.fill(buy, 1e-6, { final: false })
    expect(seen.bot.fills()).toMatchObject([{ final: true }])
  })

  it('reports about an unknown order change nothing', () => {
    const { rig, seen } = setUp()
    const outputs = rig.report({ id: 'o77' } as Order, 'failed', { feeLamports: 5 as never, reversed: 'nothing' })
    expect(outputs.map(({ kind }) => kind)).toEqual(['orderState'])
    expect(seen.bot.orders()).toHaveLength(1)
  })

  it('two executions of the same order are both booked', () => {
    const { rig, buy } = setUp()
    rig.fill(buy, 1e-6)
    const outputs = rig.fill(buy, 1e-6, { signature: 'the second' })
    expect(position(outputs)).toMatchObject({ tokens: 200_000_000_000n, costLamports: 200_000_000 })
  })

  it('if a sale sold more than the holding, all its proceeds count, and no amount falls below 0', () => {
    const { rig, buy } = setUp()
    rig.fill(buy, 1e-6)
    const [sale] = orders(rig.input({ kind: 'command', command: { name: 'sell', mint: MINT } })) as [Order]
    const fill = fillOf(sale, 1e-6, rig.now, { tokens: 300_000_000_000n })
    expect(position(rig.report(sale, 'filled', { fill }))).toMatchObject({
      ...{ state: 'closed', tokens: 0n, costLamports: 0, realizedLamports: 200_000_000 },
    })
  })

  it('after an exit has sold only a part of the holding, it continues', () => {
    const { rig, buy } = setUp()
    rig.fill(buy, 1e-6)
    const [sale] = orders(rig.input({ kind: 'command', command: { name: 'sell', mint: MINT } })) as [Order]
    const outputs = rig.report(sale, 'filled', { fill: fillOf(sale, 1e-6, rig.now, { tokens: 40_000_000_000n }) })
    expect(position(outputs)).toMatchObject({ state: 'open', tokens: 60_000_000_000n, costLamports: 60_000_000 })
    expect(timers(outputs)).toEqual(['retry'])
  })

  it('a provisional fill that is reported again more than 500 fills later is booked only once', () => {
    const { rig, buy } = setUp({ paperSol: 10_000 })
    rig.fill(buy, 1e-6, { final: false })
    const tokens = fillOf(buy, 1e-6, rig.now).tokens
    for (let n = 0; n < 600; n++) rig.fill(buy, 1e-6, { signature: `other-${n}` })
    rig.fill(buy, 1e-6, { final: true })
    expect(position(rig.outputs)?.tokens).toBe(601n * tokens)
  })
})

describe('the wallet', () => {
  it('the fills of later Solana slots are added to a balance that was read at an earlier slot', () => {
    const settings = botSettings('buyer')
    const { strategy } = buyer()
    const rig = new EngineRig([strategy], [settings])
    const [buy] = orders(rig.settle(1e-6)) as [Order]
    rig.report(buy, 'filled', { fill: { ...fillOf(buy, 1e-6, rig.now), slot: 20 } })
    const read = (slot: number) =>
      lastOf(rig.input({ kind: 'wallet', account: settings.account.id, lamports: 5e9 as never, slot }), 'account')
        ?.money.lamports
    expect(read(19)).toBe(5e9 - 0.1e9 - 5000)
    expect(read(20)).toBe(5e9)
    expect(read(12)).toBeUndefined()
  })
})

describe('flatten', () => {
  it('an operator who sells a mint cancels its waiting buys, and a buy that fills later is sold at once', () => {
    const { rig, buy } = setUp()
    const outputs = rig.input({ kind: 'command', command: { name: 'flatten' } })
    expect(lastOf(outputs, 'cancel')).toMatchObject({ orderId: buy.id, code: 'CANCELLED' })
    expect(orders(rig.fill(buy, 1e-6))).toMatchObject([{ side: 'sell', size: { kind: 'all' }, reason: 'flatten' }])
  })
})

describe('a buy that waits for a retry', () => {
  it('a buy that waits for a retry is cancelled once if the price rises too far', () => {
    const { rig, buy } = setUp()
    rig.report(buy, 'working')
    rig.report(buy, 'accepted', { code: 'RATE_LIMIT' })
    const cancels = rig.settle(1.2e-6).filter(({ kind }) => kind === 'cancel')
    expect(cancels).toEqual([{ kind: 'cancel', orderId: buy.id, code: 'CHASED' }])
  })

  it('a buy that waits for a retry is cancelled after a restart as well', () => {
    const { rig, buy } = setUp()
    const { strategy } = buyer()
    const again = new EngineRig([strategy], [botSettings('buyer')], {
      ...NO_MONEY,
      ...{ nextOrder: 2, orders: [{ order: buy, state: 'accepted' }], positions: [position(rig.outputs) as never] },
    })
    expect(again.settle(1.2e-6).filter(({ kind }) => kind === 'cancel')).toHaveLength(1)
  })
})
