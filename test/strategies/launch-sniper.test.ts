import { expect, test } from 'vitest'
import {
  MINT,
  OTHER_MINT,
  type StrategyRig,
  type StrategyTestOptions,
  type TestNewToken,
  testStrategy,
} from '../../src/testing.ts'
import launchSniper from '../../strategies/launch-sniper.ts'

const THIRD_MINT = 'TestToken3111111111111111111111111111111111'
const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const WSOL = 'So11111111111111111111111111111111111111112'

const launch =
  (token: TestNewToken = {}) =>
  (rig: StrategyRig): void =>
    rig.newToken({ creator: `creator of ${token.mint ?? MINT}`, initialLiquidity: 31, ...token })
/** Returns a step that makes one trade after each of the pauses `afterSeconds`. From the third trade on, the token has
 *  a robust price. */
const prints =
  (...afterSeconds: number[]) =>
  (rig: StrategyRig): void => {
    for (const seconds of afterSeconds) rig.trade({ price: 1e-7, afterSeconds: seconds })
  }
const priced = prints(1, 1, 1)

/** The result of the strategy: its buys, the reasons that it recorded with `bot.note`, and the mints that are still
 *  watched or held. */
interface Outcome {
  readonly bought?: readonly string[]
  readonly notes?: readonly [mint: string, why: string][]
  readonly watches?: readonly string[]
}

function outcomeOf(rig: StrategyRig): Required<Outcome> {
  return {
    bought: rig.orders.map(({ mint, sol, reason }) => `${sol} of ${mint}: ${reason}`),
    notes: rig.notes.map(({ mint, reason }) => [mint, reason]),
    watches: rig.keys.filter((key) => key !== 'newTokens'),
  }
}

const BOUGHT: Outcome = { bought: [`0.05 of ${MINT}: launched, first robust price`], watches: [MINT] }
const WATCHED: Outcome = { watches: [MINT] }
const noted = (why: string, mint = MINT): Outcome => ({ notes: [[mint, why]] })

test.each<[string, object, ((rig: StrategyRig) => void)[], Outcome]>([
  ['launch-sniper buys a new token at its first robust price', {}, [launch(), priced], BOUGHT],
  ['launch-sniper waits for a robust price', {}, [launch(), prints(1, 1)], WATCHED],
  ['launch-sniper buys a token only once', {}, [launch(), priced, priced], BOUGHT],
  ['launch-sniper does not buy a token that was not announced', {}, [priced], {}],
  [
    'launch-sniper does not buy a token that is too old when it is announced',
    {},
    [launch({ ageSeconds: 30.1 }), priced],
    noted('30.1 s old, 30 s at most'),
  ],
  [
    'launch-sniper does not buy a token that is too old when it has a price',
    { maxAgeSeconds: 5 },
    [launch(), prints(1, 1, 3.1, 1)],
    noted('first robust price after 5 s'),
  ],
  [
    'launch-sniper gives up a token without a price in time at the next launch',
    { maxAgeSeconds: 5 },
    [
      launch(),
      launch({ mint: OTHER_MINT, afterSeconds: 5 }),
      (rig) => expect(rig.notes).toEqual([]),
      launch({ mint: THIRD_MINT, afterSeconds: 0.001 }),
    ],
    { ...noted('no robust price within 5 s'), watches: [OTHER_MINT, THIRD_MINT] },
  ],
  [
    'launch-sniper does not treat a token with a future timestamp as younger',
    { maxAgeSeconds: 5 },
    [launch({ ageSeconds: -89 }), prints(1, 1, 3.1)],
    noted('first robust price after 5 s'),
  ],
  ['launch-sniper does not buy USDC', {}, [launch({ mint: USDC })], noted('its mint is a currency', USDC)],
  ['launch-sniper does not buy wrapped SOL', {}, [launch({ mint: WSOL })], noted('its mint is a currency', WSOL)],
  [
    'launch-sniper does not buy a token with little liquidity',
    { minLiquidity: 32 },
    [launch()],
    noted('liquidity 31 is below 32'),
  ],
  [
    'launch-sniper does not buy a token with much liquidity',
    { maxLiquidity: 30.5 },
    [launch()],
    noted('liquidity 31 is above 30.5'),
  ],
  [
    'launch-sniper does not buy a token of unknown liquidity',
    {},
    [launch({ initialLiquidity: NaN })],
    noted('liquidity NaN is below 1'),
  ],
  [
    'launch-sniper does not buy a second launch of a creator',
    {},
    [launch({ creator: 'X' }), launch({ mint: OTHER_MINT, creator: 'X' }), launch({ mint: THIRD_MINT, creator: 'Y' })],
    { ...noted('launch 2 of its creator', OTHER_MINT), watches: [MINT, THIRD_MINT] },
  ],
  [
    'treats unknown creators as different',
    {},
    [launch({ creator: '' }), launch({ mint: OTHER_MINT, creator: '' })],
    { watches: [MINT, OTHER_MINT] },
  ],
  [
    'launch-sniper buys only tokens that match the name pattern',
    { namePattern: 'cat|^dog$' },
    [
      launch({ name: 'Fat CAT' }),
      launch({ mint: OTHER_MINT, name: 'x', symbol: 'DOG' }),
      launch({ mint: THIRD_MINT, name: 'hot dogs' }),
    ],
    { ...noted('neither name nor symbol match', THIRD_MINT), watches: [MINT, OTHER_MINT] },
  ],
  [
    'launch-sniper counts the age of a token from its first announcement',
    { maxAgeSeconds: 5, maxLaunchesPerCreator: 5 },
    [launch(), launch({ afterSeconds: 4 }), prints(0.4, 0.4, 0.4)],
    noted('first robust price after 5 s'),
  ],
  [
    'launch-sniper does not buy a token that it holds',
    { maxLaunchesPerCreator: 5 },
    [launch(), priced, launch()],
    { ...BOUGHT, ...noted('already held') },
  ],
])('%s', (_what, params, rows, expected) => {
  const rig = testStrategy(launchSniper, { params })
  for (const row of rows) row(rig)
  expect(outcomeOf(rig)).toEqual({ bought: [], notes: [], watches: [], ...expected })
})

test('launch-sniper does not repeat a refused buy, and no longer watches its mint', () => {
  const poor: StrategyTestOptions = { paper: { balanceSol: 0.01 } }
  const rig = testStrategy(launchSniper, poor)
  launch()(rig)
  expect(rig.keys).toContain(MINT)
  prints(1, 1, 1, 2, 2)(rig)
  expect(rig.refusals).toMatchObject([{ mint: MINT, code: 'BALANCE_LOW' }])
  expect(outcomeOf(rig)).toEqual({ bought: [], notes: [], watches: [] })
})

test('the params of launch-sniper refuse an invalid name pattern', () => {
  expect(launchSniper.params.safeParse({ namePattern: '(' }).error?.issues[0]?.message).toBe('not a regular expression')
})
