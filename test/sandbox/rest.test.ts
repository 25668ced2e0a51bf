import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { namedAddress } from '../../src/sandbox/keys.ts'
import { type Answered, call, get, openRig, post, type Rig, rpc } from './client.ts'
import { MINT } from './still-market.ts'

const STRANGER = namedAddress('stranger')

describe('REST', () => {
  let rig: Rig
  beforeAll(async () => {
    rig = await openRig()
  })
  afterAll(() => rig.close())
  afterEach(() => rig.clock.advanceTo(rig.clock.now() + 60_001))

  const buy = (changes: object = {}): object => ({ publicKey: rig.wallet, mint: MINT, amount: 0.1, ...changes })

  test.each<[what: string, changes: object, status: number, code: string | undefined]>([
    ['a buy without optional values', {}, 200, undefined],
    [
      'a buy with every value at its lower limit',
      { amount: 0.001, slippage: 10, priorityFee: 0.00001 },
      200,
      undefined,
    ],
    ['a buy with every value at its upper limit', { amount: 1, slippage: 50, priorityFee: 0.01 }, 200, undefined],
    ['a buy with an amount that is too small', { amount: 0.0009 }, 400, 'INVALID_PARAMETERS'],
    ['a buy with a larger amount than the plan allows', { amount: 100.1 }, 400, 'INVALID_PARAMETERS'],
    ['a buy with an amount as text', { amount: '0.1' }, 400, 'INVALID_PARAMETERS'],
    ['a buy without an amount', { amount: undefined }, 400, 'INVALID_PARAMETERS'],
    ['a buy with a slippage that is too small', { slippage: 0.05 }, 400, 'INVALID_PARAMETERS'],
    ['a buy with a slippage that is too large', { slippage: 50.1 }, 400, 'INVALID_PARAMETERS'],
    ['a buy with a priority fee that is too small', { priorityFee: 0.000001 }, 400, 'INVALID_PARAMETERS'],
    ['a buy with a priority fee that is too large', { priorityFee: 0.02 }, 400, 'INVALID_PARAMETERS'],
    ['a buy with an invalid wallet', { publicKey: 'me' }, 400, 'INVALID_PARAMETERS'],
    ['a buy with a wallet of another account', { publicKey: STRANGER }, 400, 'INVALID_PARAMETERS'],
    ['a buy with an invalid mint', { mint: 'x' }, 400, 'INVALID_MINT'],
    ['a buy with an unknown mint', { mint: STRANGER }, 400, 'INVALID_MINT'],
    ['a buy with a larger amount than the balance', { amount: 50, slippage: 50 }, 400, 'INSUFFICIENT_BALANCE'],
    ['a buy with a price impact above the slippage', { amount: 5, slippage: 5 }, 400, 'SLIPPAGE_EXCEEDED'],
  ])('the sandbox answers %s as documented', async (_what, changes, status, code) => {
    const reply = await post(rig, '/trade/buy', buy(changes))
    expect([reply.status, reply.body.error?.code]).toEqual([status, code])
    if (status === 200) expect(reply.body.signature).toMatch(/^[1-9A-HJ-NP-Za-km-z]{86,88}$/)
  })

  test.each<[what: string, method: string, path: string, key: string | undefined, status: number]>([
    ['a request without a key', 'GET', '/portfolio/x', undefined, 401],
    ['a request with a wrong key', 'GET', '/portfolio/x', 'standard-wrong', 401],
    ['a request to an unknown path', 'GET', '/nothing', '', 404],
    ['a request with a wrong method', 'GET', '/trade/buy', '', 404],
    ['a request for a transaction without a body', 'POST', '/transaction/buy', '', 400],
    ['a request for a transaction without a body', 'POST', '/transaction/sell', '', 400],
    ['a request about an unknown token', 'GET', `/token/info/${STRANGER}`, '', 400],
    ['a request about an invalid wallet', 'GET', '/portfolio/x', '', 400],
  ])('the sandbox refuses %s: %s %s', async (_what, method, path, key, status) => {
    const authorization = `Bearer ${key === '' ? rig.apiKeys.premium : key}`
    const reply = await call(rig.baseUrl + path, {
      method,
      ...(key === undefined ? {} : { headers: { authorization } }),
    })
    expect(reply.status).toBe(status)
  })

  test.each(['', 'null', '[]', '{', '"x"', `{"amount":${'9'.repeat(400)}}`])(
    'the sandbox refuses an order with the body %s',
    async (body) => {
      expect((await post(rig, '/trade/buy', body)).status).toBe(400)
      expect((await post(rig, '/trade/sell', body)).status).toBe(400)
    },
  )

  test('the sandbox does not keep an endless body in memory', async () => {
    expect((await post(rig, '/trade/buy', `{"x":"${'y'.repeat(1_100_000)}"}`)).status).toBe(413)
  })

  test('the sandbox refuses a web page that reaches loopback under another host name', async () => {
    const { request } = await import('node:http')
    const status = await new Promise((resolve) => {
      request(`${rig.baseUrl}/portfolio/x`, { headers: { host: 'evil.example' } }, (response) =>
        resolve(response.statusCode),
      ).end()
    })
    expect(status).toBe(403)
  })

  test('the token info and the portfolio of the sandbox show the state of the chain', async () => {
    const { signature } = (await post(rig, '/trade/buy', buy())).body
    rig.advance(12)
    expect((await rpc(rig, 'getSignatureStatuses', [signature])).value[0]).toMatchObject({ err: null })
    expect((await get(rig, `/token/info/${MINT}`)).body).toMatchObject({
      mint: MINT,
      symbol: 'STILL',
      decimals: 6,
      supply: 1e9,
    })
    const { body } = await get(rig, `/portfolio/${rig.wallet}`)
    expect(body).toMatchObject({ publicKey: rig.wallet, tokens: [{ mint: MINT, decimals: 6 }] })
    expect(body.tokens[0].amount).toBeGreaterThan(1_000)
    expect((await get(rig, `/portfolio/${STRANGER}`)).body).toEqual({ publicKey: STRANGER, solBalance: 0, tokens: [] })
  })
})

describe('trades', () => {
  let rig: Rig
  afterEach(() => rig.close())

  const trade = async (path: string, body: object): Promise<Answered> =>
    (await post(rig, path, { publicKey: rig.wallet, mint: MINT, ...body })).body
  const land = async (signature: string): Promise<Answered> => {
    rig.advance(12)
    return rpc(rig, 'getTransaction', signature, {
      commitment: 'confirmed',
      maxSupportedTransactionVersion: 1,
      encoding: 'jsonParsed',
    })
  }
  const held = async (): Promise<bigint> => {
    const accounts = (
      await rpc(
        rig,
        'getTokenAccountsByOwner',
        rig.wallet,
        { mint: MINT },
        { encoding: 'jsonParsed', commitment: 'confirmed' },
      )
    ).value
    return BigInt(accounts[0]?.account.data.parsed.info.tokenAmount.amount ?? 0)
  }

  test('two equal requests to the sandbox are two trades, and each moves the price', async () => {
    rig = await openRig()
    const before = rig.still.token(MINT)!.curve.price
    const first = (await trade('/trade/buy', { amount: 1, slippage: 50 })).signature
    const second = (await trade('/trade/buy', { amount: 1, slippage: 50 })).signature
    expect(rig.still.token(MINT)!.curve.price).toBe(before)
    const records = [await land(first), await land(second)].sort((a, b) => a.slot - b.slot)
    const bought = records.map(
      ({ meta }) =>
        BigInt(meta.postTokenBalances[0].uiTokenAmount.amount) -
        BigInt(
          meta.preTokenBalances.find((balance: Answered) => balance.owner === rig.wallet)?.uiTokenAmount.amount ?? 0,
        ),
    )
    expect(bought[1]).toBeLessThan(bought[0]!)
    expect(await held()).toBe(bought[0]! + bought[1]!)
    expect(rig.still.token(MINT)!.curve.price).toBeGreaterThan(before)
  })

  test('a buy on the sandbox costs its amount, the fees and the rent, and all lamports add up', async () => {
    rig = await openRig()
    const { meta, transaction } = await land((await trade('/trade/buy', { amount: 0.5, priorityFee: 0.001 })).signature)
    expect(transaction.message.accountKeys[0]).toMatchObject({ pubkey: rig.wallet, signer: true })
    const spent = meta.preBalances[0] - meta.postBalances[0]
    expect(meta.fee).toBe(5_000 + 1_000_000)
    const service = Math.ceil(500_000_000 * 0.005)
    expect(spent).toBeGreaterThan(499_999_990 + service + meta.fee + 2_039_280 - 10)
    expect(spent).toBeLessThanOrEqual(500_000_000 + service + meta.fee + 2_039_280)
    const sum = (balances: number[]): number => balances.reduce((a, b) => a + b)
    expect(sum(meta.preBalances) - sum(meta.postBalances)).toBe(meta.fee)
  })

  test.each<[what: string, body: object, sold: (all: bigint) => bigint]>([
    ['a sale of everything', { amount: '100%', sellAll: true }, (all) => all],
    ['a sale of 100 %', { amount: '100%' }, (all) => all],
    ['a sale of a quarter of the balance', { amount: '25%' }, (all) => all / 4n],
    ['a sale of a number of whole tokens', { amount: 1000.5 }, () => 1_000_500_000n],
  ])('%s on the sandbox sells that amount', async (_what, body, sold) => {
    rig = await openRig()
    await land((await trade('/trade/buy', { amount: 0.5 })).signature)
    const all = await held()
    const { meta } = await land((await trade('/trade/sell', { slippage: 20, ...body })).signature)
    expect(meta.err).toBeNull()
    expect(await held()).toBe(all - sold(all))
    expect(meta.postBalances[0]).toBeGreaterThan(meta.preBalances[0] - 200_000)
  })

  test.each<[what: string, body: object, code: string]>([
    ['a sale without a balance', { amount: '100%', sellAll: true }, 'INSUFFICIENT_BALANCE'],
    ['a sale of more than the balance', { amount: 5 }, 'INSUFFICIENT_BALANCE'],
    ['a sale of 101 %', { amount: '101%' }, 'INVALID_PARAMETERS'],
    ['a sale of 0 %', { amount: '0%' }, 'INVALID_PARAMETERS'],
    ['a sale of a negative number', { amount: -1 }, 'INVALID_PARAMETERS'],
    ['a sale without an amount', { sellAll: true }, 'INVALID_PARAMETERS'],
    ['a sale with an invalid sellAll', { amount: 1, sellAll: 'yes' }, 'INVALID_PARAMETERS'],
  ])('the sandbox refuses %s', async (_what, body, code) => {
    rig = await openRig()
    expect((await trade('/trade/sell', body)).error.code).toBe(code)
  })

  test('the chain refuses a second full sale', async () => {
    rig = await openRig()
    await land((await trade('/trade/buy', { amount: 0.5 })).signature)
    rig.still.trade('buy', 3_000_000_000n) // without this the pool could not pay twice
    const first = (await trade('/trade/sell', { amount: '100%', sellAll: true })).signature
    const second = (await trade('/trade/sell', { amount: '100%', sellAll: true })).signature
    const errors = [(await land(first)).meta.err, (await land(second)).meta.err]
    expect(errors).toContainEqual(null)
    expect(errors).toContainEqual({ InstructionError: [2, { Custom: 1 }] })
    expect(await held()).toBe(0n)
  })

  test('if the price moves too far before landing, the trade reverts and costs its fees', async () => {
    rig = await openRig()
    const { signature } = await trade('/trade/buy', { amount: 0.5, slippage: 2 })
    rig.still.trade('buy', 3_000_000_000n)
    const { meta } = await land(signature)
    expect(meta.err).toEqual({ InstructionError: [3, { Custom: 6042 }] })
    expect(meta.preBalances[0] - meta.postBalances[0]).toBe(meta.fee)
    const sale = await land((await trade('/trade/buy', { amount: 0.5 })).signature)
    expect(sale.meta.err).toBeNull()
    const { signature: falling } = await trade('/trade/sell', { amount: '100%', slippage: 3 })
    rig.still.trade('sell', 50_000_000_000_000n)
    expect((await land(falling)).meta.err).toEqual({ InstructionError: [2, { Custom: 6003 }] })
  })
})
