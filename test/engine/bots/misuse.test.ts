import { describe, expect, it } from 'vitest'
import type { Output } from '../../../src/engine/messages.ts'
import type { Bot, BuyOptions, SellOptions } from '../../../src/engine/strategy.ts'
import { MINT, orders, refusals } from '../../support/engine-rig.ts'
import { readyBot, TalkingBot } from '../../support/talking-bot.ts'

const reason = 'told to'

const kindsOf = (outputs: readonly Output[]): string[] => outputs.map(({ kind }) => kind)

describe('an invalid request is refused, and the bot continues', () => {
  const buys: [name: string, code: string, options: object][] = [
    ['sol is Infinity', 'AMOUNT_RANGE', { sol: Number.POSITIVE_INFINITY }],
    ['sol is negative', 'AMOUNT_RANGE', { sol: -1 }],
    ['sol is a text', 'AMOUNT_RANGE', { sol: '0.1' }],
    ['sol is larger than every safe integer', 'AMOUNT_RANGE', { sol: 1e300 }],
    ['slippage is NaN', 'SLIPPAGE_RANGE', { slippagePercent: Number.NaN }],
    ['slippage is Infinity', 'SLIPPAGE_RANGE', { slippagePercent: Number.POSITIVE_INFINITY }],
    ['slippage is a text', 'SLIPPAGE_RANGE', { slippagePercent: '5' }],
    ['a slippage of the ladder is above the range', 'SLIPPAGE_RANGE', { slippageLadder: [5, 51] }],
    ['the slippages of the ladder fall', 'REQUEST_INVALID', { slippageLadder: [10, 5] }],
    ['the slippage ladder is empty', 'REQUEST_INVALID', { slippageLadder: [] }],
    ['the slippage ladder has four steps', 'REQUEST_INVALID', { slippageLadder: [1, 2, 3, 4] }],
    ['the slippage ladder contains texts', 'REQUEST_INVALID', { slippageLadder: ['5', '10'] }],
    ['the slippage ladder contains NaN', 'REQUEST_INVALID', { slippageLadder: [5, Number.NaN] }],
    ['the slippage ladder is a number', 'REQUEST_INVALID', { slippageLadder: 5 }],
    [
      'slippageLadder and slippagePercent are both set',
      'REQUEST_INVALID',
      { slippageLadder: [5, 10], slippagePercent: 5 },
    ],
    ['priority fee is NaN', 'FEE_RANGE', { priorityFeeSol: Number.NaN }],
    ['priority fee is larger than every safe integer', 'FEE_RANGE', { priorityFeeSol: 1e300 }],
    ['time to live is NaN', 'REQUEST_INVALID', { ttlSeconds: Number.NaN }],
    ['time to live is Infinity', 'REQUEST_INVALID', { ttlSeconds: Number.POSITIVE_INFINITY }],
    ['time to live is 0', 'REQUEST_INVALID', { ttlSeconds: 0 }],
    ['the reason is missing', 'REQUEST_INVALID', { reason: undefined }],
    ['the reason is a bigint', 'REQUEST_INVALID', { reason: 1n }],
    ['the stop-loss is NaN', 'REQUEST_INVALID', { exits: { stopLossPercent: Number.NaN } }],
    ['the stop-loss is 100 %', 'REQUEST_INVALID', { exits: { stopLossPercent: 100 } }],
    ['idleSeconds is below its minimum', 'REQUEST_INVALID', { exits: { idleSeconds: 0.0001 } }],
    ['the exit does not exist', 'REQUEST_INVALID', { exits: { stopLoss: 5 } }],
    ['the exits are not an object', 'REQUEST_INVALID', { exits: 5 }],
  ]
  it.each(buys)('a buy is refused because %s, with %s', (_name, code, options) => {
    const talk = readyBot()
    const placed = talk.ask((bot, token) => bot.buy(token, { sol: 0.1, reason, ...options } as BuyOptions))
    expect(placed).toMatchObject({ ok: false, code })
    expect(orders(talk.rig.outputs)).toEqual([])
  })

  const sells: [name: string, options: object][] = [
    ['percent is NaN', { percent: Number.NaN }],
    ['percent is 0', { percent: 0 }],
    ['percent is negative', { percent: -50 }],
    ['percent rounds to 0', { percent: 0.001 }],
    ['percent is a text', { percent: '50' }],
    ['tokens is NaN', { tokens: Number.NaN }],
    ['tokens is Infinity', { tokens: Number.POSITIVE_INFINITY }],
    ['tokens is negative', { tokens: -5 }],
    ['tokens is less than the smallest unit', { tokens: 1e-9 }],
    ['tokens is a bigint', { tokens: 5n }],
    ['all is false', { all: false }],
    ['two sizes are set', { all: true, percent: 50 }],
    ['no size is set', {}],
    ['the reason is missing', { all: true, reason: undefined }],
  ]
  it.each(sells)('a sale is refused because %s', (_name, options) => {
    const talk = readyBot({}, true)
    const placed = talk.ask((bot, token) => bot.sell(token, { reason, ...options } as unknown as SellOptions))
    expect(placed).toMatchObject({ ok: false, code: 'REQUEST_INVALID' })
    expect(orders(talk.rig.outputs)).toHaveLength(1)
  })

  it.each([
    ['a sale of more than 100 percent', { percent: 250 }],
    ['a sale of the number of tokens that token.position shows', 'shown'],
    ['a sale of more tokens than the bot holds', { tokens: 1e300 }],
  ])('%s sells everything', (_name, options) => {
    const talk = readyBot({}, true)
    talk.ask((bot, token) => {
      const size = options === 'shown' ? { tokens: token.position?.tokens as number } : (options as { percent: number })
      return bot.sell(token, { reason, ...size })
    })
    expect(orders(talk.rig.outputs)[1]?.size).toEqual({ kind: 'all' })
  })

  it.each([
    ['a mint that is not a public key', 'not a key'],
    ['a mint of 100,000 characters', 'x'.repeat(100_000)],
    ['a number as the mint', 5 as never],
    ['an object without a mint as the token', {} as never],
  ])('a request with %s is refused', (_name, mint) => {
    const talk = readyBot()
    expect(talk.ask((bot) => bot.buy(mint, { sol: 0.1, reason }))).toMatchObject({ code: 'MINT_INVALID' })
    expect(talk.ask((bot) => bot.watch(mint))).toBe(false)
    expect(talk.ask((bot) => bot.position(mint))).toBeUndefined()
    for (const output of talk.rig.outputs) expect(JSON.stringify(output).length).toBeLessThan(2_000)
  })

  it('setExits with invalid rules leaves the exits unchanged', () => {
    const talk = readyBot({ exits: { stopLossPercent: 20 } }, true)
    expect(talk.ask((bot, token) => bot.setExits(token, { stopLossPercent: Number.NaN }))).toMatchObject({
      ok: false,
      code: 'REQUEST_INVALID',
    })
    expect(refusals(talk.rig.outputs)).toContain('REQUEST_INVALID')
    expect(talk.ask((bot) => bot.position(MINT)?.exits)).toEqual({ stopLossPercent: 20, windowPrints: 5 })
  })
})

describe('an error in a strategy ends only the entries of its own bot', () => {
  const cyclic: { self?: unknown } = {}
  cyclic.self = cyclic
  const states: [name: string, state: unknown, why: RegExp][] = [
    ['undefined', { a: undefined }, /bot\.state\.a is undefined/],
    ['a Map', new Map(), /an instance of a class/],
    ['a Date', { at: new Date(0) }, /bot\.state\.at is an instance of a class/],
    ['a bigint', [1, 2n], /bot\.state\[1\] is bigint/],
    ['NaN', { a: [Number.NaN] }, /bot\.state\.a\[0\] is NaN/],
    ['a function', { a: () => 1 }, /function/],
    ['a cycle', cyclic, /cyclic or too large/],
  ]
  it.each(states)('assigning %s to the state of a bot throws an error', (_name, state, why) => {
    const talk = readyBot()
    expect(talk.dare((bot) => Object.assign(bot, { state }))).toMatch(why)
  })

  it.each([
    ['a request for a timer of NaN seconds', (bot: Bot<unknown>) => bot.every('x', Number.NaN)],
    ['a request for a timer of 0 seconds', (bot: Bot<unknown>) => bot.after('x', 0)],
    ['a request for a timer of infinite seconds', (bot: Bot<unknown>) => bot.after('x', Number.POSITIVE_INFINITY)],
    ['a request for a timer without a name', (bot: Bot<unknown>) => bot.after(undefined as never, 5)],
    ['a note that is not a string', (bot: Bot<unknown>) => bot.note(MINT, 5n as never)],
    ['a buy without options', (bot: Bot<unknown>) => bot.buy(MINT, undefined as never)],
  ])('%s', (_name, act) => {
    const talk = readyBot()
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
  ])('the strategy of a bot ends if it throws %s', (_name, thrown) => {
    const talk = readyBot()
    expect(
      talk.dare(() => {
        throw thrown
      }),
    ).not.toBe('')
    expect(kindsOf(talk.rig.trade(1e-6))).toEqual([])
  })

  it('a strategy ends if it throws while it creates the state of a token', () => {
    const talk = new TalkingBot({}, undefined, {
      token: () => {
        throw new Error('no state')
      },
    })
    expect(talk.rig.trade(1e-6)).toContainEqual(
      expect.objectContaining({ code: 'STRATEGY_THREW', reason: 'Error: no state' }),
    )
  })

  it('a strategy ends if its start returns no handlers, or a promise', () => {
    for (const handlers of [undefined, Promise.resolve({})]) {
      const talk = new TalkingBot({}, undefined, { start: () => handlers as never })
      expect(talk.rig.outputs).toContainEqual(expect.objectContaining({ code: 'STRATEGY_THREW' }))
    }
  })

  it('a request outside of a handler throws an error, and has no effect', () => {
    const talk = readyBot()
    const bot = talk.ask((own) => own)
    expect(() => bot.buy(MINT, { sol: 0.1, reason })).toThrow('outside of a handler')
    expect(() => Object.assign(bot, { state: 5 })).toThrow('outside of a handler')
    expect(() => bot.random()).toThrow('outside of a handler')
    expect(talk.rig.engine.outputs).toEqual([])
  })
})
