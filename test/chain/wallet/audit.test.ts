import { describe, expect, test } from 'vitest'
import { MINT, STRANGER, WALLET, WalletRig } from '../wallet-rig.ts'

const open = (): Promise<WalletRig> => new WalletRig().ready()

test('the first audit begins at the present and classifies no earlier transaction', async () => {
  const rig = new WalletRig()
  rig.transfer(WALLET, STRANGER, 1)
  await rig.slots(60)
  await rig.ready()
  expect(rig.gate).toEqual([true])
  expect(rig.foreign).toEqual([])
  expect(rig.wallet.baseline()?.slot).toBeLessThanOrEqual(rig.ledger.head('finalized').slot)
})

test('every transaction is classified once, and the balance is the sum of all their changes', async () => {
  const rig = await open()
  const signatures = [
    rig.transfer(STRANGER, WALLET, 0.1),
    rig.transfer(WALLET, STRANGER, 0.001, 8),
    rig.transfer(WALLET, STRANGER, 1, 20),
    rig.trade('buy', {}, 90),
  ]
  await rig.slots(300)
  expect(signatures.map((signature) => rig.classes()[signature])).toEqual([
    'inflow',
    'housekeeping',
    'foreign',
    'foreign',
  ])
  expect(rig.foreign.map(({ signature }) => signature)).toEqual([signatures[2], signatures[3]])
  const { cursor, transactions } = rig.past()
  expect(cursor?.lamports).toBe(rig.ledger.account(WALLET, 'finalized')?.lamports)
  expect(transactions.reduce((sum, { lamports }) => sum + lamports, 10_000_000_000)).toBe(cursor?.lamports)
  expect(transactions.find(({ signature }) => signature === signatures[1])?.lamports).toBe(-1_005_000)
  const reads = rig.calls.filter(([method]) => method === 'getTransaction').map(([, [signature]]) => signature)
  expect(new Set(reads).size).toBe(reads.length)
})

test('a new process continues after the last audited transaction and classifies no transaction again', async () => {
  const rig = await open()
  rig.transfer(STRANGER, WALLET, 0.1)
  rig.transfer(WALLET, STRANGER, 1, 20)
  await rig.slots(200)
  rig.calls.length = 0
  await rig.crash()
  await rig.slots(100)
  expect(rig.foreign).toHaveLength(1)
  expect(rig.calls.filter(([method]) => method === 'getTransaction')).toEqual([])
})

test('an audit reads in a fixed order, and no reading shows an older Solana slot than the reading before it', async () => {
  const rig = await open()
  rig.calls.length = 0
  await rig.slots(80)
  const names = rig.calls.map(([method]) => method)
  expect(names.slice(0, 3)).toEqual(['getEpochInfo', 'getBalance', 'getSignaturesForAddress'])
  const slots = rig.calls.slice(0, 3).map(([, params]) => (params.at(-1) as { minContextSlot: number }).minContextSlot)
  expect(slots).toEqual([...slots].sort((a, b) => a - b))
  for (const [, params] of rig.calls.slice(0, 3)) expect(params.at(-1)).toMatchObject({ commitment: 'finalized' })
})

test('the wallet is read every 30 s, and sooner if an order becomes unknown', async () => {
  const rig = await open()
  const passes = (): number => rig.calls.filter(([method]) => method === 'getBalance').length
  rig.calls.length = 0
  await rig.pass(90_000)
  expect(passes()).toBe(3)
  rig.lose(rig.buy())
  await rig.pass(100)
  expect(passes()).toBe(4)
})

test('the transactions of many small transfers are read in several steps', async () => {
  const rig = await open()
  for (let index = 0; index < 450; index++) rig.transfer(STRANGER, WALLET, 1e-9, 1 + (index % 20))
  await rig.slots(300)
  expect(Object.values(rig.classes()).filter((one) => one === 'inflow')).toHaveLength(450)
  expect(rig.past().cursor?.lamports).toBe(10_000_000_450)
})

describe('whether the wallet allows buys', () => {
  test('no buy is allowed while no RPC answers, and buys are allowed once one answers', async () => {
    const rig = new WalletRig()
    rig.faults = [
      () => {
        throw 1
      },
    ]
    await rig.ready()
    await rig.pass(60_000)
    expect(rig.gate).toEqual([])
    expect(rig.notices.join()).toContain('the transactions of the wallet cannot be read')
    rig.faults = []
    await rig.pass(61_000)
    expect(rig.gate).toEqual([true])
  })
  test('when no RPC has answered for three minutes, no buy is allowed', async () => {
    const rig = await open()
    rig.faults = [
      () => {
        throw 1
      },
    ]
    await rig.pass(150_000)
    expect(rig.gate).toEqual([true])
    await rig.pass(60_000)
    expect(rig.gate).toEqual([true, false])
    rig.faults = []
    await rig.pass(61_000)
    expect(rig.gate).toEqual([true, false, true])
  })
  test('the answers of a second provider allow buys again', async () => {
    const rig = new WalletRig(2)
    rig.faults = [
      () => {
        throw 1
      },
    ]
    await rig.ready()
    expect(rig.gate).toEqual([true])
  })
})

describe('booked tokens', () => {
  test('if the wallet holds fewer tokens than the books show, a deficit is reported once a second reading shows it too', async () => {
    const rig = await open()
    rig.trade()
    await rig.slots(40)
    rig.booked.set(MINT, rig.held())
    await rig.slots(200)
    expect(rig.deficits).toEqual([])
    rig.trade('sell', { tokens: rig.held() / 2n })
    await rig.slots(60)
    expect(rig.deficits).toEqual([])
    await rig.slots(200)
    expect(rig.deficits[0]).toEqual([MINT, rig.held()])
  })
  test('if the list of token accounts of a node lacks an account, but the account itself holds the tokens, there is no deficit', async () => {
    const rig = await open()
    rig.trade()
    await rig.slots(40)
    const all = rig.held()
    rig.booked.set(MINT, all)
    rig.faults[0] = (method, _params, honest) => {
      const answer = honest()
      return method === 'getTokenAccountsByOwner' ? { ...(answer as object), value: [] } : answer
    }
    await rig.slots(600)
    expect(rig.deficits).toEqual([])
    rig.trade('sell', { tokens: all / 2n })
    await rig.slots(600)
    expect(rig.deficits[0]).toEqual([MINT, rig.held()])
    expect(rig.held()).toBeGreaterThan(0n)
  })
  test('missing tokens are no deficit until a node reports the balance of the token account', async () => {
    const rig = await open()
    rig.booked.set(MINT, 5n)
    rig.faults[0] = (method, _params, honest) => {
      if (method === 'getMultipleAccounts') throw -32_005
      return honest()
    }
    await rig.slots(400)
    expect(rig.deficits).toEqual([])
    rig.faults = []
    await rig.slots(400)
    expect(rig.deficits[0]).toEqual([MINT, 0n])
  })
  test('if the wallet holds more tokens than the books show, there is no deficit', async () => {
    const rig = await open()
    rig.trade()
    rig.booked.set(MINT, 5n)
    await rig.slots(400)
    expect(rig.deficits).toEqual([])
  })
  test('missing tokens are no deficit while an order for their mint is open', async () => {
    const rig = await open()
    rig.booked.set(MINT, 5n)
    rig.lose(rig.sell())
    await rig.slots(300)
    expect(rig.deficits).toEqual([])
    await rig.slots(500)
    expect(rig.deficits[0]).toEqual([MINT, 0n])
  })
})

describe('orders that a user resolves', () => {
  test('if a user declares a held order as not executed although it executed, the execution is booked as a late fill', async () => {
    const rig = await open()
    const one = rig.buy(0.25)
    const signature = rig.trade('buy', { lamports: 25e7 })
    const { byHand } = rig.wallet
    rig.faults = [
      (method, _params, honest) => {
        const answer = honest()
        if (method !== 'getSignaturesForAddress') return answer
        return (answer as { signature: string }[]).filter((row) => row.signature !== signature)
      },
    ]
    rig.lose(one)
    expect(() => byHand.notExecuted(one.orderId)).toThrow(/is not held/)
    await rig.slots(2_600)
    const shown = byHand.show(one.orderId)
    expect(shown).toMatchObject({ held: true, riskLamports: 250_000_000 })
    expect(shown.text).toContain(`order o1: buy 0.25 SOL of ${MINT}`)
    expect(shown.text).toMatch(/held: the wallet has 0.25\d* SOL less|held: no listed transaction explains a change/)
    expect(byHand.notExecuted(one.orderId)).toContain('counts as not executed')
    expect(rig.kinds(one)).toBe('unknown undecided absent')
    expect(rig.outcomes(one).at(-1)).toEqual({ kind: 'absent', code: 'RESOLVED' })
    expect(() => byHand.show(one.orderId)).toThrow(/needs no decision/)
    await rig.crash()
    await rig.slots(200)
    rig.faults = []
    await rig.slots(200)
    expect(rig.late.map(({ fill, code }) => [fill.signature, code])).toEqual([[signature, 'LATE_FILL']])
    expect(rig.classes()[signature]).toBe('ours')
  })
  test('a user can declare a held order as executed only by naming its finalized transaction', async () => {
    const rig = await open()
    const one = rig.buy(0.1)
    const [signature, spent] = [rig.trade('buy', {}, 3), rig.transfer(WALLET, STRANGER, 1, 2)]
    // The empty list hides every transaction of the wallet from the resolver.
    rig.faults = [(method, _params, honest) => (method === 'getSignaturesForAddress' ? [] : honest())]
    rig.lose(one)
    await expect(rig.wallet.byHand.executed(one.orderId, signature)).rejects.toThrow(/is not final/)
    await rig.slots(60)
    await expect(rig.wallet.byHand.executed(one.orderId, spent)).rejects.toThrow(/does not belong to this order/)
    expect(await rig.wallet.byHand.executed(one.orderId, signature)).toContain('executed as')
    expect(rig.kinds(one)).toBe('unknown filled!')
  })
})
