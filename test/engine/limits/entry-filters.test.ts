import { describe, expect, it, test } from 'vitest'
import { solToLamports } from '../../../src/base/units.ts'
import {
  type Candidate,
  checkFilters,
  type EntryFilters,
  NO_FILTERS,
} from '../../../src/engine/limits/entry-filters.ts'
import type { Placed } from '../../../src/engine/strategy.ts'
import { readList } from '../../../src/solana/base58.ts'
import { MINT, MINT_2 } from '../../support/engine-rig.ts'
import { TalkingBot } from '../../support/talking-bot.ts'

const NOW = 20_000 * 86_400_000
const lists = new Map([
  ['mints.txt', new Set([MINT])],
  ['makers.txt', new Set(['maker'])],
])
// At 1e-7 SOL a token the curve has sqrt(30 x 1.073e9 x 1e-7) = 56.74 SOL, 30 of them virtual: 26.74 are there.
const token: Candidate = {
  ...{ mint: MINT, amount: solToLamports(0.1), now: NOW, price: 1e-7, creator: 'maker' },
  ...{ launch: { creator: 'maker', time: NOW - 60_000 }, seenAt: NOW },
}

type Row = [string, Partial<EntryFilters>, Partial<Candidate>, string | undefined]

test.each<Row>([
  ['nothing asked', {}, {}, undefined],
  ['a mint that is denied', { denyMints: 'mints.txt' }, {}, 'MINT_LISTED'],
  ['another one', { denyMints: 'mints.txt' }, { mint: MINT_2 }, undefined],
  ['a mint that is allowed', { allowMints: 'mints.txt' }, {}, undefined],
  ['another one', { allowMints: 'mints.txt' }, { mint: MINT_2 }, 'MINT_UNLISTED'],
  ...(['allowMints', 'denyMints', 'allowCreators', 'denyCreators'] as const).map(
    (list) => ['a list that nobody has read allows nothing', { [list]: 'none.txt' }, {}, 'LIST_UNREAD'] satisfies Row,
  ),
  ['a creator that is denied', { denyCreators: 'makers.txt' }, {}, 'CREATOR_LISTED'],
  ['another one', { denyCreators: 'makers.txt' }, { creator: 'other' }, undefined],
  ['a creator that is allowed', { allowCreators: 'makers.txt' }, {}, undefined],
  ['another one', { allowCreators: 'makers.txt' }, { creator: 'other' }, 'CREATOR_UNLISTED'],
  ['one that nobody knows', { denyCreators: 'makers.txt' }, { creator: '' }, 'CREATOR_UNKNOWN'],
  ['who may pass', { denyCreators: 'makers.txt', unknownCreators: 'allow' }, { creator: '' }, undefined],
  ['old enough', { minAgeMs: 60_000 }, {}, undefined],
  ['a millisecond too young', { minAgeMs: 60_001 }, {}, 'TOKEN_YOUNG'],
  ['not announced, and seen just now', { minAgeMs: 1 }, { launch: undefined }, 'TOKEN_YOUNG'],
  ['not announced, and seen long ago', { minAgeMs: 5 }, { launch: undefined, seenAt: NOW - 5 }, undefined],
  ['enough in the pool', { minLiquidityLamports: solToLamports(26.7) }, {}, undefined],
  ['too little in it', { minLiquidityLamports: solToLamports(26.8) }, {}, 'LIQUIDITY_LOW'],
  ['a pool that it left the curve for', { minLiquidityLamports: solToLamports(84) }, { price: 4.2e-7 }, undefined],
  ['a share of it', { maxPoolSharePercent: 0.38 }, {}, undefined],
  ['a larger one', { maxPoolSharePercent: 0.37 }, {}, 'POOL_SHARE'],
  ['any share of an empty one', { maxPoolSharePercent: 100 }, { price: 1e-9 }, 'POOL_SHARE'],
])('%s', (_what, filters, more, code) => {
  expect(checkFilters({ ...NO_FILTERS, ...filters }, lists, { ...token, ...more })?.code).toBe(code)
})

test('a list: a key a line, comments and blank lines aside; the line that is none', () => {
  const read = (text: string) => readList(text, (entry) => entry.length === 3)
  expect(read('# mine\nabc\r\n\n  def  # why\n')).toEqual(['abc', 'def'])
  expect(read('abc\nde\n')).toEqual({ line: 2 })
  expect(read('')).toEqual([])
})

describe('in the engine', () => {
  const buy = (talk: TalkingBot): Placed => talk.ask((bot, token) => bot.buy(token, { sol: 0.1, reason: 'told to' }))

  it('a list that changes counts from then on; exits never ask it', () => {
    const talk = new TalkingBot({ filters: { denyMints: 'deny.txt' } })
    talk.rig.settle(1e-6)
    talk.rig.input({ kind: 'list', name: 'deny.txt', entries: [MINT] })
    expect(buy(talk)).toEqual({ ok: false, code: 'MINT_LISTED', reason: 'deny.txt lists the mint' })
    talk.rig.input({ kind: 'list', name: 'deny.txt', entries: [] })
    expect(buy(talk)).toMatchObject({ ok: true })
  })

  it('wants announcements where a filter asks for them, and knows who made what and when', () => {
    const talk = new TalkingBot({ filters: { denyCreators: 'makers.txt', minAgeMs: 600_000 } })
    expect(talk.rig.outputs).toContainEqual({ kind: 'keys', want: expect.arrayContaining(['newTokens', 'trades']) })
    talk.rig.input({ kind: 'list', name: 'makers.txt', entries: ['maker'] })
    talk.rig.settle(1e-6)
    expect(buy(talk)).toMatchObject({ code: 'CREATOR_UNKNOWN' })
    talk.rig.newToken(MINT, 10, 'maker')
    expect(buy(talk)).toMatchObject({ code: 'CREATOR_LISTED' })
    talk.rig.input({ kind: 'list', name: 'makers.txt', entries: [] })
    expect(buy(talk)).toMatchObject({
      code: 'TOKEN_YOUNG',
      reason: expect.stringMatching(/^announced 0 s ago, younger than 600 s \(filters.minAgeSeconds\); eligible at /),
    })
    talk.rig.now += 600_000
    talk.rig.settle(1e-6)
    expect(buy(talk)).toMatchObject({ ok: true })
  })
})
