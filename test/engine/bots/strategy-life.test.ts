import { describe, expect, it } from 'vitest'
import type { Output } from '../../../src/engine/messages.ts'
import type { Order } from '../../../src/engine/order.ts'
import { NO_MONEY } from '../../../src/engine/recovered-money.ts'
import { type EngineRig, fillOf, MINT, MINT_2, orders } from '../../support/engine-rig.ts'
import { readyBot, TalkingBot } from '../../support/talking-bot.ts'

const reason = 'told to'

const kindsOf = (outputs: readonly Output[]): string[] => outputs.map(({ kind }) => kind)

describe('bot.state', () => {
  it('the state of a strategy is a copy: changes of the assigned or the returned object have no effect', () => {
    const talk = readyBot()
    const mine = { list: [1] }
    talk.ask((bot) => Object.assign(bot, { state: mine }))
    mine.list.push(2)
    expect(talk.ask((bot) => bot.state)).toEqual({ list: [1] })
    expect(talk.dare((bot) => void (bot.state as { list: number[] }).list.push(3))).toMatch(/TypeError/)
  })

  it('the state of a strategy is restored from the journal', () => {
    const state = { $bigint: '5', $$bigint: '6', text: 'x', zero: 0 }
    const talk = readyBot()
    talk.ask((bot) => Object.assign(bot, { state: { ...state, zero: -0 } }))
    const saved = talk.rig.outputs.findLast((output) => output.kind === 'bot')
    expect(saved?.money.state).toEqual(state)
  })
})

describe('the life of a strategy', () => {
  it('orders in `start` are refused, and so are buys while the process is stopping', () => {
    const placed: unknown[] = []
    const talk = new TalkingBot({}, (bot) => {
      placed.push(bot.buy(MINT, { sol: 0.1, reason }), bot.sell(MINT, { all: true, reason }))
      return { onStop: () => void placed.push(bot.buy(MINT, { sol: 0.1, reason })) }
    })
    talk.rig.settle(1e-6)
    talk.rig.input({ kind: 'command', command: { name: 'stop' } })
    expect(placed).toMatchObject([{ code: 'WARMING' }, { code: 'WARMING' }, { code: 'HALTED' }])
    expect(talk.ask((bot, token) => bot.buy(token, { sol: 0.1, reason }))).toMatchObject({ code: 'HALTED' })
    expect(orders(talk.rig.outputs)).toEqual([])
  })

  /** Plays `rows` prints to the strategy, as its warm-up. */
  function warm(rig: EngineRig, rows: number, time = rig.now): void {
    for (let row = 0; row < rows; row++) {
      const numbers = { price: 1e-6, amount: 1, size: 1e6, marketCap: 1, extra: 0, extra2: 0 }
      rig.block.append(time, time, 0, rig.mints.intern(MINT), numbers, '', '')
      rig.engine.warm(rig.block, rig.block.length - 1)
    }
  }

  it('an error that a strategy throws during its warm-up is reported after the warm-up', () => {
    const talk = new TalkingBot()
    talk.next = () => {
      throw new Error('in the past')
    }
    warm(talk.rig, 1)
    expect(talk.rig.engine.outputs).toEqual([])
    expect(talk.rig.trade(1e-6)).toContainEqual(
      expect.objectContaining({ kind: 'alarm', reason: 'Error: in the past' }),
    )
  })

  it('requests during the warm-up are ignored', () => {
    const talk = new TalkingBot()
    talk.next = (bot, token) => {
      bot.buy(token, { sol: 0.1, reason })
      bot.note(MINT, 'nothing')
      bot.every('x', 5)
      bot.setExits(token, {})
      bot.cancel('o1')
      Object.assign(bot, { state: { seen: true } })
    }
    warm(talk.rig, 5)
    expect(talk.rig.engine.outputs).toEqual([])
    expect(talk.ask((bot) => [bot.state, bot.orders()])).toEqual([null, []])
  })

  it('the losses of today still count after a warm-up whose rows begin yesterday', () => {
    const talk = readyBot({}, true)
    const [, sale] = [0, talk.ask((bot, token) => bot.sell(token, { all: true, reason }))]
    const order = orders(talk.rig.outputs)[1] as Order
    expect(sale.ok).toBe(true)
    talk.rig.report(order, 'filled', { fill: fillOf(order, 0.5e-6, talk.rig.now, { tokens: 100_000_000_000n }) })
    const loss = talk.ask((bot) => bot.budget().profitTodaySol)
    talk.next = (bot) => void bot.budget()
    warm(talk.rig, 1, talk.rig.now - 86_400_000)
    expect(talk.ask((bot) => bot.budget().profitTodaySol)).toBe(loss)
    expect(loss).toBeLessThan(-0.04)
  })
})

describe('watching', () => {
  it('the subscribers of a key are counted, so that a key stays subscribed while another bot or the engine needs it', () => {
    const talk = readyBot({ keys: ['newTokens', 'trades', 'trades', MINT_2] })
    expect(talk.trades).toBe(5) // a key that is named twice counts once
    talk.ask((bot) => bot.watch(MINT))
    talk.ask((bot, token) => bot.buy(token, { sol: 0.1, reason }))
    talk.ask((bot) => bot.unwatch(MINT))
    talk.ask((bot) => bot.unwatch(MINT))
    talk.ask((bot) => bot.unwatch('trades'))
    const keys = () => talk.rig.outputs.findLast((output) => output.kind === 'keys')?.want
    expect(keys()).toEqual(['newTokens', 'trades', MINT_2, MINT])
    talk.rig.report(orders(talk.rig.outputs)[0] as Order, 'refused')
    expect(keys()).toEqual(['newTokens', 'trades', MINT_2])
  })

  it('the subscription stays if a sale is reported after the position has closed', () => {
    const talk = readyBot({ keys: ['trades'] }, true)
    talk.ask((bot) => bot.watch(MINT))
    talk.ask((bot, token) => bot.sell(token, { all: true, reason }))
    const sale = orders(talk.rig.outputs)[1] as Order
    for (const signature of ['one', 'two', 'three'])
      talk.rig.report(sale, 'filled', {
        fill: fillOf(sale, 1e-6, talk.rig.now, { tokens: 100_000_000_000n, signature }),
      })
    expect(talk.rig.outputs.findLast((output) => output.kind === 'keys')?.want).toContain(MINT)
  })
})

describe('timers', () => {
  const timersOf = (outputs: readonly Output[]) => outputs.flatMap((one) => (one.kind === 'timer' ? [one.timer] : []))
  const set = (talk: TalkingBot) => timersOf(talk.rig.outputs).at(-1) as { id: number; at: number }

  /**
   * Returns the time at which a timer that repeats every 10 s is next due after a restart. `fired`: when it last fired.
   */
  const dueAfter = (fired: number | undefined): number | undefined => {
    const start = 1_780_000_000_000
    const timer = { id: 4, bot: 'told', owner: 'strategy', name: 'tick', at: start - 100_000, everyMs: 10_000 } as const
    const money = { ...NO_MONEY, nextTimer: 5, timers: [{ ...timer, ...(fired !== undefined && { fired }) }] }
    return timersOf(new TalkingBot({ money }).rig.outputs)[0]?.at
  }

  it('repeating timers are recorded when they are set, and not at each firing', () => {
    const talk = readyBot()
    talk.ask((bot) => bot.every('tick', 10))
    const { id, at } = set(talk)
    const said = talk.rig.outputs.length
    for (let beat = 0; beat < 3; beat++) {
      talk.rig.now = at + beat * 10_000
      talk.rig.input({ kind: 'timer', id })
    }
    expect(talk.fired).toEqual(['tick', 'tick', 'tick'])
    expect(talk.rig.outputs.slice(said)).toEqual([])
  })

  it.each([
    ['a timer that became due while no process ran fires once, immediately', undefined, -100_000],
    ['a timer that is late by less than its period keeps its original schedule', -97_000, -90_000],
    ['a timer that is late by several periods skips them, and keeps its original schedule', -37_000, -30_000],
    ['a timer that fired on time is next due one period later', -100_000, -90_000],
  ])('%s', (_what, fired, due) => {
    const start = 1_780_000_000_000
    expect(dueAfter(fired === undefined ? undefined : start + fired)).toBe(start + due)
  })

  it('timers may be cleared or replaced while they fire', () => {
    const talk = readyBot()
    talk.ask((bot) => bot.every('tick', 10))
    talk.atTimer = (bot) => bot.clear('tick')
    const { id } = set(talk)
    talk.rig.input({ kind: 'timer', id })
    expect(kindsOf(talk.rig.outputs).slice(-1)).toEqual(['timerCleared'])
    talk.rig.input({ kind: 'timer', id })
    expect(talk.fired).toEqual(['tick'])
    talk.ask((bot) => bot.after('once', 10))
    talk.atTimer = (bot) => bot.after('once', 20)
    talk.rig.input({ kind: 'timer', id: set(talk).id })
    expect(set(talk).at).toBe(talk.rig.now + 20_000)
  })

  it('timers that `start` sets again after a restart continue, unless the interval changed', () => {
    const money = (everyMs: number) => {
      const timer = { id: 4, bot: 'told', owner: 'strategy', name: 'tick', at: 1_780_000_005_000, everyMs } as const
      return { ...NO_MONEY, nextTimer: 5, timers: [timer] }
    }
    const restarted = (everyMs: number) =>
      timersOf(
        new TalkingBot({ money: money(everyMs) }, (bot) => {
          bot.every('tick', 10)
          return {}
        }).rig.outputs,
      )
    expect(restarted(10_000)).toMatchObject([{ id: 4, at: 1_780_000_005_000 }])
    expect(restarted(7_000)).toMatchObject([{ id: 4 }, { id: 5, at: 1_780_000_010_000 }])
  })
})

describe('the state of a token', () => {
  const DAY = 86_400_000
  const stateAfter = (days: number, holds = false): unknown => {
    const talk = new TalkingBot({}, undefined, { token: () => ({ prints: 0 }) as never })
    talk.rig.settle(1e-6)
    if (holds) {
      talk.ask((bot, token) => bot.buy(token, { sol: 0.1, reason }))
      talk.rig.fill(orders(talk.rig.outputs)[0] as Order, 1e-6)
    }
    talk.ask((_bot, token) => Object.assign(token.state as object, { prints: 6 }))
    for (let day = 0; day < days; day++) {
      talk.rig.now += DAY
      talk.rig.trade(1e-6, { mint: MINT_2 })
    }
    return talk.ask((_bot, token) => token.state)
  }

  it.each([
    ['the state of a token without events is kept after a day', 1, false, 6],
    ['the state of a token without events is created again after two days', 2, false, 0],
    ['the state of a token without events is kept after two days while a position is open', 2, true, 6],
  ])('%s', (_name, days, holds, prints) => {
    expect(stateAfter(days, holds)).toEqual({ prints })
  })
})
