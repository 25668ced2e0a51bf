import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ERRORS } from '../../../../src/base/errors.ts'
import { lamports, solToLamports } from '../../../../src/base/units.ts'
import type { SellUnit } from '../../../../src/orders/trade-request.ts'
import { join, urlOf } from '../../../../src/venues/token-service/endpoints.ts'
import { PREMIUM, planOf, STANDARD } from '../../../../src/venues/token-service/plans.ts'
import { checkBuy, checkSell, sellAmountOf } from '../../../../src/venues/token-service/trade-terms.ts'
import {
  type BuyRequest,
  buyBody,
  messages,
  plainDecimal,
  type SellRequest,
  sellBody,
  tokenDecimal,
} from '../../../../src/venues/token-service/wire/requests.ts'
import { MINT, signatureOf, WALLET } from './samples.ts'

const buy = (more: Partial<BuyRequest> = {}): BuyRequest => ({
  publicKey: WALLET,
  mint: MINT,
  lamports: solToLamports(0.1),
  slippagePercent: 10,
  priorityFeeLamports: null,
  ...more,
})
const sell = (more: Partial<SellRequest> = {}): SellRequest => ({
  publicKey: WALLET,
  mint: MINT,
  amount: { kind: 'all' },
  slippagePercent: 10,
  priorityFeeLamports: null,
  ...more,
})
const keys = `"publicKey":"${WALLET}","mint":"${MINT}"`

describe('the bodies of requests are exactly the documented JSON', () => {
  test.each<[string, string]>([
    [buyBody(buy()), `{${keys},"amount":0.1,"slippage":10}`],
    [
      buyBody(buy({ lamports: lamports(1_000_001), slippagePercent: 0.5, priorityFeeLamports: lamports(10_000) })),
      `{${keys},"amount":0.001000001,"slippage":0.5,"priorityFee":0.00001}`,
    ],
    [buyBody(buy({ lamports: solToLamports(100) })), `{${keys},"amount":100,"slippage":10}`],
    [sellBody(sell()), `{${keys},"amount":"100%","slippage":10,"sellAll":true}`],
    [
      sellBody(sell({ amount: { kind: 'percent', percent: 33.33 } })),
      `{${keys},"amount":"33.33%","slippage":10,"sellAll":false}`,
    ],
    [
      sellBody(
        sell({ amount: { kind: 'number', decimal: '18446744073709551.615' }, priorityFeeLamports: lamports(0) }),
      ),
      `{${keys},"amount":18446744073709551.615,"slippage":10,"priorityFee":0,"sellAll":false}`,
    ],
  ])('the body of a request is exactly the documented JSON: %s', (body, expected) => {
    expect(body).toBe(expected)
  })

  test('amounts in requests are plain decimals and are parsed back to the same value', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 100_000_000_000 }), (amount) => {
        const body = buyBody(buy({ lamports: lamports(amount) }))
        expect(body).not.toMatch(/\d[eE]/)
        expect(solToLamports(JSON.parse(body).amount)).toBe(amount)
      }),
    )
  })

  test.each([
    [5, '5'],
    [0.1, '0.1'],
    [1e-9, '0.000000001'],
    [1e-10, '0'],
    [100, '100'],
    [12.5, '12.5'],
    [-0, '0'],
  ])('the number %d is written as %s in a request', (value, expected) => {
    expect(plainDecimal(value)).toBe(expected)
  })

  test.each<[bigint, number, string]>([
    [1n, 6, '0.000001'],
    [1_500_000n, 6, '1.5'],
    [10_000_000n, 6, '10'],
    [7n, 0, '7'],
    [70n, 0, '70'],
    [18_446_744_073_709_551_615n, 9, '18446744073.709551615'],
  ])('%d base units of a token with %d decimals are written as %s tokens', (tokens, decimals, expected) => {
    expect(tokenDecimal(tokens, decimals)).toBe(expected)
  })
})

test('messages to the stream are JSON with their documented fields', () => {
  expect(messages.authenticate('k"y')).toBe('{"method":"authenticate","apiKey":"k\\"y"}')
  expect(messages.subscribe(['trades', MINT])).toBe(`{"method":"subscribe","keys":["trades","${MINT}"]}`)
  expect(messages.unsubscribe(['trades'])).toBe('{"method":"unsubscribe","keys":["trades"]}')
  expect(messages.ping()).toBe('{"method":"ping"}')
})

test.each<[string, Partial<BuyRequest>, keyof typeof ERRORS | undefined]>([
  ['valid terms', {}, undefined],
  [
    'the smallest allowed values',
    { lamports: solToLamports(0.001), slippagePercent: 0.1, priorityFeeLamports: lamports(10_000) },
    undefined,
  ],
  [
    'the largest allowed values',
    { lamports: solToLamports(100), slippagePercent: 50, priorityFeeLamports: lamports(10_000_000) },
    undefined,
  ],
  ['an amount that is too small', { lamports: lamports(999_999) }, 'AMOUNT_RANGE'],
  ["more than the plan's maximum", { lamports: lamports(100_000_000_001) }, 'AMOUNT_RANGE'],
  ['a slippage of 0', { slippagePercent: 0 }, 'SLIPPAGE_RANGE'],
  ['a slippage of NaN', { slippagePercent: Number.NaN }, 'SLIPPAGE_RANGE'],
  ['too much slippage', { slippagePercent: 50.1 }, 'SLIPPAGE_RANGE'],
  ['a priority fee that is too small', { priorityFeeLamports: lamports(9_999) }, 'FEE_RANGE'],
  ['a priority fee that is too large', { priorityFeeLamports: lamports(10_000_001) }, 'FEE_RANGE'],
  ['a mint of 31 bytes', { mint: '1'.repeat(31) }, 'MINT_INVALID'],
  ['a mint of 64 bytes', { mint: signatureOf(1) }, 'MINT_INVALID'],
  ['an invalid wallet', { publicKey: 'me' }, 'INVALID_PARAMETERS'],
])('a buy with %s is checked before it is sent', (_name, more, code) => {
  expect(checkBuy(buy(more), solToLamports(100))?.code).toBe(code)
})

test.each<[string, Partial<SellRequest>, keyof typeof ERRORS | undefined]>([
  ['valid terms', {}, undefined],
  ["outside the buy's ranges", { slippagePercent: 99, priorityFeeLamports: lamports(1) }, undefined],
  ['a share of 0.01 %', { amount: { kind: 'percent', percent: 0.01 } }, undefined],
  ['a share of 0 %', { amount: { kind: 'percent', percent: 0 } }, 'AMOUNT_RANGE'],
  ['a share above 100 %', { amount: { kind: 'percent', percent: 100.01 } }, 'AMOUNT_RANGE'],
  ['a share with three decimals', { amount: { kind: 'percent', percent: 33.333 } }, 'AMOUNT_RANGE'],
  ['a number of 0 tokens', { amount: { kind: 'number', decimal: '0' } }, 'AMOUNT_RANGE'],
  ['zero slippage', { slippagePercent: 0 }, 'SLIPPAGE_RANGE'],
  ['a slippage above 100 %', { slippagePercent: 100.5 }, 'SLIPPAGE_RANGE'],
  ['an invalid mint', { mint: 'x' }, 'MINT_INVALID'],
])('a sale with %s is checked before it is sent', (_name, more, code) => {
  expect(checkSell(sell(more))?.code).toBe(code)
})

test.each<[string, Parameters<typeof sellAmountOf>[0], SellUnit, bigint | undefined, unknown]>([
  ['all tokens', { kind: 'all' }, 'unproved', undefined, { kind: 'all' }],
  ['a percentage', { kind: 'percent', percent: 50 }, 'unproved', undefined, { kind: 'percent', percent: 50 }],
  [
    'a percentage with too many decimals',
    { kind: 'percent', percent: 33.3399 },
    'base',
    9n,
    { kind: 'percent', percent: 33.33 },
  ],
  ['100 %', { kind: 'percent', percent: 100 }, 'base', 9n, { kind: 'all' }],
  [
    'tokens',
    { kind: 'tokens', tokens: 1_500_000n, decimals: 6 },
    'tokens',
    undefined,
    { kind: 'number', decimal: '1.5' },
  ],
  [
    'base units',
    { kind: 'tokens', tokens: 1_500_000n, decimals: 6 },
    'base',
    undefined,
    { kind: 'number', decimal: '1500000' },
  ],
  [
    'a number that is sent as a percentage while the unit is not proved',
    { kind: 'tokens', tokens: 1n, decimals: 6 },
    'unproved',
    3n,
    { kind: 'percent', percent: 33.33 },
  ],
  ['the exact balance', { kind: 'tokens', tokens: 3n, decimals: 6 }, 'base', 3n, { kind: 'all' }],
  ['a number above the balance', { kind: 'tokens', tokens: 4n, decimals: 6 }, 'tokens', 3n, { kind: 'all' }],
  [
    'a number while the unit and the balance are unknown',
    { kind: 'tokens', tokens: 4n, decimals: 6 },
    'unproved',
    undefined,
    expect.objectContaining({ code: 'BALANCE_UNKNOWN' }),
  ],
])('the amount of a sale in a request: %s', (_name, size, unit, holding, expected) => {
  expect(sellAmountOf(size, unit, holding)).toEqual(expected)
})

describe('addresses', () => {
  test('the paths of requests are appended to the base URL, which keeps its prefix', () => {
    expect(urlOf('https://h.example/api', 'buy')).toBe('https://h.example/api/trade/buy')
    expect(urlOf('https://h.example/api/', 'buildSell')).toBe('https://h.example/api/transaction/sell')
    expect(urlOf('https://h.example/api', 'tokenInfo', MINT)).toBe(`https://h.example/api/token/info/${MINT}`)
  })
  test('a request path with an invalid address throws', () => {
    expect(() => urlOf('https://h.example/api', 'portfolio', '../trade')).toThrow(RangeError)
  })
  test('the path of a request contains version 2 of its endpoint', () => {
    expect(join('https://h.example/api', { method: 'POST', path: '/trade/buy', version: 2 })).toBe(
      'https://h.example/api/v2/trade/buy',
    )
  })
})

describe('plans', () => {
  test.each([
    ['Standard', STANDARD],
    ['standard', STANDARD],
    [' PREMIUM ', PREMIUM],
  ])('the plan name "%s" of the service is recognized', (name, plan) => {
    expect(planOf(name)).toEqual({ plan, notice: '' })
  })
  test.each(['Enterprise', 'Gold', ''])(
    'the plan name "%s" at a reconnect keeps the known plan, with a notice',
    (name) => {
      expect(planOf(name, PREMIUM)).toEqual({ plan: PREMIUM, notice: expect.stringContaining('limits of Premium') })
    },
  )
  test.each(['Enterprise', 'Gold', ''])(
    'with the plan name "%s", Sluice uses the plan Standard, with a notice',
    (name) => {
      expect(planOf(name)).toEqual({ plan: STANDARD, notice: expect.stringContaining('limits of Standard') })
    },
  )
})
