import { describe, expect, test } from 'vitest'
import { solToLamports } from '../../../../src/base/units.ts'
import type { AskedTrade } from '../../../../src/orders/trade-request.ts'
import { buyBody, readRequest, sellBody } from '../../../../src/venues/token-service/wire/requests.ts'

const publicKey = 'GgBaCs3NCBuZN12kCJgAW63ydqohFkHEdfdEXBPzLHq'
const mint = '7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU'
const terms = { wallet: publicKey, mint, slippagePercent: 10, priorityFeeLamports: null }

describe('a body that contains the side of the order is parsed', () => {
  test.each<[object, Partial<AskedTrade>]>([
    [
      { side: 'buy', amount: 0.1 },
      { side: 'buy', lamports: solToLamports(0.1) },
    ],
    [
      { side: 'buy', amount: 1, slippage: 0.5, priorityFee: 0.001 },
      { slippagePercent: 0.5, priorityFeeLamports: solToLamports(0.001) },
    ],
    [
      { side: 'sell', amount: '100%' },
      { side: 'sell', amount: { kind: 'all' } },
    ],
    [{ side: 'sell', amount: '12.5%' }, { amount: { kind: 'percent', percent: 12.5 } }],
    [{ side: 'sell', amount: '50%', sellAll: true }, { amount: { kind: 'all' } }],
    [{ side: 'sell', amount: 1.5 }, { amount: { kind: 'number', decimal: '1.5' } }],
    [{ side: 'sell', sellAll: true }, { amount: { kind: 'all' } }],
  ])('the reader of requests parses the body %j', (body, asked) => {
    expect(readRequest(JSON.stringify({ publicKey, mint, ...body }))).toMatchObject({
      ok: true,
      asked: { ...terms, ...asked },
    })
  })
})

test('the reader of requests parses the requests that Sluice itself sends', () => {
  const common = { publicKey, mint, slippagePercent: 7.5, priorityFeeLamports: solToLamports(0.0001) }
  const withSide = (side: string, body: string) => JSON.stringify({ ...JSON.parse(body), side })
  const { publicKey: wallet, ...rest } = common
  expect(readRequest(withSide('buy', buyBody({ ...common, lamports: solToLamports(0.123456789) })))).toEqual({
    ok: true,
    asked: { ...rest, wallet, side: 'buy', lamports: solToLamports(0.123456789) },
  })
  const amount = { kind: 'percent', percent: 33.33 } as const
  expect(readRequest(withSide('sell', sellBody({ ...common, amount })))).toEqual({
    ok: true,
    asked: { ...rest, wallet, side: 'sell', amount },
  })
})

describe('any other text is rejected with a reason', () => {
  test.each<[unknown, RegExp]>([
    ['{', /no JSON$/],
    [[], /no JSON object/],
    [{ amount: 1 }, /side/],
    [{ side: 'buy', amount: 1, publicKey: 'x' }, /publicKey/],
    [{ side: 'buy', amount: 1, mint: 'x' }, /mint/],
    [{ side: 'buy', amount: '1' }, /amount/],
    [{ side: 'buy', amount: 0 }, /amount/],
    [{ side: 'buy', amount: 1, sellAll: false }, /sellAll/],
    [{ side: 'buy', amount: 1, slippage: 0 }, /slippage/],
    [{ side: 'buy', amount: 1, priorityFee: 'auto' }, /priorityFee/],
    [{ side: 'buy', amount: 1, slipage: 3 }, /"slipage"/],
    [{ side: 'sell', amount: '0%' }, /amount/],
    [{ side: 'sell', amount: '101%' }, /amount/],
    [{ side: 'sell' }, /amount/],
    [{ side: 'sell', amount: 1, sellAll: 'yes' }, /sellAll/],
  ])('the reader of requests rejects the body %j with a reason', (body, says) => {
    const isBody = typeof body === 'object' && !Array.isArray(body)
    const text = typeof body === 'string' ? body : JSON.stringify(isBody ? { publicKey, mint, ...body } : body)
    const read = readRequest(text)
    expect(read.ok ? 'fine' : read.problem).toMatch(says)
  })
})
