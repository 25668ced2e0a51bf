import { describe, expect, it, test } from 'vitest'
import { solToLamports } from '../../src/base/units.ts'
import type { Command, Output } from '../../src/engine/messages.ts'
import { MINT, orders } from '../support/engine-rig.ts'
import { readyBot, TalkingBot } from '../support/talking-bot.ts'

const SOL = 0.1
const buy: Command = { name: 'buy', bot: 'told', mint: MINT, sol: SOL }

function give({ rig }: TalkingBot, command: Command): Output[] {
  return rig.input({ kind: 'command', command, by: 'phone' })
}

describe('a buy by hand', () => {
  it('a buy by hand is an order of its bot, and the exits of this bot manage it', () => {
    const talk = readyBot({ exits: { stopLossPercent: 20 } })
    const [order] = orders(give(talk, buy))
    expect(order).toMatchObject({
      ...{ bot: 'told', side: 'buy', class: 'entry', mint: MINT, reason: 'bought by hand' },
      size: { kind: 'sol', lamports: solToLamports(SOL) },
    })
    talk.rig.fill(order as never, 1e-6)
    expect(talk.ask((bot) => bot.position(MINT)?.tokens)).toBeGreaterThan(0)
    expect(orders(talk.rig.settle(0.7e-6))).toMatchObject([{ side: 'sell', bot: 'told' }])
  })

  it('a buy by hand for a bot that does not run does nothing', () => {
    expect(give(readyBot(), { ...buy, bot: 'gone' })).toEqual([])
  })

  const halted = (talk: TalkingBot): void => void give(talk, { name: 'halt' })
  test.each<[string, () => TalkingBot, number?]>([
    ['a buy by hand without a price', () => new TalkingBot()],
    [
      'a buy by hand above limits.maxSolPerOrder',
      () => readyBot({ limits: { maxLamportsPerOrder: solToLamports(0.05) } }),
    ],
    [
      'a buy by hand above limits.maxSolPerHour',
      () => readyBot({ limits: { maxLamportsPerHour: solToLamports(0.05) } }),
    ],
    ['a buy by hand while limits.maxOpenPositions is 0', () => readyBot({ limits: { maxOpenPositions: 0 } })],
    [
      'a buy by hand above limits.maxExposureSol',
      () => readyBot({ limits: { maxExposureLamports: solToLamports(0.01) } }),
    ],
    ['a buy by hand below the smallest buy that the service allows', () => readyBot(), 0.0001],
    ['a buy by hand above the largest buy of the plan', () => readyBot(), 101],
    ['a buy by hand of more SOL than the wallet has', () => readyBot({ paperSol: 0.05 })],
    ['a buy by hand of a token that the bot holds', () => readyBot({}, true)],
    ['a buy by hand of a mint with an open order', () => tapped(readyBot(), (talk) => give(talk, buy))],
    ['a buy by hand while entries are halted', () => tapped(readyBot(), halted)],
    ['a buy by hand while the feed is down', () => tapped(readyBot(), feedDown)],
    ['a buy by hand while the process stops', () => tapped(readyBot(), (talk) => give(talk, { name: 'stop' }))],
    ['a buy by hand of a token that the filters refuse', () => readyBot({ filters: { minAgeMs: 3_600_000 } })],
  ])('%s is refused with the same code as the same buy by the strategy', (_name, make, sol = SOL) => {
    const byStrategy = make().ask((bot, token) => bot.buy(token, { sol, reason: 'told to' }))
    const outputs = give(make(), { ...buy, sol })
    expect(byStrategy).toMatchObject({ ok: false })
    expect(orders(outputs)).toEqual([])
    expect(outputs.find(({ kind }) => kind === 'refused')).toMatchObject({
      ...{ bot: 'told', mint: MINT, code: byStrategy.ok ? '' : byStrategy.code },
      reason: expect.stringMatching(/^bought by hand: ./),
    })
  })
})

describe('cancel', () => {
  it('a cancellation ends an order that was not sent, but not one that was sent', () => {
    const talk = readyBot()
    const [order] = orders(give(talk, buy))
    expect(give(talk, { name: 'cancel', order: order?.id as string })).toMatchObject([
      { kind: 'cancel', orderId: order?.id, code: 'CANCELLED' },
    ])
    talk.rig.report(order as never, 'working')
    expect(give(talk, { name: 'cancel', order: order?.id as string })).toEqual([])
  })

  it('a cancellation does not end the sale of an exit that is due', () => {
    const talk = readyBot({ exits: { stopLossPercent: 20 } }, true)
    const [sale] = orders(talk.rig.settle(0.7e-6))
    expect(sale).toMatchObject({ side: 'sell' })
    expect(give(talk, { name: 'cancel', order: sale?.id as string })).toEqual([])
  })

  it('a cancellation ends a conditional order, and its strategy receives a report', () => {
    const told: string[] = []
    const talk = new TalkingBot({}, () => ({ onOrder: ({ id, state }) => void told.push(`${id} ${state}`) }))
    talk.rig.settle(1e-6)
    talk.ask((bot, token) => bot.limitBuy(token, { sol: SOL, atPrice: 0.5e-6, reason: 'cheap' }))
    expect(give(talk, { name: 'cancel', order: 'c1' }).filter(({ kind }) => kind !== 'keys')).toMatchObject([
      { kind: 'conditional', order: { id: 'c1', state: 'cancelled', code: 'CANCELLED' } },
    ])
    expect(told).toEqual(['c1 cancelled'])
    expect(orders(talk.rig.settle(0.4e-6))).toEqual([])
  })

  it('a cancellation ends a conditional order together with the order that it placed, unless this order was sent', () => {
    const working = (): TalkingBot => {
      const talk = readyBot()
      talk.ask((bot, token) => bot.limitBuy(token, { sol: SOL, atPrice: 0.5e-6, reason: 'cheap' }))
      talk.rig.settle(0.4e-6)
      return talk
    }
    const waits = working()
    const [order] = orders(waits.rig.outputs).filter(({ side }) => side === 'buy')
    expect(give(waits, { name: 'cancel', order: 'c1' }).map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['cancel', 'conditional']),
    )
    const sent = working()
    sent.rig.report(order as never, 'working')
    expect(give(sent, { name: 'cancel', order: 'c1' })).toEqual([])
  })

  it('a cancellation of an unknown order does nothing', () => {
    for (const order of ['o99', 'c99']) expect(give(readyBot(), { name: 'cancel', order })).toEqual([])
  })
})

function tapped<T>(value: T, change: (value: T) => unknown): T {
  change(value)
  return value
}

function feedDown({ rig }: TalkingBot): void {
  rig.input({ kind: 'feed', status: 'down', confirmed: [] })
}
