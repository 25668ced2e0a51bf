import { describe, expect, it } from 'vitest'
import { type Bot, defineStrategy, type Token, type TokenQuery, z } from '../../../src/index.ts'
import { testStrategy } from '../../../src/testing.ts'
import { keyOf } from '../../support/journal-values.ts'

const DAY = 86_400
const [A, B, C, D] = [keyOf(1), keyOf(2), keyOf(3), keyOf(4)] as const
const ASKING = keyOf(9)

interface Count {
  prints: number
}

/** Returns a test rig. Its strategy counts the prints of each token, and runs `act` at a print of the mint `ASKING`. */
function counting() {
  let next: ((bot: Bot<Count>, token: Token<Count>) => unknown) | undefined
  const strategy = defineStrategy({
    ...{ name: 'counting', about: '', params: z.object({}), keys: ['trades'], warmup: 0 },
    token: (): Count => ({ prints: 0 }),
    start: (_params, bot: Bot<Count>) => ({
      onTrade: ({ mint }, token) => {
        if (mint === ASKING) next?.(bot, token)
        else token.state.prints++
      },
    }),
  })
  const rig = testStrategy(strategy)
  const ask = <T>(act: (bot: Bot<Count>, token: Token<Count>) => T): T => {
    let result: T | undefined
    next = (bot, token) => {
      result = act(bot, token)
    }
    rig.trade({ price: 1e-7, mint: ASKING })
    return result as T
  }
  const listed = (query?: TokenQuery<Count>): string[] =>
    ask((bot) => bot.tokens(query).map(({ mint }) => mint)).filter((mint) => mint !== ASKING)
  const prints = (mints: readonly string[]): void => {
    for (const mint of mints) rig.trade({ price: 1e-7, mint })
  }
  return { rig, ask, listed, prints }
}

describe('bot.tokens', () => {
  it('bot.tokens returns the tokens that the bot has received, newest first', () => {
    const { listed, prints } = counting()
    expect(listed()).toEqual([])
    prints([B, A, C, A])
    expect(listed()).toEqual([C, A, B])
  })

  it('bot.tokens selects by `where`, sorts by `by`, and returns at most `limit` tokens', () => {
    const { listed, prints } = counting()
    prints([A, A, A, B, C, C, D])
    const by = ({ state }: Token<Count>): number => state.prints
    expect(listed({ by })).toEqual([A, C, D, B])
    expect(listed({ by, limit: 2 })).toEqual([A, C])
    expect(listed({ by, where: ({ mint }) => mint !== A, limit: 1 })).toEqual([C])
    expect(listed({ where: ({ state }) => state.prints === 1 })).toEqual([D, B])
  })

  it('bot.tokens sorts tokens without a number last, and infinite values first', () => {
    const { listed, prints } = counting()
    prints([A, B, C, D])
    const values = new Map([
      [A, undefined],
      [B, Number.POSITIVE_INFINITY],
      [C, Number.NaN],
      [D, -5],
    ])
    expect(listed({ by: ({ mint }) => values.get(mint) })).toEqual([B, D, C, A])
  })

  it('bot.tokens returns the same objects that the handlers receive', () => {
    const { ask } = counting()
    expect(ask((bot, token) => bot.tokens()[0] === token)).toBe(true)
  })

  it('bot.tokens does not return freed tokens, and a call does not prevent tokens from being freed', () => {
    const { rig, listed, prints } = counting()
    prints([A])
    rig.advance(DAY)
    prints([B])
    expect(listed()).toEqual([B, A])
    rig.advance(DAY)
    expect(listed()).toEqual([B])
    rig.advance(DAY)
    expect(listed()).toEqual([])
  })

  it('after a restart, bot.tokens returns the tokens with durable state or a position, and those of the warm-up', () => {
    const { rig, ask, listed, prints } = counting()
    rig.settle(1e-7, { mint: A })
    ask((bot) => bot.buy(A, { sol: 0.1, reason: 'told to' }))
    rig.advance(10)
    prints([B, C])
    ask((bot) => {
      for (const token of bot.tokens()) if (token.mint === B) token.durable = { score: 1 }
    })
    rig.restart()
    expect(listed().toSorted()).toEqual([A, B].toSorted())
    expect(listed({ where: (token) => token.durable !== null })).toEqual([B])
  })

  it.each([
    [{ limit: 0 }, 'limit must be a whole number from 1 to 1000, got 0'],
    [{ limit: 1_001 }, 'got 1001'],
    [{ limit: 1.5 }, 'got 1.5'],
    [{ where: 'all' }, 'where must be a function'],
    [{ by: 'price' }, 'by must be a function'],
  ])('%j is refused', (query, reason) => {
    const { ask } = counting()
    expect(() => ask((bot) => bot.tokens(query as never))).toThrow(reason)
  })

  it('a call of bot.tokens costs one request, and one more for each 100 tokens', () => {
    const { ask, prints } = counting()
    prints(Array.from({ length: 999 }, (_, index) => keyOf(index + 10)))
    // There are 1,000 tokens, so each call counts as 11 requests. The limit is 10,000 requests without a pause.
    const calls = ask((bot) => {
      let count = 0
      try {
        for (; count < 2_000; count++) bot.tokens({ limit: 1 })
      } catch (error) {
        return [count, (error as Error).message]
      }
      return [count]
    })
    expect(calls).toEqual([Math.floor(10_000 / 11), expect.stringContaining('limit of 10000 requests in a burst')])
  })
})
