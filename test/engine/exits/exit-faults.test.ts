import { describe, expect, it } from 'vitest'
import type { Output } from '../../../src/engine/messages.ts'
import type { Order } from '../../../src/engine/order.ts'
import { type BotOptions, botSettings, fillOf, MINT, orders, refusals } from '../../support/engine-rig.ts'
import { RecordedMoney } from '../../support/recorded-money.ts'
import { TalkingBot } from '../../support/talking-bot.ts'

const BUY = { sol: 0.1, reason: 'told to' }
const HELD = 100_000_000_000n

/** Returns a bot that holds tokens, bought with 0.1 SOL at 1e-6. */
function holding(options: BotOptions = {}): TalkingBot {
  const talk = new TalkingBot(options)
  talk.rig.settle(1e-6)
  talk.ask((bot, token) => bot.buy(token, BUY))
  talk.rig.fill(orders(talk.rig.outputs)[0] as Order, 1e-6)
  return talk
}

const asked = (outputs: readonly Output[]): string[] =>
  orders(outputs).map(({ side, size }) => `${side} ${size.kind === 'percent' ? size.percent : size.kind}`)

/** Fires the timers of exits that are due by `time`, and returns the outputs. */
function runTo(talk: TalkingBot, time: number): Output[] {
  const { rig } = talk
  const fired: Output[] = []
  for (;;) {
    const cleared = new Set(rig.outputs.flatMap((output) => (output.kind === 'timerCleared' ? [output.id] : [])))
    const set = rig.outputs.flatMap((output) => (output.kind === 'timer' ? [output.timer] : []))
    const [next] = set.filter(({ id, at }) => !cleared.has(id) && at <= time).sort((one, two) => one.at - two.at)
    if (next === undefined) break
    rig.now = Math.max(rig.now, next.at)
    fired.push(...rig.input({ kind: 'timer', id: next.id }))
  }
  rig.now = time
  return fired
}

describe('a partial sale that is due', () => {
  it('a partial sale that is due is retried after a failure, even if the strategy replaces the exits', () => {
    const talk = holding()
    talk.ask((bot, token) => bot.stopSell(token, { atPrice: 0.8e-6, percent: 50, reason: 'half' }))
    const [order] = orders(talk.rig.settle(0.7e-6)) as [Order]
    talk.rig.report(order, 'failed')
    talk.ask((bot, token) => bot.setExits(token, { stopLossPercent: 60 }), 0.7e-6)
    expect(asked(runTo(talk, talk.rig.now + 10_000))).toEqual(['sell 50'])
  })

  it('a partial sale is sent at once, even if an earlier partial sale waits for its retry', () => {
    const talk = holding()
    talk.ask((bot, token) => bot.limitSell(token, { atPrice: 1.5e-6, percent: 10, reason: 'dear' }))
    talk.ask((bot, token) => bot.stopSell(token, { atPrice: 0.8e-6, percent: 50, reason: 'half' }))
    let [order] = orders(talk.rig.settle(1.5e-6)) as [Order]
    for (let tries = 0; tries < 6; tries++) {
      talk.rig.report(order, 'failed')
      const [next] = orders(runTo(talk, talk.rig.now + 200_000))
      if (next !== undefined) order = next
    }
    talk.rig.report(order, 'failed')
    const outputs = talk.rig.settle(0.7e-6)
    expect(asked(outputs)).toEqual(['sell 60'])
    talk.rig.report(orders(outputs)[0] as Order, 'failed')
    expect(asked(runTo(talk, talk.rig.now + 200_000))).toEqual(['sell 60'])
  })

  it('a partial sale does not count towards the take-profit steps of new exits that were set while it was open', () => {
    const talk = holding({ exits: { takeProfitSteps: [{ atPercent: 20, sellPercent: 30 }] } })
    const [order] = orders(talk.rig.settle(1.3e-6)) as [Order]
    const takeProfitSteps = [{ atPercent: 50, sellPercent: 50 }]
    talk.ask((bot, token) => bot.setExits(token, { takeProfitSteps, windowPrints: 5 }), 1.3e-6)
    talk.rig.report(order, 'filled', { fill: fillOf(order, 1.3e-6, talk.rig.now, { tokens: (HELD * 3n) / 10n }) })
    expect(asked(talk.rig.settle(1.6e-6))).toEqual(['sell 71.43'])
  })
})

describe('a token without trades', () => {
  it('if the feed was down at the first check, a token without trades is sold as idle at a later check', () => {
    const talk = holding({ exits: { idleSeconds: 60, whenStale: { policy: 'flatten', afterSeconds: 3_600 } } })
    const { now } = talk.rig
    runTo(talk, now + 30_000)
    talk.rig.input({ kind: 'feed', status: 'stale', confirmed: [] })
    runTo(talk, now + 90_000)
    talk.rig.input({ kind: 'gap', from: now + 30_000, to: now + 90_000, keys: ['trades'] })
    talk.rig.input({ kind: 'feed', status: 'live', confirmed: [] })
    expect(orders(runTo(talk, now + 215_000))).toMatchObject([{ reason: expect.stringContaining('idle') }])
  })
})

it('a token whose prints give no price, because a fill contradicts their unit, is sold by whenStale', () => {
  const exits = { stopLossPercent: 20, whenStale: { policy: 'flatten', afterSeconds: 50 } } as const
  const talk = new TalkingBot({ mode: 'live', exits })
  const { rig } = talk
  const account = botSettings('told', { mode: 'live' }).account.id
  rig.input({ kind: 'wallet', account, lamports: 1e9 as never, slot: 0 })
  rig.input({ kind: 'gate', account, open: true })
  rig.settle(1e-6)
  talk.ask((bot, token) => bot.buy(token, BUY))
  rig.fill(orders(rig.outputs)[0] as Order, 1e-3)
  const boughtAt = rig.now
  const seen: Output[] = []
  for (let ms = 0; ms <= 120_000; ms += 5_000) seen.push(...runTo(talk, boughtAt + ms), ...rig.trade(0.2e-6, { ms: 0 }))
  expect(orders(seen)).toMatchObject([{ time: boughtAt + 50_000, reason: 'no price for 50 s' }])
})

describe('rows that the feed repeats', () => {
  const old = (talk: TalkingBot, price: number): Output[] =>
    Array.from({ length: 30 }, () => talk.rig.trade(price, { ms: 1, lateMs: 120_000 })).flat()
  const exits = { stopLossPercent: 20, trailingPercent: 20, windowPrints: 21 } as const

  it.each([
    ['a low price from which the token has recovered', 0.5e-6],
    ['a high price from which the token has fallen', 2e-6],
  ])('repeated rows with %s sell nothing', (_what, price) => {
    const talk = holding({ exits })
    talk.rig.settle(1e-6)
    talk.rig.input({ kind: 'gap', from: talk.rig.now - 5_000, to: talk.rig.now, keys: ['trades'] })
    expect(asked(old(talk, price))).toEqual([])
    expect(asked(Array.from({ length: 21 }, () => talk.rig.trade(1e-6)).flat())).toEqual([])
    expect(asked(Array.from({ length: 11 }, () => talk.rig.trade(0.7e-6)).flat())).toEqual(['sell all'])
  })

  it('repeated rows sell nothing after a restart with a warm-up', () => {
    const talk = holding({ exits })
    const recorded = new RecordedMoney()
    for (const output of talk.rig.outputs) recorded.output(output)
    const again = new TalkingBot({ money: recorded.money(), now: talk.rig.now })
    again.rig.warm(1e-6)
    expect(asked(old(again, 0.5e-6))).toEqual([])
    expect(asked(Array.from({ length: 11 }, () => again.rig.trade(0.7e-6)).flat())).toEqual(['sell all'])
  })

  it('if the newest row had a wrong timestamp, later rows count as repeated for 30 s at most', () => {
    const talk = holding({ exits })
    for (let print = 0; print < 4; print++) talk.rig.trade(1e-6, { lateMs: -3_600_000 })
    const sold: number[] = []
    const { now } = talk.rig
    for (let print = 0; print < 60; print++)
      if (orders(talk.rig.trade(0.7e-6, { ms: 1_000 })).length > 0) sold.push(talk.rig.now - now)
    expect(sold).toEqual([41_000])
  })

  it('rows that arrive late, but in order, do not count as repeated', () => {
    const talk = holding({ exits })
    const lateMs = 60_000
    talk.rig.now += lateMs
    expect(asked(Array.from({ length: 11 }, () => talk.rig.trade(0.7e-6, { lateMs })).flat())).toEqual(['sell all'])
  })
})

describe('a position whose sales failed for hours', () => {
  /** Returns a bot whose next try of an exit is more than an hour away. */
  const stuck = (): TalkingBot => {
    const talk = holding({ exits: { stopLossPercent: 20 } })
    let [order] = orders(talk.rig.settle(0.7e-6)) as [Order]
    for (let tries = 1; tries < 30; tries++) {
      talk.rig.report(order, 'failed')
      order = orders(runTo(talk, talk.rig.now + 4 * 3_600_000)).at(-1) as Order
    }
    talk.rig.report(order, 'failed')
    expect(asked(runTo(talk, talk.rig.now + 3_600_000))).toEqual([])
    return talk
  }

  it('an exit that failed for hours is retried at once after a restart, because the reason of the failures may be gone', () => {
    const { rig } = stuck()
    const recorded = new RecordedMoney()
    for (const output of rig.outputs) recorded.output(output)
    const again = new TalkingBot({ money: recorded.money(), now: rig.now })
    expect(asked(runTo(again, again.rig.now + 3_000))).toEqual(['sell all'])
  })

  it('a sale by the operator retries at once an exit that failed for hours; if the sale fails, the exit waits as long as before', () => {
    const talk = stuck()
    const [order] = orders(talk.rig.input({ kind: 'command', command: { name: 'sell', mint: MINT } })) as [Order]
    expect(order).toMatchObject({ side: 'sell', size: { kind: 'all' } })
    talk.rig.report(order, 'failed')
    expect(asked(runTo(talk, talk.rig.now + 3_000))).toEqual([])
  })
})

describe('results', () => {
  it('the results of a bot stay finite at any printed price', () => {
    const talk = new TalkingBot({ paperSol: 100, limits: { maxDrawdownLamports: 1e9 as never } })
    const mints = Array.from({ length: 12 }, (_, n) => MINT.replace('6Fz', `6${'ABCDEGHJKLMN'[n]}z`))
    for (const mint of mints) {
      talk.rig.settle(1e-9, mint)
      talk.ask((bot) => bot.buy(mint, BUY))
      talk.rig.fill(orders(talk.rig.outputs).at(-1) as Order, 1e-9)
    }
    for (const mint of mints) talk.rig.settle(1e8, mint)
    talk.rig.settle(1e-6)
    expect(talk.ask((bot, token) => bot.buy(token, BUY))).toEqual({ ok: true, id: 'o13' })
  })

  it('if a fork restores a position and it is sold again, the results count it once, and the losing streak does not change', () => {
    const limits = { maxLosingStreak: 2, streakPauseMs: 3_600_000 }
    const talk = holding({ limits })
    const sell = (): Order => {
      talk.ask((bot, token) => bot.sell(token, { all: true, reason: 'out' }))
      return orders(talk.rig.outputs).at(-1) as Order
    }
    const sale = sell()
    const fill = fillOf(sale, 0.5e-6, talk.rig.now, { tokens: HELD, final: false })
    talk.rig.report(sale, 'filled', { fill })
    talk.rig.report(sale, 'working', { reversed: fill.signature, code: 'REVERSED' })
    const again = fillOf(sale, 0.5e-6, talk.rig.now, { tokens: HELD, signature: 'again' })
    talk.rig.report(sale, 'filled', { fill: again, unproved: 0 })
    talk.ask((bot, token) => bot.buy(token, BUY))
    talk.rig.fill(orders(talk.rig.outputs).at(-1) as Order, 1e-6)
    const second = sell()
    const lost = fillOf(second, 0.5e-6, talk.rig.now, { tokens: HELD })
    talk.rig.report(second, 'filled', { fill: lost, unproved: 0 })
    talk.ask((bot, token) => bot.buy(token, BUY))
    expect(refusals(talk.rig.outputs)).toEqual(['LOSING_STREAK'])
  })
})
