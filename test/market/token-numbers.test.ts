import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { encodeJson } from '../../src/base/json.ts'
import { solToLamports } from '../../src/base/units.ts'
import type { Order } from '../../src/engine/order.ts'
import { type Bot, defineStrategy, type Strategy, type Token } from '../../src/engine/strategy.ts'
import type { Trade } from '../../src/market/block.ts'
import { encodeBase58 } from '../../src/solana/base58.ts'
import { botSettings, EngineRig, orders } from '../support/engine-rig.ts'
import { TalkingBot } from '../support/talking-bot.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const reason = 'drawn'
const mintOf = (number: number): string =>
  encodeBase58(
    new Uint8Array(32)
      .fill(1)
      .fill(number & 0xff, 16)
      .fill(number >> 8, 24),
  )

/** A strategy that keeps every token object that it ever received, and prints the current objects of these tokens. */
const hoarder = defineStrategy<object, { prints: number }>({
  name: 'hoarder',
  about: 'keeps everything',
  params: z.object({}),
  keys: ['trades'],
  token: () => ({ prints: 0 }),
  start: (_params, bot) => {
    const kept: { readonly token: Token<{ prints: number }>; readonly trade: Trade }[] = []
    const say = (): void => {
      const any = kept[Math.floor(bot.random() * kept.length)]
      if (any === undefined) return
      const { token, trade } = any
      const seen = [trade.mint, trade.price, token.price, token.state.prints, token.position?.state]
      // `bot.token` also makes the engine keep the token.
      const now = bot.random() < 0.1 ? bot.token(token.mint) : undefined
      bot.note(token.mint, encodeJson([...seen, bot.quoteBuy(token, 1), now?.price, now?.state.prints]))
    }
    return {
      onTrade: (trade, token) => {
        token.state.prints++
        kept.push({ token, trade })
        act(bot, bot.random() < 0.2 ? (kept[Math.floor(bot.random() * kept.length)]?.token as Token<unknown>) : token)
        say()
      },
      onTimer: say,
      onOrder: say,
    }
  },
})

/** Acts on a random token that the strategy has received at any time. */
function act(bot: Bot<unknown>, token: Token<unknown>): void {
  switch (Math.floor(bot.random() * 12)) {
    case 0:
    case 1:
      bot.buy(token, { sol: 0.1, reason })
      break
    case 2:
      bot.sell(token, { all: true, reason })
      break
    case 3:
      bot.limitBuy(token, { sol: 0.1, atPrice: 1e-6, reason })
      break
    case 4:
      bot.watch(token.mint)
      break
    case 5:
      bot.unwatch(token.mint)
      break
    case 6:
      bot.after('later', 3600)
      break
    case 7:
      for (const { id } of bot.orders()) bot.cancel(id)
  }
}

type Step =
  | { readonly kind: 'print'; readonly token: number; readonly price: number; readonly ms: number }
  | { readonly kind: 'launch'; readonly token: number }
  | { readonly kind: 'answer'; readonly isFilled: boolean }
  | { readonly kind: 'gap'; readonly token: number }
  | { readonly kind: 'giveBack' }

const token = fc.nat(50)
const ms = fc.oneof({ weight: 8, arbitrary: fc.nat(60_000) }, { weight: 3, arbitrary: fc.nat(40 * HOUR_MS) })
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant('print' as const),
      token,
      price: fc.double({ min: 0.5, max: 2, noNaN: true }),
      ms,
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('launch' as const), token }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('answer' as const), isFilled: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('gap' as const), token }) },
  { weight: 4, arbitrary: fc.constant({ kind: 'giveBack' as const }) },
)

/** Returns all decisions, and how many token numbers were used. */
function decided(steps: readonly Step[], givesBack: boolean): { texts: string[]; numbers: number } {
  const exits = { stopLossPercent: 20, takeProfitPercent: 30, maxHoldSeconds: 200_000 }
  const filters = { minAgeMs: 1000, unknownCreators: 'allow' as const }
  const limits = { maxLamportsPerCreator: solToLamports(0.15) }
  const bots = ['a', 'b'].map((name) =>
    botSettings('hoarder', { name, exits, filters: name === 'a' ? filters : {}, limits }),
  )
  const rig = new EngineRig([hoarder as unknown as Strategy<never, never>], bots)
  const texts: string[] = []
  let answered = 0
  for (const one of steps) {
    if (one.kind === 'print') {
      const price = 1e-6 * one.price
      for (let print = 0; print < 3; print++)
        rig.trade(price, { mint: mintOf(one.token), ms: print === 0 ? one.ms : 1 })
    } else if (one.kind === 'launch') rig.newToken(mintOf(one.token), 10, mintOf(100 + (one.token % 3)))
    else if (one.kind === 'gap') rig.input({ kind: 'gap', from: rig.now, to: rig.now, keys: [mintOf(one.token)] })
    else if (one.kind === 'answer') {
      const all = orders(rig.outputs)
      for (const order of all.slice(answered)) {
        if (one.isFilled) rig.fill(order, order.price ?? 1e-6)
        else rig.report(order, 'refused', { code: 'LIMIT_WAIT' })
      }
      answered = all.length
    } else if (givesBack) rig.giveBack()
  }
  for (const output of rig.outputs) texts.push(encodeJson(output))
  return { texts, numbers: rig.mints.list.length }
}

describe('reused token numbers', () => {
  it('reusing token numbers changes no decision, even if a strategy keeps objects of freed tokens', () => {
    let saved = 0
    let trades = 0
    fc.assert(
      fc.property(fc.array(step, { minLength: 60, maxLength: 120 }), (steps) => {
        const once = decided(steps, false)
        const again = decided(steps, true)
        expect(again.texts).toEqual(once.texts)
        saved += once.numbers - again.numbers
        trades += once.texts.filter((text) => text.includes('"kind":"order"')).length
      }),
      { numRuns: 20, endOnFailure: true, seed: 1 },
    )
    expect(saved).toBeGreaterThan(50)
    expect(trades).toBeGreaterThan(100)
  })

  /** Lets this many days pass, with prints of another token. */
  function pass(rig: EngineRig, days: number): void {
    for (let day = 0; day < days; day++) rig.trade(1e-6, { mint: mintOf(99), ms: DAY_MS })
    rig.giveBack()
  }

  it.each<[string, boolean, (talk: TalkingBot, mint: string) => void]>([
    ['was printed', false, ({ rig }, mint) => void rig.trade(1e-6, { mint })],
    ['was announced', false, ({ rig }, mint) => void rig.newToken(mint)],
    ['was asked for', false, (talk, mint) => void talk.ask((bot) => bot.token(mint))],
    ['is watched', true, (talk, mint) => void talk.ask((bot) => bot.watch(mint))],
    [
      'is held',
      true,
      (talk, mint) => {
        talk.rig.settle(1e-6, mint)
        talk.ask((bot) => bot.buy(mint, { sol: 0.1, reason }))
        talk.rig.fill(orders(talk.rig.outputs).at(-1) as Order, 1e-6)
      },
    ],
    [
      'has a waiting limit order',
      true,
      (talk, mint) => void talk.ask((bot) => bot.limitBuy(mint, { sol: 0.1, atPrice: 1e-9, reason })),
    ],
  ])('a token that %s keeps its number for a day, and after that as well: %s', (_what, isForGood, meet) => {
    const talk = new TalkingBot({ filters: { minAgeMs: 1 }, keys: ['trades'] })
    const mint = mintOf(1)
    meet(talk, mint)
    const number = talk.rig.mints.find(mint)
    pass(talk.rig, 1)
    expect(talk.rig.mints.find(mint)).toBe(number)
    expect(number).toBeDefined()
    pass(talk.rig, 2)
    expect(talk.rig.mints.find(mint)).toBe(isForGood ? number : undefined)
  })

  it('a price of the day before yesterday is deleted if nothing needs it', () => {
    const talk = new TalkingBot()
    const [first, second] = [mintOf(1), mintOf(2)]
    talk.rig.settle(1e-6, first)
    talk.rig.settle(1e-6, second)
    talk.ask((bot) => bot.watch(second))
    pass(talk.rig, 1)
    expect(talk.ask((bot) => bot.quoteBuy(first, 1))).toBeDefined()
    pass(talk.rig, 1)
    expect(talk.ask((bot) => bot.quoteBuy(first, 1))).toBeUndefined()
    expect(talk.ask((bot) => bot.quoteBuy(second, 1))).toBeDefined()
  })

  it('in a market of launches, the token numbers do not grow from the third day on', () => {
    const talk = new TalkingBot()
    const numbers: number[] = []
    for (let day = 0; day < 6; day++) {
      for (let launch = 0; launch < 200; launch++)
        talk.rig.trade(1e-6, { mint: mintOf((day * 200 + launch) % 65_000), ms: DAY_MS / 200 })
      talk.rig.giveBack()
      numbers.push(talk.rig.mints.list.length)
    }
    expect(numbers.slice(2)).toEqual([numbers[2], numbers[2], numbers[2], numbers[2]])
    expect(numbers[2]).toBeLessThanOrEqual(601)
  })
})
