import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ExitPrice } from '../../../src/engine/exits/exit-price.ts'
import { EXIT_WINDOWS } from '../../../src/engine/exits/exit-settings.ts'
import type { Order } from '../../../src/engine/order.ts'
import { orders } from '../../support/engine-rig.ts'
import { TalkingBot } from '../../support/talking-bot.ts'

/** Reference: the median from a list of all prints. */
function reference(prints: readonly { price: number; time: number }[], window: number, now: number): number {
  const last = prints.slice(-window).reverse()
  const fresh = last.filter(({ time }, place) => place < 5 || time >= now - 60_000)
  const sorted = fresh.map(({ price }) => price).sort((one, other) => one - other)
  return sorted[Math.ceil(sorted.length / 2) - 1] as number
}

it('the price of the exits is the median of the last prints that are not too old, for any prints and queries', () => {
  const window = fc.constantFrom(...EXIT_WINDOWS.filter((one) => one > 5))
  const print = fc.record({
    price: fc.integer({ min: 1, max: 50 }),
    ms: fc.constantFrom(0, 10, 3_000, 20_000, 90_000),
    asked: fc.oneof({ weight: 4, arbitrary: fc.constant('as before' as const) }, fc.constant('not' as const), window),
  })
  fc.assert(
    fc.property(window, fc.array(print, { minLength: 1, maxLength: 60 }), (first, prints) => {
      const price = new ExitPrice()
      const seen: { price: number; time: number }[] = []
      let now = 0
      let last: number = first
      for (const { price: one, ms, asked } of prints) {
        now += ms
        if (seen.length === 0) for (let pad = 0; pad < 21; pad++) seen.push({ price: 7, time: now })
        price.fold(one, 7, now)
        seen.push({ price: one, time: now })
        if (asked === 'not') continue
        if (asked !== 'as before') last = asked
        expect(price.of(last, 7, now)).toBe(reference(seen, last, now))
        expect(price.of(last, 7, now + 40_000)).toBe(reference(seen, last, now + 40_000))
        now += 40_000
      }
    }),
  )
})

describe('an exit', () => {
  function holding(windowPrints: 5 | 21): TalkingBot {
    const talk = new TalkingBot({ exits: { stopLossPercent: 20, windowPrints } })
    talk.rig.settle(1e-6)
    talk.ask((bot, token) => bot.buy(token, { sol: 0.1, reason: 'told to' }))
    talk.rig.fill(orders(talk.rig.outputs)[0] as Order, 1e-6)
    return talk
  }
  /** Number of prints after which the exit is due. */
  function printsUntil(talk: TalkingBot, ms: number): number {
    for (let prints = 1; prints < 30; prints++) if (orders(talk.rig.trade(0.5e-6, { ms })).length > 0) return prints
    return Number.POSITIVE_INFINITY
  }

  it.each<[windowPrints: 5 | 21, ms: number, prints: number]>([
    [5, 100, 3],
    [21, 100, 11],
    [21, 20_000, 5],
  ])('with a window of %i prints, one every %i ms, is due after %i of them', (windowPrints, ms, prints) => {
    expect(printsUntil(holding(windowPrints), ms)).toBe(prints)
  })

  it('after a gap waits for new prints, and is then due at once', () => {
    const talk = holding(21)
    talk.rig.input({ kind: 'gap', from: talk.rig.now, to: talk.rig.now, keys: ['trades'] })
    expect(printsUntil(talk, 100)).toBe(3)
  })
})
