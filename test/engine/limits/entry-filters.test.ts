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
// At a price of 1e-7 SOL per token, the bonding curve has sqrt(30 x 1.073e9 x 1e-7) = 56.74 SOL. 30 of them are
// virtual, so it holds 26.74 SOL.
const token: Candidate = {
  ...{ mint: MINT, amount: solToLamports(0.1), now: NOW, price: 1e-7, creator: 'maker' },
  ...{ launch: { creator: 'maker', time: NOW - 60_000 }, seenAt: NOW },
}

type Row = [string, Partial<EntryFilters>, Partial<Candidate>, string | undefined]

test.each<Row>([
  ['without filters a buy passes', {}, {}, undefined],
  ['a denied mint is refused', { denyMints: 'mints.txt' }, {}, 'MINT_LISTED'],
  ['a mint that is not denied passes', { denyMints: 'mints.txt' }, { mint: MINT_2 }, undefined],
  ['an allowed mint passes', { allowMints: 'mints.txt' }, {}, undefined],
  ['a mint that is not allowed is refused', { allowMints: 'mints.txt' }, { mint: MINT_2 }, 'MINT_UNLISTED'],
  ...(['allowMints', 'denyMints', 'allowCreators', 'denyCreators'] as const).map(
    (list) => ['a list that was not read refuses every buy', { [list]: 'none.txt' }, {}, 'LIST_UNREAD'] satisfies Row,
  ),
  ['a denied creator is refused', { denyCreators: 'makers.txt' }, {}, 'CREATOR_LISTED'],
  ['a creator that is not denied passes', { denyCreators: 'makers.txt' }, { creator: 'other' }, undefined],
  ['an allowed creator passes', { allowCreators: 'makers.txt' }, {}, undefined],
  [
    'a creator that is not allowed is refused',
    { allowCreators: 'makers.txt' },
    { creator: 'other' },
    'CREATOR_UNLISTED',
  ],
  ['an unknown creator is refused', { denyCreators: 'makers.txt' }, { creator: '' }, 'CREATOR_UNKNOWN'],
  [
    'an unknown creator passes with unknownCreators: allow',
    { denyCreators: 'makers.txt', unknownCreators: 'allow' },
    { creator: '' },
    undefined,
  ],
  ['a token that is old enough passes', { minAgeMs: 60_000 }, {}, undefined],
  ['a token that is a millisecond too young is refused', { minAgeMs: 60_001 }, {}, 'TOKEN_YOUNG'],
  [
    'a token without an announcement that the bot first saw just now is refused',
    { minAgeMs: 1 },
    { launch: undefined },
    'TOKEN_YOUNG',
  ],
  [
    'a token that was never announced passes if the bot first saw it long enough ago',
    { minAgeMs: 5 },
    { launch: undefined, seenAt: NOW - 5 },
    undefined,
  ],
  ['a pool with enough SOL passes', { minLiquidityLamports: solToLamports(26.7) }, {}, undefined],
  ['a pool with too little SOL is refused', { minLiquidityLamports: solToLamports(26.8) }, {}, 'LIQUIDITY_LOW'],
  [
    'a migrated pool passes if its price implies that it holds enough SOL',
    { minLiquidityLamports: solToLamports(84) },
    { price: 4.2e-7 },
    undefined,
  ],
  ['a buy of at most the allowed share of the pool passes', { maxPoolSharePercent: 0.38 }, {}, undefined],
  ['a buy of more than the allowed share of the pool is refused', { maxPoolSharePercent: 0.37 }, {}, 'POOL_SHARE'],
  ['any buy from an empty pool is refused', { maxPoolSharePercent: 100 }, { price: 1e-9 }, 'POOL_SHARE'],
])('%s', (_what, filters, more, code) => {
  expect(checkFilters({ ...NO_FILTERS, ...filters }, lists, { ...token, ...more })?.code).toBe(code)
})

test('the reader of a list accepts one key per line, comments and blank lines, and reports an invalid line', () => {
  const read = (text: string) => readList(text, (entry) => entry.length === 3)
  expect(read('# mine\nabc\r\n\n  def  # why\n')).toEqual(['abc', 'def'])
  expect(read('abc\nde\n')).toEqual({ line: 2 })
  expect(read('')).toEqual([])
})

describe('filters in the engine', () => {
  const buy = (talk: TalkingBot): Placed => talk.ask((bot, token) => bot.buy(token, { sol: 0.1, reason: 'told to' }))

  it('a changed list applies to later buys, but not to exits', () => {
    const talk = new TalkingBot({ filters: { denyMints: 'deny.txt' } })
    talk.rig.settle(1e-6)
    talk.rig.input({ kind: 'list', name: 'deny.txt', entries: [MINT] })
    expect(buy(talk)).toEqual({ ok: false, code: 'MINT_LISTED', reason: 'deny.txt lists the mint' })
    talk.rig.input({ kind: 'list', name: 'deny.txt', entries: [] })
    expect(buy(talk)).toMatchObject({ ok: true })
  })

  it('a filter that needs announcements of new tokens subscribes to them, and decides by creator and age', () => {
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
