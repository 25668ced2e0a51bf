import { describe, expect, test } from 'vitest'
import { type Dialect, dialectOf, dialectQuestions } from '../../src/sandbox/dialect.ts'
import { SOL_USD } from '../../src/sandbox/market/market.ts'
import { type Answered, get, Listener, openRig, post, type Rig, rpc } from './client.ts'
import { MINT } from './still-market.ts'

test('dialect 0 of the protocol is the plain one, a seed always gives the same dialect, and every possible answer occurs', () => {
  for (const [question, variants] of Object.entries(dialectQuestions)) {
    expect(dialectOf(0)[question as keyof Dialect]).toBe(variants[0])
    const drawn = new Set(Array.from({ length: 200 }, (_none, seed) => dialectOf(seed)[question as keyof Dialect]))
    expect([...drawn].sort()).toEqual([...new Set(variants)].sort())
  }
  expect(dialectOf(17)).toEqual(dialectOf(17))
  expect(new Set(Array.from({ length: 20 }, (_none, seed) => JSON.stringify(dialectOf(seed)))).size).toBe(20)
})

/** Runs `look` on a sandbox with this variant of the protocol, and closes the sandbox. */
async function under<T>(dialect: Partial<Dialect>, look: (rig: Rig) => Promise<T>): Promise<T> {
  const rig = await openRig({ dialect })
  try {
    return await look(rig)
  } finally {
    await rig.close()
  }
}

const buy = (rig: Rig, changes: object = {}): Promise<Answered> =>
  post(rig, '/trade/buy', { publicKey: rig.wallet, mint: MINT, amount: 0.1, ...changes })

describe('answers', () => {
  test.each<[Partial<Dialect>, path: string[]]>([
    [{}, ['signature']],
    [{ signatureField: 'txid' }, ['txid']],
    [{ signatureField: 'hash', signatureNesting: 'data' }, ['data', 'hash']],
    [{ signatureNesting: 'data.transaction' }, ['data', 'transaction', 'signature']],
  ])('the dialect %j determines where an answer has the signature', async (dialect, path) => {
    const body = await under(dialect, async (rig) => (await buy(rig)).body)
    expect(path.reduce<Answered>((value, name) => value[name], body)).toMatch(/^\w{86,88}$/)
  })

  test.each<[Partial<Dialect>, status: number, body: object]>([
    [{}, 400, { error: { code: 'INVALID_MINT' } }],
    [{ errorBody: 'flat' }, 400, { code: 'INVALID_MINT' }],
    [{ errorBody: 'named', errorStatus: 'ok' }, 200, { success: false, error: 'INVALID_MINT' }],
    [{ errorBody: 'list', errorStatus: 'specific' }, 404, { errors: [{ code: 'INVALID_MINT' }] }],
    [{ errorBody: 'problem' }, 400, { status: 400, code: 'INVALID_MINT' }],
  ])('the dialect %j determines the body of an error', async (dialect, status, body) => {
    const reply = await under(dialect, (rig) => buy(rig, { mint: 'x' }))
    expect(reply.status).toBe(status)
    expect(reply.body).toMatchObject(body)
  })

  test.each<[keyof Dialect & ('errorStatus' | 'errorBody')]>([['errorStatus'], ['errorBody']])(
    'the documented HTTP statuses are the same for every value of %s',
    async (question) => {
      for (const variant of dialectQuestions[question]!) {
        await under({ [question]: variant }, async (rig) => {
          expect((await buy(rig, { amount: 0 })).status).toBe(400)
          expect((await get(rig, '/portfolio/x', 'none')).status).toBe(401)
          rig.faults.set({ kind: 'rateLimit' })
          expect((await buy(rig)).status).toBe(429)
        })
      }
    },
  )

  test('in some dialects, undocumented error codes are missing', async () => {
    expect((await under({ unlistedCode: 'none' }, (rig) => buy(rig, { amount: 0 }))).body).toEqual({
      error: { message: expect.any(String) },
    })
  })

  test('in some dialects, headers contain the request limit', async () => {
    const reply = await under({ limitHeaders: 'rateLimit' }, (rig) => {
      rig.faults.set({ kind: 'rateLimit' })
      return buy(rig)
    })
    expect(reply.headers.get('x-ratelimit-limit')).toBe('100')
  })

  test('in some dialects, the data of an answer is in the field `data`', async () => {
    await under({ records: 'wrapped' }, async (rig) => {
      expect((await get(rig, `/token/info/${MINT}`)).body.data.address).toBe(MINT)
      expect((await get(rig, `/portfolio/${rig.wallet}`)).body.data.wallet).toBe(rig.wallet)
    })
  })
})

describe('units', () => {
  test.each<[Partial<Dialect>, trade: number, update: number, launch: number]>([
    [{}, 1, 1, 1],
    [{ tradePrice: 'usd' }, SOL_USD, 1, 1],
    [{ updatePrice: 'usd' }, 1, SOL_USD, 1],
    [{ launchValue: 'usd', tradePrice: 'usd' }, SOL_USD, 1, SOL_USD],
  ])('the dialect %j determines the units of prices', async (dialect, tradeRate, updateRate, launchRate) => {
    await under(dialect, async (rig) => {
      const listener = await Listener.on(rig, ['trades', 'newTokens', 'priceUpdates'])
      const trade = rig.still.trade('buy', 1_000_000_000n)
      const update = rig.still.priceUpdate()
      const launch = rig.still.launch()
      expect(await listener.next('trade')).toMatchObject({
        price: trade.price * tradeRate,
        marketCap: trade.marketCapSol * tradeRate,
        amount: trade.sol,
        tokensTraded: trade.tokens,
      })
      expect(await listener.next('priceUpdate')).toMatchObject({
        price: update.price * updateRate,
        liquidityUsd: update.liquiditySol * SOL_USD,
      })
      expect(await listener.next('newToken')).toMatchObject({ initialLiquidity: launch.liquiditySol * launchRate })
    })
  })

  test.each<[Dialect['sellNumber'], number]>([
    ['tokens', 1_000],
    ['baseUnits', 1_000_000_000],
  ])('in the dialect with sales in %s, a sale by number sells that number', async (sellNumber, amount) => {
    await under({ sellNumber }, async (rig) => {
      await buy(rig)
      rig.advance(12)
      const { signature } = (await post(rig, '/trade/sell', { publicKey: rig.wallet, mint: MINT, amount })).body
      rig.advance(12)
      const { meta } = await rpc(rig, 'getTransaction', signature, {
        commitment: 'confirmed',
        maxSupportedTransactionVersion: 0,
      })
      const [pre, post_] = [meta.preTokenBalances, meta.postTokenBalances].map((list) =>
        BigInt(list.find((one: Answered) => one.owner === rig.wallet).uiTokenAmount.amount),
      )
      expect(pre! - post_!).toBe(1_000_000_000n)
    })
  })
})

describe('trades', () => {
  const run = (
    dialect: Partial<Dialect>,
    changes: object,
    meanwhile: (rig: Rig) => void = () => {},
  ): Promise<Answered> => {
    return under(dialect, async (rig) => {
      const { body } = await buy(rig, changes)
      if (!body.signature) return body
      meanwhile(rig)
      rig.advance(12)
      return rpc(rig, 'getTransaction', body.signature, { commitment: 'confirmed', maxSupportedTransactionVersion: 0 })
    })
  }
  const spent = ({ meta }: Answered): number => meta.preBalances[0] - meta.postBalances[0] - meta.fee - 2_039_280

  test('in some dialects, only the chain checks the slippage', async () => {
    expect((await run({ slippage: 'build' }, { amount: 5, slippage: 1 })).error.code).toBe('SLIPPAGE_EXCEEDED')
    expect((await run({ slippage: 'chain' }, { amount: 5, slippage: 1 })).meta.err).toBeNull()
    const reverted = await run({ slippage: 'chain', buyExact: 'out' }, { amount: 1, slippage: 1 }, (rig) =>
      rig.still.trade('buy', 2_000_000_000n),
    )
    expect(reverted.meta.err).toEqual({ InstructionError: [3, { Custom: 6002 }] })
  })

  test('in some dialects, a buy of an exact number of tokens may cost more, up to its slippage', async () => {
    const rise = (rig: Rig): unknown => rig.still.trade('buy', 500_000_000n)
    expect(spent(await run({ serviceFeeBps: 0 }, { amount: 1, slippage: 20 }, rise))).toBeLessThanOrEqual(1_000_000_000)
    expect(spent(await run({ serviceFeeBps: 0, buyExact: 'out' }, { amount: 1, slippage: 20 }, rise))).toBeGreaterThan(
      1_010_000_000,
    )
  })

  test('in some dialects, the service adds a fee to the cost', async () => {
    expect(spent(await run({ serviceFeeBps: 100 }, {})) - spent(await run({ serviceFeeBps: 0 }, {}))).toBe(1_000_000)
  })

  test('in some dialects, a full sale closes the token account', async () => {
    await under({ closesAccount: 'yes' }, async (rig) => {
      await buy(rig)
      rig.advance(12)
      const { signature } = (
        await post(rig, '/trade/sell', { publicKey: rig.wallet, mint: MINT, amount: '100%', sellAll: true })
      ).body
      rig.advance(12)
      const { meta } = await rpc(rig, 'getTransaction', signature, {
        commitment: 'confirmed',
        maxSupportedTransactionVersion: 0,
      })
      expect(meta.postTokenBalances.some((one: Answered) => one.owner === rig.wallet)).toBe(false)
      expect(
        (await rpc(rig, 'getTokenAccountsByOwner', rig.wallet, { mint: MINT }, { commitment: 'confirmed' })).value,
      ).toEqual([])
    })
  })
})

describe('stream', () => {
  test.each<[Dialect['mintKey'], trades: number, updates: number]>([
    ['both', 1, 1],
    ['trades', 1, 0],
    ['updates', 0, 1],
    ['nothing', 0, 0],
  ])('in the dialect with `mintKey: %s`, a mint key delivers the expected events', async (mintKey, trades, updates) => {
    await under({ mintKey }, async (rig) => {
      const listener = await Listener.on(rig, [MINT])
      rig.still.trade('buy', 1_000_000n)
      rig.still.priceUpdate()
      await listener.settled()
      expect([listener.of('trade').length, listener.of('priceUpdate').length]).toEqual([trades, updates])
    })
  })

  test('in some dialects, an event that two keys cover is sent twice', async () => {
    await under({ overlap: 'twice' }, async (rig) => {
      const listener = await Listener.on(rig, ['trades', MINT])
      rig.still.trade('buy', 1_000_000n)
      await listener.settled()
      expect(listener.of('trade')).toHaveLength(2)
    })
  })

  test('in some dialects, `subscribed` lists all keys, and `unsubscribe` has an answer', async () => {
    await under({ subscribedKeys: 'all', unsubscribeReply: 'unsubscribed' }, async (rig) => {
      const listener = await Listener.on(rig, ['trades'])
      listener.send({ method: 'subscribe', keys: [MINT] })
      expect((await listener.next('subscribed')).keys).toEqual(['trades', MINT])
      listener.send({ method: 'unsubscribe', keys: ['trades'] })
      expect((await listener.next('unsubscribed')).keys).toEqual(['trades'])
    })
    await under({ unsubscribeReply: 'subscribed' }, async (rig) => {
      const listener = await Listener.on(rig, ['trades', MINT])
      listener.send({ method: 'unsubscribe', keys: ['trades'] })
      expect((await listener.next('subscribed')).keys).toEqual([MINT])
    })
  })

  test('in some dialects, a failed authentication closes the connection', async () => {
    await under({ authenticationFailure: 'close' }, async (rig) => {
      const listener = await Listener.open(rig.wsUrl)
      listener.send({ method: 'authenticate', apiKey: 'x' })
      expect((await listener.next('error')).code).toBe('AUTHENTICATION_FAILED')
      expect(await listener.closed()).toBe(1008)
    })
  })

  test('in some dialects, the message limit counts the messages to the client', async () => {
    await under({ messageLimit: 'outbound' }, async (rig) => {
      const listener = await Listener.on(rig, ['trades'])
      for (let count = 0; count < 80; count++) rig.still.trade('buy', 1_000_000n)
      await listener.settled()
      expect(listener.of('trade')).toHaveLength(50)
      expect(listener.of('error').map(({ code }) => code)).toEqual(['RATE_LIMIT_EXCEEDED'])
    })
  })

  test.each<[Dialect['planName'], string]>([
    ['Standard', 'Standard'],
    ['standard', 'standard'],
    ['STANDARD', 'STANDARD'],
  ])('in some dialects, the name of the plan is written as %s', async (planName, written) => {
    await under({ planName }, async (rig) => {
      const listener = await Listener.on(rig, [])
      expect(listener.of('authenticated')[0].plan).toBe(written)
    })
  })

  test('in some dialects, messages have undocumented fields and types', async () => {
    await under({ extras: 'both' }, async (rig) => {
      const listener = await Listener.on(rig, ['trades'])
      for (let count = 0; count < 500; count++) rig.still.trade('buy', 1_000n)
      await listener.settled()
      expect(listener.of('trade')).toHaveLength(500)
      expect(listener.of('trade')[0]).toMatchObject({ slot: expect.any(Number), pool: { kind: 'curve' } })
      expect(listener.of('migration').length).toBeGreaterThan(0)
    })
  })
})
