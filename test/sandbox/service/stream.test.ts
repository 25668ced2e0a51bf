import { afterEach, describe, expect, test } from 'vitest'
import { namedAddress } from '../../../src/sandbox/keys.ts'
import { call, Listener, openRig, post, type Rig } from '../client.ts'
import { MINT } from '../still-market.ts'

const OTHER_MINT = namedAddress('other mint')

describe('stream', () => {
  let rig: Rig
  afterEach(() => rig.close())

  test('a client of the stream authenticates, subscribes, receives events and unsubscribes', async () => {
    rig = await openRig()
    const listener = await Listener.open(rig.wsUrl)
    listener.send({ method: 'authenticate', apiKey: rig.apiKeys.premium })
    expect(await listener.next('authenticated')).toEqual({
      type: 'authenticated',
      userId: 'user-premium',
      plan: 'Premium',
    })
    listener.send({ method: 'subscribe', keys: ['trades', 'newTokens', 'priceUpdates'] })
    expect(await listener.next('subscribed')).toEqual({
      type: 'subscribed',
      keys: ['trades', 'newTokens', 'priceUpdates'],
      timestamp: rig.clock.now(),
    })

    const trade = rig.still.trade('buy', 1_000_000_000n)
    rig.still.launch()
    rig.still.priceUpdate()
    expect(await listener.next('trade')).toEqual({
      type: 'trade',
      mint: MINT,
      signature: trade.signature,
      trader: trade.trader,
      amount: trade.sol,
      tokensTraded: trade.tokens,
      price: trade.price,
      marketCap: trade.marketCapSol,
      timestamp: rig.clock.now(),
      side: 'buy',
      slippage: 10,
      priorityFee: 0.0001,
    })
    expect(await listener.next('newToken')).toMatchObject({
      mint: MINT,
      symbol: 'STILL',
      initialLiquidity: 30,
      metadata: { description: 'd', twitter: '' },
    })
    expect(Object.keys(await listener.next('priceUpdate')).sort()).toEqual([
      'liquidityUsd',
      'marketCap',
      'mint',
      'price',
      'priceChange',
      'priceChange24h',
      'timestamp',
      'type',
      'volume24h',
    ])
    listener.send({ method: 'unsubscribe', keys: ['trades'] })
    await listener.settled()
    rig.still.trade('buy', 1_000_000n)
    rig.still.launch()
    await listener.next('newToken')
    expect(listener.of('trade')).toHaveLength(1)
    listener.close()
  })

  test('our own trade appears on the stream when it has landed', async () => {
    rig = await openRig()
    const listener = await Listener.on(rig, [MINT])
    const { signature } = (
      await post(rig, '/trade/buy', { publicKey: rig.wallet, mint: MINT, amount: 1, slippage: 20 })
    ).body
    rig.advance(6)
    expect(await listener.next('trade')).toMatchObject({ signature, trader: rig.wallet, side: 'buy', slippage: 20 })
    listener.close()
  })

  test.each<[what: string, message: unknown, code: string]>([
    ['subscribe before authenticate', { method: 'subscribe', keys: ['trades'] }, 'AUTHENTICATION_FAILED'],
    ['unsubscribe before authenticate', { method: 'unsubscribe', keys: ['trades'] }, 'AUTHENTICATION_FAILED'],
    ['a wrong API key', { method: 'authenticate', apiKey: 'standard-x' }, 'AUTHENTICATION_FAILED'],
    ['no API key', { method: 'authenticate' }, 'AUTHENTICATION_FAILED'],
    ['an API key that is not text', { method: 'authenticate', apiKey: { $ne: 1 } }, 'AUTHENTICATION_FAILED'],
    ['invalid JSON', '{', 'AUTHENTICATION_FAILED'],
  ])('before authentication, the stream answers %s (message %j) with %s', async (_what, message, code) => {
    rig = await openRig()
    const listener = await Listener.open(rig.wsUrl)
    listener.send(message)
    expect(await listener.next('error')).toEqual({
      type: 'error',
      code,
      message: expect.any(String),
      timestamp: rig.clock.now(),
    })
    listener.close()
  })

  test.each<[what: string, message: unknown]>([
    ['an invalid key among valid ones', { method: 'subscribe', keys: ['trades', 'trads', MINT] }],
    ['an invalid address', { method: 'subscribe', keys: [`${MINT}x`] }],
    ['no keys', { method: 'subscribe' }],
    ['an empty list', { method: 'subscribe', keys: [] }],
    ['keys that are not text', { method: 'subscribe', keys: [7] }],
    ['an unknown method', { method: 'trade' }],
    ['invalid JSON', 'hello'],
    ['the text null', 'null'],
  ])('the stream refuses %s (message %j) completely, and the answer names no key', async (_what, message) => {
    rig = await openRig()
    const listener = await Listener.on(rig, [])
    listener.send(message)
    const error = await listener.next('error')
    expect(error.code).toBe('SUBSCRIPTION_FAILED')
    expect(error.message).not.toContain('trads')
    rig.still.trade('buy', 1_000_000n)
    await listener.settled()
    expect(listener.of('trade')).toEqual([])
    listener.close()
  })

  test('the plan limits the messages per second to the stream, and a new second resets the count', async () => {
    rig = await openRig()
    const listener = await Listener.on(rig, [])
    for (let count = 0; count < 50; count++) listener.send({ method: 'ping' })
    expect((await listener.next('error')).code).toBe('RATE_LIMIT_EXCEEDED')
    expect(listener.of('pong')).toHaveLength(49)
    rig.clock.advanceTo(rig.clock.now() + 1_000)
    listener.send({ method: 'subscribe', keys: ['trades'] })
    await listener.next('subscribed')
    listener.close()
  })

  test('the plan limits the connections to the stream, and a closed connection makes room for another', async () => {
    rig = await openRig()
    const five = await Promise.all(Array.from({ length: 5 }, () => Listener.on(rig, [])))
    const sixth = await Listener.open(rig.wsUrl)
    sixth.send({ method: 'authenticate', apiKey: rig.apiKeys.standard })
    expect((await sixth.next('error')).code).toBe('CONNECTION_LIMIT')
    expect(await sixth.closed()).toBe(1013)
    const premium = await Listener.on(rig, [], rig.apiKeys.premium)
    five[0]!.socket.close()
    await five[0]!.closed()
    const seventh = await Listener.on(rig, [])
    for (const listener of [...five, premium, seventh]) listener.close()
  })

  test('authenticating twice on one connection counts once', async () => {
    rig = await openRig()
    const listener = await Listener.on(rig, [])
    for (let count = 0; count < 8; count++) {
      listener.send({ method: 'authenticate', apiKey: rig.apiKeys.standard })
      await listener.next('authenticated')
    }
    expect(listener.of('error')).toEqual([])
    listener.close()
  })

  test('the stream refuses compression and other paths', async () => {
    rig = await openRig()
    const listener = await Listener.on(rig, [])
    expect(listener.socket.extensions).toBe('')
    const astray = new Listener(rig.wsUrl.replace('/api/data', '/api/other'))
    await astray.closed()
    expect((await call(rig.baseUrl.replace('/api', '/api/data'))).status).toBe(401)
    listener.close()
  })

  test('the key of a mint delivers only events of this mint, and each event once, even if another key delivers it as well', async () => {
    rig = await openRig()
    const both = await Listener.on(rig, ['trades', MINT])
    const other = await Listener.on(rig, [OTHER_MINT])
    rig.still.trade('buy', 1_000_000n)
    await both.settled()
    await other.settled()
    expect([both.of('trade').length, other.of('trade').length]).toEqual([1, 0])
    both.close()
    other.close()
  })
})
