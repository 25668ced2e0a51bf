import { expect, test } from 'vitest'
import launchSniper from '../../strategies/launch-sniper.ts'
import type { NewTokenRow } from '../support/market-rows.ts'
import { requestsOf, type Shown } from '../support/strategy-harness.ts'

const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const WSOL = 'So11111111111111111111111111111111111111112'

const launch = (mint: string, more: Partial<NewTokenRow> = {}): Shown => ({
  kind: 'newToken',
  time: 10_000,
  mint,
  creator: `creator of ${mint}`,
  ...more,
})
const trade = (mint: string, time: number, robust: number | null): Shown => ({ time, mint, price: 1, robust })
const named = (name: string, symbol = 'T'): Partial<NewTokenRow> => ({ details: { name, symbol } })

const BOUGHT = ['watch A', 'unwatch A', 'buy A 0.05: launched, first robust price']

test.each<[string, object, Shown[], string[]]>([
  ['the first robust price', {}, [launch('A'), trade('A', 12_000, 1)], BOUGHT],
  [
    'prints before there is a robust price',
    {},
    [launch('A'), trade('A', 11_000, null), trade('A', 12_000, null), trade('A', 13_000, 1)],
    BOUGHT,
  ],
  ['a second price', {}, [launch('A'), trade('A', 12_000, 1), trade('A', 13_000, 1)], BOUGHT],
  ['a token nobody announced', {}, [trade('A', 12_000, 1)], []],
  [
    'too old when it is announced',
    {},
    [launch('A', { stamp: 10_000 - 30_001 }), trade('A', 12_000, 1)],
    ['note A: 30.0 s old, 30 s at most'],
  ],
  [
    'too old when it has a price',
    { maxAgeSeconds: 5 },
    [launch('A'), trade('A', 15_001, 1), trade('A', 15_002, 1)],
    ['watch A', 'unwatch A', 'note A: first robust price after 5 s'],
  ],
  [
    'no price in time: given up at the next launch',
    { maxAgeSeconds: 5 },
    [launch('A'), launch('B', { time: 15_000 }), launch('C', { time: 15_001 })],
    ['watch A', 'watch B', 'note A: no robust price within 5 s', 'unwatch A', 'watch C'],
  ],
  [
    'a timestamp in the future makes it no younger',
    { maxAgeSeconds: 5 },
    [launch('A', { stamp: 99_000 }), trade('A', 15_001, 1)],
    ['watch A', 'unwatch A', 'note A: first robust price after 5 s'],
  ],
  ['USDC as a mint', {}, [launch(USDC), trade(USDC, 12_000, 1)], [`note ${USDC}: its mint is money`]],
  ['wSOL as a mint', {}, [launch(WSOL), trade(WSOL, 12_000, 1)], [`note ${WSOL}: its mint is money`]],
  ['little liquidity', { minLiquidity: 32 }, [launch('A')], ['note A: liquidity 31 is below 32']],
  ['much liquidity', { maxLiquidity: 30.5 }, [launch('A')], ['note A: liquidity 31 is above 30.5']],
  ['no liquidity named', {}, [launch('A', { liquidity: NaN })], ['note A: liquidity NaN is below 1']],
  [
    'a creator seen before',
    {},
    [launch('A', { creator: 'X' }), launch('B', { creator: 'X' }), launch('C', { creator: 'Y' })],
    ['watch A', 'note B: launch 2 of its creator', 'watch C'],
  ],
  [
    'creators that are not named',
    {},
    [launch('A', { creator: '' }), launch('B', { creator: '' })],
    ['watch A', 'watch B'],
  ],
  [
    'a name pattern',
    { namePattern: 'cat|^dog$' },
    [launch('A', named('Fat CAT')), launch('B', named('x', 'DOG')), launch('C', named('hot dogs'))],
    ['watch A', 'note B: neither name nor symbol match', 'note C: neither name nor symbol match'],
  ],
  ['announced twice', { maxLaunchesPerCreator: 5 }, [launch('A'), launch('A')], ['watch A']],
  ['already holding', {}, [launch('A', { holds: 'open' } as object)], ['note A: already held']],
  [
    'bought by hand while it waited',
    {},
    [launch('A'), { ...trade('A', 12_000, 1), holds: 'opening' }],
    ['watch A', 'unwatch A'],
  ],
])('%s', (_what, params, rows, requests) => {
  expect(requestsOf(launchSniper, params, rows)).toEqual(requests)
})

test('a refused buy is not tried again', () => {
  const rows = [launch('A'), trade('A', 12_000, 1), trade('A', 12_001, 1)]
  expect(requestsOf(launchSniper, {}, rows, 'POSITIONS_LIMIT')).toEqual(BOUGHT)
})

test('a pattern that is none is refused with the configuration', () => {
  expect(launchSniper.params.safeParse({ namePattern: '(' }).error?.issues[0]?.message).toBe('not a regular expression')
})
