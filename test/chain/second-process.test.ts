import { describe, expect, test } from 'vitest'
import { signatureOf } from './landed.ts'
import { MINT, STRANGER, WALLET, WalletRig } from './wallet-rig.ts'

/**
 * `rig.trade()` makes a trade with the wallet as the service does, but not for an order of this process. To this
 * process, it looks like a trade of a second process.
 */
const open = (): Promise<WalletRig> => new WalletRig().ready()
const MINUTE_SLOTS = 150

describe('a buy that another process makes with our wallet', () => {
  test('a foreign buy of a token that we have just bought is reported within seconds, long before it is final', async () => {
    const rig = await open()
    const one = rig.buy()
    rig.send(one).acked(rig.trade())
    const theirs = rig.trade('buy', {}, 4)
    await rig.pass(5_000)
    expect(rig.kinds(one)).toBe('acked filled?')
    expect(rig.foreign).toEqual([{ signature: theirs, lamports: expect.any(Number), attemptId: one.id }])
    await rig.slots(120)
    expect(rig.late.map(({ fill, code }) => [fill.signature, code])).toEqual([[theirs, 'SERVICE_DUPLICATE']])
    expect(rig.foreign).toHaveLength(1)
  })
  test('if two executions land before our answer, one of them is reported as foreign', async () => {
    const rig = await open()
    const one = rig.buy()
    const resolution = rig.send(one)
    resolution.doubt('no answer within 10 s')
    const theirs = rig.trade()
    await rig.pass(3_000)
    expect(rig.kinds(one)).toBe('unknown filled?')
    resolution.acked(rig.trade())
    await rig.pass(4_000)
    expect(rig.foreign).toMatchObject([{ signature: theirs, attemptId: one.id }])
  })
  test('a foreign buy is reported after our own buy failed', async () => {
    const rig = await open()
    const one = rig.buy()
    rig.send(one).acked(rig.trade('buy', { fails: true }))
    const theirs = rig.trade('buy', {}, 4)
    await rig.pass(5_000)
    expect(rig.foreign).toMatchObject([{ signature: theirs, attemptId: one.id }])
  })
  test('a foreign buy is reported after our order was refused', async () => {
    const rig = await open()
    const one = rig.buy()
    rig.send(one).refused({ kind: 'refused', code: 'SLIPPAGE_EXCEEDED', retry: 'climb' } as never)
    const theirs = rig.trade()
    rig.wallet.hint(MINT, theirs)
    await rig.pass(4_000)
    expect(rig.foreign).toMatchObject([{ signature: theirs, attemptId: one.id }])
  })
  test('a buy of a token that we did not order is reported once, after the feed showed it', async () => {
    const rig = await open()
    const theirs = rig.trade()
    rig.wallet.hint(MINT, theirs)
    await rig.pass(4_000)
    expect(rig.foreign).toEqual([{ signature: theirs, lamports: expect.any(Number) }])
    await rig.slots(120)
    expect(rig.foreign).toHaveLength(1)
    expect(rig.classes()[theirs]).toBe('foreign')
  })
  test('a trade on the feed that is not on the chain is ignored', async () => {
    const rig = await open()
    rig.wallet.hint(MINT, signatureOf(77))
    rig.transfer(STRANGER, WALLET, 0.01)
    await rig.pass(10_000)
    expect(rig.foreign).toEqual([])
  })
})

describe('transactions before the first order', () => {
  test.each([
    [
      'a trade of our wallet one minute before the start is reported, because another process may use the wallet',
      'trade',
      1,
      1,
    ],
    ['a trade of our wallet three minutes before the start is not reported', 'trade', 3, 0],
    ['a transfer of SOL before the start is not reported', 'transfer', 1, 0],
  ] as const)('%s', async (_what, did, minutes, told) => {
    const rig = new WalletRig()
    if (did === 'trade') rig.trade()
    else rig.transfer(WALLET, STRANGER, 1)
    await rig.slots(minutes * MINUTE_SLOTS)
    await rig.ready()
    expect(rig.foreign).toHaveLength(told)
    expect(rig.gate).toEqual([true])
  })
  test('no buy is allowed until the newest transactions of the wallet are read', async () => {
    const rig = new WalletRig()
    let isIll = true
    rig.faults = [
      (method, params, honest) => {
        const { commitment } = (params[1] ?? {}) as { commitment?: string }
        if (isIll && method === 'getSignaturesForAddress' && commitment === 'confirmed') throw -32_000
        return honest()
      },
    ]
    await rig.ready()
    expect([rig.gate, rig.wallet.baseline()]).toEqual([[], expect.anything()])
    isIll = false
    await rig.pass(2_000)
    expect(rig.gate).toEqual([true])
  })
})

describe('the first buy after a start', () => {
  test('no other buy may be open until a second after the transaction of the first buy was seen', async () => {
    const rig = await open()
    expect(rig.isSingle).toBe(true)
    await rig.pass(60_000)
    expect(rig.isSingle).toBe(true)
    rig.send(rig.buy()).acked(rig.trade())
    await rig.pass(800)
    expect(rig.isSingle).toBe(true)
    await rig.pass(5_000)
    expect(rig.isSingle).toBe(false)
  })
  test('no other buy may be open for 10 s if the transaction of the first buy is not seen, even if its answer is lost', async () => {
    const rig = await open()
    rig.lose(rig.buy())
    await rig.pass(9_000)
    expect(rig.isSingle).toBe(true)
    await rig.pass(4_000)
    expect(rig.isSingle).toBe(false)
  })
})
