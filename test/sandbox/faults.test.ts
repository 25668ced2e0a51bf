import { afterEach, describe, expect, test } from 'vitest'
import { type Fault, Faults } from '../../src/sandbox/faults.ts'
import { type Answered, call, get, Listener, openRig, post, type Rig, rpc } from './client.ts'
import { MINT } from './still-market.ts'

test('a fault of the sandbox occurs the given number of times, only for its target, and with its probability', () => {
  const faults = new Faults(1)
  faults.set({ kind: 'delay', count: 2, target: '/trade/sell' })
  expect(faults.strike('delay', '/api/trade/buy')).toBeUndefined()
  expect([1, 2, 3].map(() => faults.strike('delay', '/api/trade/sell') !== undefined)).toEqual([true, true, false])
  const rolls = (seed: number): number => {
    const chancy = new Faults(seed)
    chancy.set({ kind: 'garbage', probability: 0.2, count: 1_000 })
    return Array.from({ length: 1_000 }, () => chancy.strike('garbage')).filter(Boolean).length
  }
  expect(rolls(1)).toBe(rolls(1))
  expect(rolls(1)).toBeGreaterThan(150)
  expect(rolls(1)).toBeLessThan(250)
})

describe('faults', () => {
  let rig: Rig
  afterEach(() => rig.close())

  const buy = (): Promise<Answered> => post(rig, '/trade/buy', { publicKey: rig.wallet, mint: MINT, amount: 0.1 })
  const landed = (): number => {
    rig.advance(8)
    return rig.ledger.transactionCount
  }

  test.each<[Fault, answer: number | 'lost', landed: number]>([
    [{ kind: 'dropBefore' }, 'lost', 0],
    [{ kind: 'dropAfter' }, 'lost', 1],
    [{ kind: 'rateLimit' }, 429, 0],
    [{ kind: 'planRefused' }, 403, 0],
    [{ kind: 'serverError' }, 500, 0],
    [{ kind: 'serverError', status: 502, executed: true }, 502, 1],
    [{ kind: 'notLanded' }, 200, 0],
    [{ kind: 'reverted' }, 200, 1],
    [{ kind: 'delay', target: '/trade/sell' }, 200, 1],
  ])('a buy during the fault %j has the expected status and number of executions', async (fault, answer, count) => {
    rig = await openRig()
    rig.faults.set(fault)
    const reply = await buy().catch(() => ({ status: 'lost' }))
    expect([reply.status, landed()]).toEqual([answer, count])
    if (fault.kind !== 'delay') expect((await buy()).status).toBe(200)
  })

  test('with the fault `reverted`, a trade costs only its fee', async () => {
    rig = await openRig()
    rig.faults.set({ kind: 'reverted' })
    const { signature } = (await buy()).body
    rig.advance(12)
    const { meta } = await rpc(rig, 'getTransaction', signature, {
      commitment: 'confirmed',
      maxSupportedTransactionVersion: 0,
    })
    expect(meta.err).not.toBeNull()
    expect(meta.preBalances[0] - meta.postBalances[0]).toBe(meta.fee)
  })

  test('the fault `delay` delays an answer for the given time', async () => {
    rig = await openRig()
    rig.faults.set({ kind: 'delay', ms: 5_000, target: '/trade/buy' })
    let answered = false
    const reply = buy().finally(() => (answered = true))
    while (rig.faults.active.length > 0) await rpc(rig, 'getHealth')
    expect(answered).toBe(false)
    rig.clock.advanceTo(rig.clock.now() + 5_000)
    expect((await reply).status).toBe(200)
  })

  test('the fault `fork` reverts a confirmed trade', async () => {
    rig = await openRig()
    rig.faults.set({ kind: 'fork', slots: 10 })
    const { signature } = (await buy()).body
    const states: string[] = []
    for (let slot = 0; slot < 30; slot++) {
      const state = (await rpc(rig, 'getSignatureStatuses', [signature])).value[0]?.confirmationStatus ?? 'nothing'
      if (states.at(-1) !== state) states.push(state)
      rig.advance(1)
    }
    expect(states).toEqual(['nothing', 'processed', 'nothing', 'processed', 'confirmed'])
  })

  test('no message arrives during a silence, and the stream continues afterwards', async () => {
    rig = await openRig()
    const listener = await Listener.on(rig, ['trades'])
    rig.faults.set({ kind: 'silence', ms: 10_000 })
    rig.still.trade('buy', 1_000_000n)
    listener.send({ method: 'ping' })
    await get(rig, '/portfolio/x')
    rig.clock.advanceTo(rig.clock.now() + 10_000)
    const heard = rig.still.trade('buy', 1_000_000n)
    expect((await listener.next('trade')).signature).toBe(heard.signature)
    listener.close()
  })

  test('faults can repeat and reorder events, and send random messages before them', async () => {
    rig = await openRig()
    const listener = await Listener.on(rig, ['trades'])
    rig.faults.set({ kind: 'duplicate' })
    const first = rig.still.trade('buy', 1_000_000n)
    rig.faults.set({ kind: 'reorder' })
    const second = rig.still.trade('buy', 1_000_000n)
    const third = rig.still.trade('buy', 1_000_000n)
    await listener.settled()
    expect(listener.of('trade').map(({ signature }) => signature)).toEqual(
      [first, first, third, second].map(({ signature }) => signature),
    )
    rig.faults.set({ kind: 'garbage', count: 16 })
    const before = listener.frames.length
    for (let count = 0; count < 16; count++) rig.still.trade('buy', 1_000_000n)
    await listener.settled()
    const frames = listener.frames.slice(before)
    expect(frames.filter((frame) => typeof frame !== 'string')).toHaveLength(1)
    expect(frames.some((frame) => frame.length > 10_000_000)).toBe(true)
    expect(frames).toHaveLength(33)
    listener.close()
  })

  test('faults can refuse or close a connection', async () => {
    rig = await openRig()
    const listener = await Listener.on(rig, ['trades'])
    rig.faults.set({ kind: 'disconnect' })
    await listener.closed()
    rig.faults.set({ kind: 'connectionLimit' })
    const refused = await Listener.open(rig.wsUrl)
    expect((await refused.next('error')).code).toBe('CONNECTION_LIMIT')
    await refused.closed()
    ;(await Listener.on(rig, ['trades'])).close()
  })

  test('a revoked key is refused everywhere, and its replacement belongs to the same customer', async () => {
    rig = await openRig()
    const old = rig.apiKeys.standard
    const listener = await Listener.on(rig, ['trades'])
    rig.faults.set({ kind: 'keyRevoked', plan: 'standard' })
    expect((await listener.next('error')).code).toBe('AUTHENTICATION_FAILED')
    await listener.closed()
    expect((await get(rig, `/token/info/${MINT}`, old)).status).toBe(401)
    expect(rig.apiKeys.standard).not.toBe(old)
    expect((await get(rig, `/token/info/${MINT}`)).status).toBe(200)
    const again = await Listener.on(rig, [])
    expect(again.of('authenticated')[0].userId).toBe('user-standard')
    again.close()
  })

  test('the RPC endpoint fails for the targeted method', async () => {
    rig = await openRig()
    rig.faults.set({ kind: 'rpcError', target: 'getSlot', status: 429 })
    expect(await rpc(rig, 'getHealth')).toBe('ok')
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getSlot' })
    expect((await call(rig.rpcUrl, { method: 'POST', body })).status).toBe(429)
  })

  test('the control endpoint sets, lists and clears faults, and reports invalid ones', async () => {
    rig = await openRig()
    const url = rig.baseUrl.replace('/api', '/sandbox/faults')
    const set = (body: string): Promise<Answered> => call(url, { method: 'POST', body })
    const two = [
      { kind: 'serverError', count: 3, target: '/trade/' },
      { kind: 'garbage', probability: 0.1, count: 5 },
    ]
    expect((await set(JSON.stringify(two))).body.active).toMatchObject(two)
    expect((await buy()).status).toBe(500)
    expect((await call(url)).body.active[0].count).toBe(2)
    expect((await call(url, { method: 'DELETE' })).body).toEqual({ active: [] })
    expect((await buy()).status).toBe(200)
    for (const wrong of ['{', '7', '{"kind":"toString"}', '{"kind":"delay","ms":"long"}'])
      expect((await set(wrong)).status).toBe(400)
    expect((await call(url.replace('faults', 'else'))).status).toBe(404)
  })
})
