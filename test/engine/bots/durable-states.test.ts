import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json } from '../../../src/base/json.ts'
import { type Bot, defineStrategy, type Token, z } from '../../../src/index.ts'
import { MINT, OTHER_MINT, type StrategyRig, testStrategy } from '../../../src/testing.ts'
import { keyOf } from '../../support/journal-values.ts'
import { runs } from '../../support/runs.ts'

type Act = (token: Token, bot: Bot) => void

const DAY = 86_400
const HOUR = 3_600

/**
 * Returns a test rig. Its strategy runs `act` at each trade of 2 SOL. `views` contains each token that the strategy
 * received.
 */
function acting(options: { warmup?: number } = {}) {
  const acts: Act[] = []
  const views: Token[] = []
  const strategy = defineStrategy({
    ...{ name: 'acting', about: '', params: z.object({}), keys: ['trades'], warmup: options.warmup ?? 0 },
    start: (_params, bot: Bot) => ({
      onTrade: ({ amount }, token) => {
        views.push(token)
        if (amount === 2) acts.shift()?.(token, bot)
      },
    }),
  })
  const rig = testStrategy(strategy)
  /** Runs `act` in a handler, with the token, and returns its result. */
  const ask = <T>(act: (token: Token, bot: Bot) => T, mint = MINT): T => {
    let result: T | undefined
    acts.push((token, bot) => {
      result = act(token, bot)
    })
    rig.trade({ price: 1e-7, sol: 2, mint })
    return result as T
  }
  return { rig, ask, views, strategy }
}

const saves =
  (value: Json): Act =>
  (token) => {
    token.durable = value
  }

/** Advances the clock to this many seconds after 00:00 UTC of a later day. */
function advanceTo(rig: StrategyRig, days: number, seconds: number): void {
  const midnight = Math.floor(rig.now / (DAY * 1000)) * DAY * 1000
  rig.advance((midnight - rig.now) / 1000 + days * DAY + seconds)
}

describe('token.durable', () => {
  it('a durable state is first null, then a frozen copy of the last assigned value, also after a restart', () => {
    const { rig, ask } = acting()
    expect(ask(({ durable }) => durable)).toBe(null)
    const value = { score: [1, { best: 2 }] }
    ask(saves(value))
    value.score.push(3)
    const kept = ask(({ durable }) => durable) as { score: [number, object] }
    expect(kept).toEqual({ score: [1, { best: 2 }] })
    expect([Object.isFrozen(kept), Object.isFrozen(kept.score), Object.isFrozen(kept.score[1])]).toEqual([
      true,
      true,
      true,
    ])
    rig.restart()
    expect(ask(({ durable }) => durable)).toEqual({ score: [1, { best: 2 }] })
    rig.restart({ isKilled: true })
    expect(ask(({ durable }) => durable)).toEqual({ score: [1, { best: 2 }] })
    expect(rig.durable()).toEqual({ score: [1, { best: 2 }] })
  })

  it('a durable state belongs to one token, and null deletes it', () => {
    const { rig, ask } = acting()
    ask(saves(1))
    ask(saves(2), OTHER_MINT)
    ask(saves(null))
    rig.restart()
    expect([ask(({ durable }) => durable), ask(({ durable }) => durable, OTHER_MINT)]).toEqual([null, 2])
  })

  it.each([
    ['a function', () => {}, /durable is function, which JSON cannot represent/],
    ['a Map', new Map(), /durable is an instance of a class/],
    ['NaN', { a: Number.NaN }, /durable\.a is NaN/],
    ['10,001 characters', 'x'.repeat(9_999), /has 10001 characters of JSON; the maximum is 10000/],
  ])('assigning %s to a durable state is refused with the reason', (_what, value, reason) => {
    const { ask } = acting()
    expect(() => ask(saves(value as Json))).toThrow(reason)
  })

  it('a durable state of exactly 10,000 characters is saved', () => {
    const { rig, ask } = acting()
    ask(saves('x'.repeat(9_998)))
    expect(rig.durable()).toHaveLength(9_998)
  })

  it('the durable states of all tokens of a bot have at most 4,000,000 characters', () => {
    const { rig, ask } = acting()
    const text = 'x'.repeat(9_998)
    for (let token = 0; token < 400; token++) {
      ask(saves(text), keyOf(token + 10))
      rig.advance(1)
    }
    ask(saves(null), keyOf(10))
    ask(saves(text))
    expect(() => ask(saves('x'), OTHER_MINT)).toThrow(/4000100 characters of JSON; the maximum is 4000000/)
  })

  it('a durable state cannot be saved outside of a handler', () => {
    const { ask } = acting()
    const token = ask((one) => one)
    expect(() => saves(1)(token, undefined as never)).toThrow('outside of a handler')
  })

  it('a durable state is not saved during the warm-up, in which the strategy reads the value of the earlier process', () => {
    const seen: Json[] = []
    const strategy = defineStrategy({
      ...{ name: 'warm', about: '', params: z.object({}), keys: ['trades'] },
      start: () => ({
        onTrade: (_trade, token) => {
          seen.push(token.durable)
          token.durable = Number(token.durable ?? 0) + 1
        },
      }),
    })
    const rig = testStrategy(strategy)
    for (let print = 0; print < 3; print++) rig.trade({ price: 1e-7 })
    rig.restart()
    rig.trade({ price: 1e-7 })
    expect(seen).toEqual([null, 1, 2, 3, 3, 3, 3])
    expect(rig.durable()).toBe(4)
  })

  const BUY = { sol: 0.1, reason: 'told to' }

  describe.each([false, true])('with restarts: %s', (withRestarts) => {
    const passes = (rig: StrategyRig, days: number, seconds: number): void => {
      advanceTo(rig, days, seconds)
      if (withRestarts) rig.restart({ downSeconds: 1 })
      rig.trade({ price: 1e-7, mint: OTHER_MINT })
    }

    it("a durable state is freed at the second 00:00 UTC after the token's last event", () => {
      const { rig, ask } = acting()
      ask(saves('kept'))
      passes(rig, 1, 10)
      passes(rig, 0, DAY - 10)
      expect(rig.durable()).toBe('kept')
      passes(rig, 1, 10)
      expect(rig.durable()).toBe(null)
      expect(ask(({ durable }) => durable)).toBe(null)
    })

    it('a durable state is kept if the token has an event on each day', () => {
      const { rig, ask } = acting()
      ask(saves('kept'))
      for (let day = 0; day < 4; day++) {
        passes(rig, 1, HOUR)
        rig.trade({ price: 1e-7 })
        passes(rig, 0, 20 * HOUR)
      }
      expect(ask(({ durable }) => durable)).toBe('kept')
    })

    it('a durable state is kept while the bot has a position, and freed afterwards', () => {
      const { rig, ask } = acting()
      rig.settle(1e-7)
      ask(saves('kept'))
      ask((token, bot) => bot.buy(token, BUY))
      rig.advance(30)
      for (let day = 0; day < 4; day++) passes(rig, 1, HOUR)
      expect(rig.durable()).toBe('kept')
      rig.settle(1e-7)
      ask((token, bot) => bot.sell(token, { all: true, reason: 'told to' }))
      rig.advance(30)
      expect(rig.position()?.state).toBe('closed')
      passes(rig, 1, HOUR)
      expect(rig.durable()).toBe('kept')
      passes(rig, 1, HOUR)
      expect(rig.durable()).toBe(null)
    })
  })

  it('a durable state is freed at a start after the second 00:00 UTC', () => {
    const { rig, ask } = acting()
    ask(saves('kept'))
    rig.restart({ downSeconds: 3 * DAY })
    expect(rig.durable()).toBe(null)
  })

  it.each([
    [1, 'kept'],
    [2, null],
  ])('if a token has no event until 00:00 UTC number %i, its durable state is %s', (midnights, value) => {
    const { rig, ask } = acting()
    ask(saves('kept'))
    advanceTo(rig, midnights, 0)
    rig.trade({ price: 1e-7, mint: OTHER_MINT })
    expect(rig.durable()).toBe(value)
  })

  it("a durable state that is set on a freed token still held by the strategy is saved for the token's new object", () => {
    const { rig, ask } = acting()
    const old = ask((token) => token)
    advanceTo(rig, 1, 1)
    rig.trade({ price: 1e-7, mint: OTHER_MINT })
    advanceTo(rig, 1, 1)
    rig.trade({ price: 1e-7, mint: OTHER_MINT })
    ask(() => saves('again')(old, undefined as never), OTHER_MINT)
    expect(ask((token) => [token === old, token.durable])).toEqual([false, 'again'])
  })

  it('in random sequences of events, a run with restarts has the same durable states as a run without restarts', () => {
    const mints = [MINT, OTHER_MINT, keyOf(3)]
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.record({ kind: fc.constant('save' as const), mint: fc.nat(2), value: fc.nat(3) }) },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('trade' as const), mint: fc.nat(2), value: fc.nat(3) }) },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('hours' as const), mint: fc.nat(2), value: fc.nat(40) }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('restart' as const), mint: fc.nat(2), value: fc.nat(1) }) },
    )
    const valuesAfter = (
      steps: readonly { kind: string; mint: number; value: number }[],
      restarts: boolean,
    ): Json[] => {
      const { rig, ask } = acting()
      for (const { kind, mint, value } of steps) {
        if (kind === 'save') ask(saves(value === 0 ? null : value), mints[mint])
        else if (kind === 'trade') rig.trade({ price: 1e-7, mint: mints[mint] as string })
        else if (kind === 'hours') rig.advance(value * HOUR)
        else if (restarts) rig.restart({ downSeconds: 1, isKilled: value === 1 })
        else rig.advance(1)
      }
      advanceTo(rig, 0, DAY - 1)
      rig.trade({ price: 1e-7, mint: keyOf(9) })
      return mints.map((mint) => rig.durable(mint))
    }
    fc.assert(
      fc.property(fc.array(step, { maxLength: 14 }), (steps) => {
        expect(valuesAfter(steps, true)).toEqual(valuesAfter(steps, false))
      }),
      { numRuns: runs(6) },
    )
  })
})
