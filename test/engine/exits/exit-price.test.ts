import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ExitPrice } from '../../../src/engine/exits/exit-price.ts'
import { DEFAULT_EXIT_WINDOW, EXIT_PRICE, EXIT_WINDOWS } from '../../../src/engine/exits/exit-settings.ts'
import type { Order } from '../../../src/engine/order.ts'
import { type BotOptions, botSettings, orders, startInput } from '../../support/engine-rig.ts'
import { TalkingBot } from '../../support/talking-bot.ts'

/** The reference implementation: the median of a list of all prints. */
function reference(prints: readonly { price: number; time: number }[], window: number, now: number): number {
  const last = prints.slice(-window).reverse()
  const fresh = last.filter(({ time }, place) => place < 5 || time >= now - 60_000)
  const sorted = fresh.map(({ price }) => price).sort((one, other) => one - other)
  return sorted[Math.ceil(sorted.length / 2) - 1] as number
}

it('the price of the exits equals the median of the last prints that are not too old, for any prints', () => {
  const window = fc.constantFrom(...EXIT_WINDOWS.filter((one) => one > 5 && one !== DEFAULT_EXIT_WINDOW))
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

/** The reference implementation of the filtered price, which keeps lists of all prints. */
class FilteredReference {
  #prints: { price: number; time: number; isLeg: boolean }[] = []

  take(price: number, robust: number, time: number): number {
    if (this.#prints.length === 0)
      this.#prints = Array.from({ length: DEFAULT_EXIT_WINDOW }, () => ({ price: robust, time, isLeg: false }))
    this.#prints.push({ price, time, isLeg: price > 2 * robust || 2 * price < robust })
    const middle = this.#middle(time) ?? robust
    const low = this.#prints.slice(this.#prints.findLastIndex((print) => print.price >= middle / 2) + 1)
    const last = low.findLastIndex((print, place) => print.time <= time - 2_000 && low.length - place >= 3)
    if (last === -1) return middle
    this.#prints = low.slice(last).map((print) => ({ ...print, isLeg: false }))
    return this.#middle(time) ?? robust
  }

  #middle(time: number): number | undefined {
    const prints = this.#prints.slice(-DEFAULT_EXIT_WINDOW).filter(({ isLeg }) => !isLeg)
    const fresh = prints.filter((print, place) => place >= prints.length - 21 || print.time >= time - 600_000)
    const sorted = fresh.map(({ price }) => price).sort((one, other) => one - other)
    const cut = Math.floor(sorted.length / 4)
    const half = sorted.slice(cut, sorted.length - cut)
    return half.length === 0 ? undefined : half.reduce((sum, price) => sum + price, 0) / half.length
  }
}

it('the filtered price leaves out hops of routed swaps, old prints and prints before a collapse, for any prints', () => {
  const print = fc.record({
    price: fc.oneof(
      { weight: 8, arbitrary: fc.integer({ min: 90, max: 110 }) },
      fc.constantFrom(10, 12, 15, 40, 55, 230, 900),
    ),
    times: fc.constantFrom(1, 1, 1, 3, 12),
    ms: fc.constantFrom(0, 10, 700, 3_000, 20_000, 90_000),
  })
  fc.assert(
    fc.property(fc.array(print, { minLength: 1, maxLength: 60 }), (prints) => {
      const price = new ExitPrice()
      const expected = new FilteredReference()
      const last: number[] = []
      let now = 0
      for (const one of prints.flatMap((print) => Array.from({ length: print.times }, () => print))) {
        now += one.ms
        last.push(one.price)
        const robust = [...last.slice(-5)].sort((a, b) => a - b)[Math.min(last.length, 5) >> 1] as number
        price.fold(one.price, robust, now)
        expect(price.of(DEFAULT_EXIT_WINDOW, robust, now)).toBe(expected.take(one.price, robust, now))
      }
    }),
    { numRuns: 100 },
  )
})

describe('an exit', () => {
  function holding(exits: BotOptions['exits']): TalkingBot {
    const talk = new TalkingBot({ exits: { stopLossPercent: 20, ...exits } })
    talk.rig.settle(1e-6)
    talk.ask((bot, token) => bot.buy(token, { sol: 0.1, reason: 'told to' }))
    talk.rig.fill(orders(talk.rig.outputs)[0] as Order, 1e-6)
    return talk
  }
  /** Makes prints at `price`, `ms` apart, until the exit is due. Returns the number of these prints. */
  function printsUntil(talk: TalkingBot, ms: number, price = 0.5e-6): number {
    for (let prints = 1; prints < 60; prints++) if (orders(talk.rig.trade(price, { ms })).length > 0) return prints
    return Number.POSITIVE_INFINITY
  }

  it.each<[windowPrints: 5 | 21, ms: number, prints: number]>([
    [5, 100, 3],
    [21, 100, 11],
    [21, 20_000, 5],
  ])(
    'with a window of %i prints and one print every %i ms, an exit is due after %i prints',
    (windowPrints, ms, prints) => {
      expect(printsUntil(holding({ windowPrints }), ms)).toBe(prints)
    },
  )

  it('after a gap, an exit waits for three new prints, and is then due at once', () => {
    const talk = holding({ windowPrints: 21 })
    talk.rig.input({ kind: 'gap', from: talk.rig.now, to: talk.rig.now, keys: ['trades'] })
    expect(printsUntil(talk, 100)).toBe(3)
  })

  it.each([
    // The columns after the name are the price, the time between two prints in ms, and the number of prints until the
    // exit.
    ['a fall by a third, ten prints a second', 0.67e-6, 100, 45],
    ['a fall by 90 %, ten prints a second', 0.1e-6, 100, 21],
    ['a fall by 90 %, one print a second', 0.1e-6, 1_000, 3],
    ['a fall by 90 %, one print in ten seconds', 0.1e-6, 10_000, 3],
  ])(
    'with the default window, after %s an exit is due after the expected number of prints',
    (_name, price, ms, prints) => {
      expect(printsUntil(holding({ windowPrints: undefined }), ms, price)).toBe(prints)
    },
  )

  it.each([undefined, EXIT_PRICE])(
    'a position without a window of its own uses the exit price that the journal recorded at the start: %j',
    (exitPrice) => {
      const talk = holding({ windowPrints: undefined })
      const { outputs } = talk.rig
      const { exitPrice: _own, ...start } = startInput([botSettings('told', { exits: { stopLossPercent: 20 } })])
      const position = outputs.findLast((output) => output.kind === 'position')?.position
      expect(position).toBeDefined()
      talk.rig.input({
        ...start,
        bots: start.bots,
        ...(exitPrice && { exitPrice }),
        money: { ...start.money, positions: [position as never] },
      })
      for (let prints = 0; prints < 5; prints++) talk.rig.trade(1e-6, { ms: 100 })
      expect(printsUntil(talk, 100, 0.67e-6)).toBe(exitPrice === undefined ? 11 : 45)
    },
  )
})
