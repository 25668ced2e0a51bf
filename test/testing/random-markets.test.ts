import { expect, test } from 'vitest'
import { defineStrategy, z } from '../../src/index.ts'
import { holdsAtMost, inRandomMarkets, isOutWithin, neverBuysTwice, testStrategy } from '../../src/testing.ts'

/** A strategy that buys every token that has a price, up to a number of positions. */
const greedy = defineStrategy({
  name: 'greedy',
  about: 'Buys every token with a price, up to a number of positions.',
  params: z.object({
    most: z.number().default(3),
    again: z.boolean().default(false),
    throwAt: z.number().default(1e9),
  }),
  keys: ['trades'],
  token: () => ({ bought: false }),
  start(params, bot) {
    let prints = 0
    return {
      onTrade(_trade, token) {
        if (++prints > params.throwAt) throw new Error('too many prints')
        if (token.price === undefined || token.position || bot.positions().length >= params.most) return
        if (token.state.bought && !params.again) return
        token.state.bought = bot.buy(token, { sol: 0.01, reason: 'seen' }).ok
      },
    }
  },
})

const exits = { stopLossPercent: 10, maxHoldSeconds: 20 }
const short = { seconds: 40, seeds: 3, exits }

test('a random market is the same for the same seed, and other seeds give other markets', () => {
  const play = (seed: number) => {
    const rig = testStrategy(greedy, { exits })
    rig.randomMarket({ seed, seconds: 30 })
    return { rows: rig.rows, decisions: rig.decisions }
  }
  const once = play(7)
  expect(once.rows).toBeGreaterThan(300)
  expect(once.decisions.length).toBeGreaterThan(5)
  expect(play(7)).toEqual(once)
  expect(play(8)).not.toEqual(once)
})

test('properties that are true in every random market pass, and the result counts markets, rows, orders and fills', () => {
  const result = inRandomMarkets(greedy, short, (rig) => {
    rig.always(holdsAtMost({ tokens: 3, sol: 0.04 }))
    rig.always(isOutWithin(60))
    rig.always(neverBuysTwice())
    rig.always(({ bot }) => bot.orders.length < 1000)
  })
  expect(result).toMatchObject({ markets: 3 })
  expect(result.fills).toBeGreaterThan(10)
})

test.each([
  [
    'a limit of positions',
    { params: { most: 4 } },
    holdsAtMost({ tokens: 3 }),
    /the bot has 4 positions, at most 3 are allowed/,
  ],
  [
    'a limit of SOL',
    {},
    holdsAtMost({ sol: 0.025 }),
    /the bot has 0\.03\d\d SOL in positions and open buys, at most 0\.025/,
  ],
  ['a limit of time', {}, isOutWithin(5), /has been held for 5\.\d s/],
  ['the rule against repeated buys', { params: { again: true } }, neverBuysTwice(), /is bought a second time: seen/],
  [
    'a property of the test itself',
    {},
    ({ bot }: { bot: { now: number } }) => bot.now < 1_767_225_600_000 + 5_000,
    /the property mine is false/,
  ],
  [
    'the rule that the strategy throws no error',
    { params: { throwAt: 99 } },
    () => true,
    /random-markets\.test\.ts:\d+:\d+: Error: too many/,
  ],
])(
  'if a random market violates %s, the message names the seed, the time and the number of rows',
  (_what, options, property, message) => {
    const run = (seeds: number | number[]) =>
      inRandomMarkets(greedy, { ...short, ...options, seeds }, (rig) => rig.always(property, 'mine'))
    let text = ''
    try {
      run(3)
    } catch (error) {
      text = (error as Error).message
    }
    expect(text).toMatch(message)
    const [, seed, rows] = /^seed (\d), after [\d.]+ s and (\d+) rows: /.exec(text) ?? []
    expect(text).toMatch(new RegExp(`of 3 markets fail.*to run it alone: seeds: \\[${seed}\\]$`))
    expect(() => run([Number(seed)])).toThrow(`and ${rows} rows: `)
  },
)

test('if several random markets fail, the message names the market with the fewest rows', () => {
  const rows = [1, 2, 3].map((seed) => {
    const rig = testStrategy(greedy, { exits })
    rig.always(isOutWithin(8))
    expect(() => rig.randomMarket({ seed, seconds: 40 })).toThrow(`seed ${seed}, `)
    return rig.rows
  })
  expect(() => inRandomMarkets(greedy, short, (rig) => rig.always(isOutWithin(8)))).toThrow(
    `and ${Math.min(...rows)} rows: `,
  )
})

test('a bot that sends no order in any random market is an error', () => {
  expect(() => inRandomMarkets(greedy, { ...short, params: { most: 0 } }, () => {})).toThrow(
    /no order in 3 random markets with \d+ rows, so the properties prove nothing/,
  )
})

test('`always` checks a property also between the rows of `advance`', () => {
  const rig = testStrategy(greedy, { params: { most: 1 } })
  rig.settle(1e-7)
  rig.always(isOutWithin(30))
  expect(() => rig.advance(600)).toThrow(/held for 3[01]\.\d s/)
  expect(rig.now).toBeLessThan(1_767_225_600_000 + 40_000)
})
