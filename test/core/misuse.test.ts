import { describe, expect, it } from 'vitest'
import type { Output } from '../../src/core/messages.ts'
import type { Order } from '../../src/core/order.ts'
import type { Bot, BuyOptions, SellOptions } from '../../src/core/strategy.ts'
import { type EngineRig, fillOf, MINT, MINT_2, orders, refusals } from '../support/engine-rig.ts'
import { TalkingBot } from '../support/talking-bot.ts'

const reason = 'told to'

/** With a price, and where asked for with tokens that 0.1 SOL bought. */
function ready(options: ConstructorParameters<typeof TalkingBot>[0] = {}, holds = false): TalkingBot {
  const talk = new TalkingBot(options)
  talk.rig.settle(1e-6)
  if (holds) {
    talk.ask((bot, token) => bot.buy(token, { sol: 0.1, reason }))
    talk.rig.fill(orders(talk.rig.outputs)[0] as Order, 1e-6)
  }
  return talk
}

const kindsOf = (outputs: readonly Output[]): string[] => outputs.map(({ kind }) => kind)

describe('a request that is none is refused, and the bot goes on', () => {
  const buys: [name: string, code: string, options: object][] = [
    ['sol is Infinity', 'AMOUNT_RANGE', { sol: Number.POSITIVE_INFINITY }],
    ['sol is negative', 'AMOUNT_RANGE', { sol: -1 }],
    ['sol is a text', 'AMOUNT_RANGE', { sol: '0.1' }],
    ['sol is beyond every integer', 'AMOUNT_RANGE', { sol: 1e300 }],
    ['slippage is NaN', 'SLIPPAGE_RANGE', { slippagePercent: Number.NaN }],
    ['slippage is Infinity', 'SLIPPAGE_RANGE', { slippagePercent: Number.POSITIVE_INFINITY }],
    ['slippage is a text', 'SLIPPAGE_RANGE', { slippagePercent: '5' }],
    ['priority fee is NaN', 'FEE_RANGE', { priorityFeeSol: Number.NaN }],
    ['priority fee is beyond every integer', 'FEE_RANGE', { priorityFeeSol: 1e300 }],
    ['time to live is NaN', 'REQUEST_INVALID', { ttlSeconds: Number.NaN }],
    ['time to live is Infinity', 'REQUEST_INVALID', { ttlSeconds: Number.POSITIVE_INFINITY }],
    ['time to live is 0', 'REQUEST_INVALID', { ttlSeconds: 0 }],
    ['no reason', 'REQUEST_INVALID', { reason: undefined }],
    ['the reason is a bigint', 'REQUEST_INVALID', { reason: 1n }],
    ['a stop-loss of NaN', 'REQUEST_INVALID', { exits: { stopLossPercent: Number.NaN } }],
    ['a stop-loss of 100', 'REQUEST_INVALID', { exits: { stopLossPercent: 100 } }],
    ['an exit that does not exist', 'REQUEST_INVALID', { exits: { stopLoss: 5 } }],
    ['exits are no object', 'REQUEST_INVALID', { exits: 5 }],
  ]
  it.each(buys)('buy: %s is %s', (_name, code, options) => {
    const talk = ready()
    const placed = talk.ask((bot, token) => bot.buy(token, { sol: 0.1, reason, ...options } as BuyOptions))
    expect(placed).toMatchObject({ ok: false, code })
    expect(orders(talk.rig.outputs)).toEqual([])
  })

  const sells: [name: string, options: object][] = [
    ['percent is NaN', { percent: Number.NaN }],
    ['percent is 0', { percent: 0 }],
    ['percent is negative', { percent: -50 }],
    ['percent rounds to nothing', { percent: 0.001 }],
    ['percent is a text', { percent: '50' }],
    ['tokens is NaN', { tokens: Number.NaN }],
    ['tokens is Infinity', { tokens: Number.POSITIVE_INFINITY }],
    ['tokens is negative', { tokens: -5 }],
    ['tokens is less than the smallest unit', { tokens: 1e-9 }],
    ['tokens is a bigint', { tokens: 5n }],
    ['all is false', { all: false }],
    ['two sizes', { all: true, percent: 50 }],
    ['no size', {}],
    ['no reason', { all: true, reason: undefined }],
  ]
  it.each(sells)('sell: %s', (_name, options) => {
    const talk = ready({}, true)
    const placed = talk.ask((bot, token) => bot.sell(token, { reason, ...options } as unknown as SellOptions))
    expect(placed).toMatchObject({ ok: false, code: 'REQUEST_INVALID' })
    expect(orders(talk.rig.outputs)).toHaveLength(1)
  })

  it.each([
    ['percent above 100', { percent: 250 }],
    ['all that it is shown to hold', 'shown'],
    ['more than it holds', { tokens: 1e300 }],
  ])('sell: %s is everything', (_name, options) => {
    const talk = ready({}, true)
    talk.ask((bot, token) => {
      const size = options === 'shown' ? { tokens: token.position?.tokens as number } : (options as { percent: number })
      return bot.sell(token, { reason, ...size })
    })
    expect(orders(talk.rig.outputs)[1]?.size).toEqual({ kind: 'all' })
  })

  it.each([
    ['not a key', 'not a key'],
    ['too long', 'x'.repeat(100_000)],
    ['a number', 5 as never],
    ['an object without a mint', {} as never],
  ])('a mint that is %s', (_name, mint) => {
    const talk = ready()
    expect(talk.ask((bot) => bot.buy(mint, { sol: 0.1, reason }))).toMatchObject({ code: 'MINT_INVALID' })
    expect(talk.ask((bot) => bot.watch(mint))).toBe(false)
    expect(talk.ask((bot) => bot.position(mint))).toBeUndefined()
    for (const output of talk.rig.outputs) expect(JSON.stringify(output).length).toBeLessThan(2_000)
  })

  it('setExits with nonsense leaves the exits as they are', () => {
    const talk = ready({ exits: { stopLossPercent: 20 } }, true)
    expect(talk.ask((bot, token) => bot.setExits(token, { stopLossPercent: Number.NaN }))).toBe(false)
    expect(refusals(talk.rig.outputs)).toContain('REQUEST_INVALID')
    expect(talk.ask((bot) => bot.position(MINT)?.exits)).toEqual({ stopLossPercent: 20 })
  })
})

describe('what can only be a mistake ends the entries of that bot alone', () => {
  const cyclic: { self?: unknown } = {}
  cyclic.self = cyclic
  const states: [name: string, state: unknown, why: RegExp][] = [
    ['undefined', { a: undefined }, /bot\.state\.a is undefined/],
    ['a Map', new Map(), /an object of a class/],
    ['a Date', { at: new Date(0) }, /bot\.state\.at is an object of a class/],
    ['a bigint', [1, 2n], /bot\.state\[1\] is bigint/],
    ['NaN', { a: [Number.NaN] }, /bot\.state\.a\[0\] is NaN/],
    ['a function', { a: () => 1 }, /function/],
    ['a cycle', cyclic, /cyclic or too large/],
  ]
  it.each(states)('state that holds %s', (_name, state, why) => {
    const talk = ready()
    expect(talk.dare((bot) => Object.assign(bot, { state }))).toMatch(why)
  })

  it.each([
    ['a timer of NaN seconds', (bot: Bot<unknown>) => bot.every('x', Number.NaN)],
    ['a timer of no seconds', (bot: Bot<unknown>) => bot.after('x', 0)],
    ['a timer that never comes', (bot: Bot<unknown>) => bot.after('x', Number.POSITIVE_INFINITY)],
    ['a timer without a name', (bot: Bot<unknown>) => bot.after(undefined as never, 5)],
    ['a note that is no text', (bot: Bot<unknown>) => bot.note(MINT, 5n as never)],
    ['no options', (bot: Bot<unknown>) => bot.buy(MINT, undefined as never)],
  ])('%s', (_name, act) => {
    const talk = ready()
    expect(talk.dare(act)).not.toBe('')
    expect(talk.rig.outputs.filter(({ kind }) => kind === 'timer')).toEqual([])
  })

  it.each([
    ['null', null],
    ['an object without a prototype', Object.create(null)],
    [
      'an error whose message throws',
      Object.defineProperty(new Error(), 'message', {
        get: () => {
          throw new Error()
        },
      }),
    ],
  ])('throwing %s', (_name, thrown) => {
    const talk = ready()
    expect(
      talk.dare(() => {
        throw thrown
      }),
    ).not.toBe('')
    expect(kindsOf(talk.rig.trade(1e-6))).toEqual([])
  })

  it('a state of tokens that cannot be made', () => {
    const talk = new TalkingBot({}, undefined, {
      token: () => {
        throw new Error('no state')
      },
    })
    expect(talk.rig.trade(1e-6)).toContainEqual(
      expect.objectContaining({ code: 'STRATEGY_THREW', reason: 'Error: no state' }),
    )
  })

  it('a start that gives no handlers, or gives them later', () => {
    for (const handlers of [undefined, Promise.resolve({})]) {
      const talk = new TalkingBot({}, undefined, { start: () => handlers as never })
      expect(talk.rig.outputs).toContainEqual(expect.objectContaining({ code: 'STRATEGY_THREW' }))
    }
  })

  it('a request from outside of a handler, which could not be repeated', () => {
    const talk = ready()
    const bot = talk.ask((own) => own)
    expect(() => bot.buy(MINT, { sol: 0.1, reason })).toThrow('outside of a handler')
    expect(() => Object.assign(bot, { state: 5 })).toThrow('outside of a handler')
    expect(() => bot.random()).toThrow('outside of a handler')
    expect(talk.rig.engine.outputs).toEqual([])
  })
})

describe('bot.state', () => {
  it('is a copy: changing what was assigned, or what is read, changes nothing', () => {
    const talk = ready()
    const mine = { list: [1] }
    talk.ask((bot) => Object.assign(bot, { state: mine }))
    mine.list.push(2)
    expect(talk.ask((bot) => bot.state)).toEqual({ list: [1] })
    expect(talk.dare((bot) => void (bot.state as { list: number[] }).list.push(3))).toMatch(/TypeError/)
  })

  it('comes back from the journal as it was', () => {
    const state = { $bigint: '5', $$bigint: '6', text: 'x', zero: 0 }
    const talk = ready()
    talk.ask((bot) => Object.assign(bot, { state: { ...state, zero: -0 } }))
    const saved = talk.rig.outputs.findLast((output) => output.kind === 'bot')
    expect(saved?.money.state).toEqual(state)
  })
})

describe('before it trades, and after', () => {
  it('nothing is ordered in start, nor bought once the process ends', () => {
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

  /** Shows `rows` prints of the past to it. */
  function warm(rig: EngineRig, rows: number, time = rig.now): void {
    for (let row = 0; row < rows; row++) {
      const numbers = { price: 1e-6, amount: 1, size: 1e6, marketCap: 1, extra: 0, extra2: 0 }
      rig.block.append(time, time, 0, rig.mints.intern(MINT), numbers, '', '')
      rig.engine.warm(rig.block, rig.block.length - 1)
    }
  }

  it('a strategy that throws while it is shown the past is reported when that is over', () => {
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

  it('nothing that is asked for in the past counts', () => {
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

  it('the losses of today survive a warm-up that begins yesterday', () => {
    const talk = ready({}, true)
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
  it('is counted: a bot can neither take a key from another nor from the engine', () => {
    const talk = ready({ keys: ['newTokens', 'trades', 'trades', MINT_2] })
    expect(talk.trades).toBe(5) // a key named twice is one key
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

  it('survives a sale that is reported when the position is long gone', () => {
    const talk = ready({ keys: ['trades'] }, true)
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

  it('that passed while nobody looked fires once', () => {
    const talk = ready()
    talk.ask((bot) => bot.every('tick', 10))
    const { id, at } = set(talk)
    talk.rig.now = at + 100_000
    talk.rig.input({ kind: 'timer', id })
    expect(set(talk).at).toBe(talk.rig.now + 10_000)
  })

  it('that is late by less than its period keeps its beat', () => {
    const talk = ready()
    talk.ask((bot) => bot.every('tick', 10))
    const { id, at } = set(talk)
    talk.rig.now = at + 3_000
    talk.rig.input({ kind: 'timer', id })
    expect(set(talk).at).toBe(at + 10_000)
  })

  it('may be cleared or replaced while it fires, and is gone after that', () => {
    const talk = ready()
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

  it('set in start again after a restart goes on, unless its period is another one', () => {
    const money = (everyMs: number) => {
      const timer = { id: 4, bot: 'told', owner: 'strategy', name: 'tick', at: 1_780_000_005_000, everyMs } as const
      return {
        nextOrder: 1,
        nextTimer: 5,
        accounts: [],
        bots: [],
        orders: [],
        positions: [],
        timers: [timer],
        fills: [],
      }
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
