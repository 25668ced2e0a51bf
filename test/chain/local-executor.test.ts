import { describe, expect, test } from 'vitest'
import type { Attempt } from '../../src/orders/attempt.ts'
import type { Built } from '../../src/orders/trade-request.ts'
import { transferCall } from '../../src/sandbox/chain/message.ts'
import { type Fault, LocalRig } from './local-rig.ts'

const THIEF = 'So11111111111111111111111111111111111111112'

describe('an order of the local executor', () => {
  test('the transaction of an order is verified, then guarded, signed, stored and sent, and it lands', async () => {
    const rig = await LocalRig.open()
    const before = rig.lamports
    const one = rig.buy()
    rig.execute(one)
    await rig.slots(50)
    expect(rig.kinds(one)).toBe('verified signed sent filled? filled!')
    expect(rig.steps.slice(0, 3)).toEqual(['signed', 'durable', 'sent'])
    expect(rig.held()).toBeGreaterThan(0n)
    expect(rig.last(one)).toMatchObject({ fill: { tokens: rig.held(), walletLamports: rig.lamports - before } })
    expect(rig.kept).toEqual([])
    const watch = rig.records.findLast((record) => record.kind === 'watch' && record.watch.bytes !== undefined)
    expect(watch).toMatchObject({ watch: { bound: expect.any(Number), attempt: { state: 'signed' } } })
  })

  test('a bought position can be sold completely, after which the wallet holds no tokens', async () => {
    const rig = await LocalRig.open()
    rig.execute(rig.buy())
    await rig.slots(40)
    const sale = rig.sell()
    rig.execute(sale)
    await rig.slots(40)
    expect(rig.kinds(sale)).toBe('verified signed sent filled? filled!')
    expect(rig.held()).toBe(0n)
  })

  test('an order needs five RPC calls before it is sent, one of them to read the rent', async () => {
    const rig = await LocalRig.open()
    rig.calls.length = 0
    rig.execute(rig.buy())
    await rig.pass(5)
    const asked = rig.calls.slice(0, rig.calls.indexOf('sendTransaction') + 1)
    expect(asked.toSorted()).toEqual([
      ...['getEpochInfo', 'getMinimumBalanceForRentExemption', 'getMultipleAccounts', 'isBlockhashValid'],
      ...['sendTransaction', 'simulateTransaction'],
    ])
  })

  test('an order lands once, or is proved expired, if nine of ten sends are dropped', async () => {
    const rig = await LocalRig.open()
    rig.faults.set({ kind: 'sendDropped', count: 1e6, probability: 0.9 })
    const ends = new Map<string, number>()
    for (let round = 0; round < 12; round++) {
      const before = rig.held()
      const one = rig.buy(0.05)
      rig.execute(one)
      await rig.until(() => /filled!|reverted!|absent/.test(rig.kinds(one)), 400)
      const end = rig.kinds(one).split(' ').at(-1)!
      ends.set(end, (ends.get(end) ?? 0) + 1)
      expect(rig.held() > before).toBe(end === 'filled!')
    }
    expect([...ends.keys()].toSorted()).toEqual(expect.arrayContaining(['filled!']))
    expect(rig.late).toEqual([])
  })

  test('after a fork, the bytes of the transaction are sent again until they land', async () => {
    const rig = await LocalRig.open()
    const one = rig.buy()
    rig.execute(one)
    await rig.until(() => rig.kinds(one).endsWith('filled?'), 20)
    const [signature] = rig.chain.ledger.signatures({ address: rig.user, limit: 1, commitment: 'processed' })
    rig.chain.ledger.fork(signature!.signature)
    await rig.slots(120)
    expect(rig.kinds(one)).toBe('verified signed sent filled? unknown filled? filled!')
  })
})

describe('a built transaction that does not match its order is not signed', () => {
  const cases: [what: string, code: string, retry: string, build: (rig: LocalRig, one: Attempt) => Built][] = [
    [
      'it transfers SOL to a stranger',
      'SOL_TRANSFER',
      'never',
      (rig, one) => rig.built(one, { calls: (calls) => [...calls, transferCall(rig.user, THIEF, 1n)] }),
    ],
    [
      'its amount is above that of the order',
      'AMOUNT_OVER',
      'never',
      (rig, one) => ({ ...rig.built(rig.buy(0.2)), asked: rig.asked(one) }),
    ],
    [
      'it sells instead of buying',
      'WRONG_SIDE',
      'never',
      (rig, one) => ({ ...rig.built(one), asked: rig.asked(rig.sell()) }),
    ],
    ['its expiry is too far away', 'EXPIRY_IMPLAUSIBLE', 'wait', (rig, one) => rig.built(one, { height: 1e15 })],
    ['it has already expired', 'EXPIRY_IMPLAUSIBLE', 'wait', (rig, one) => rig.built(one, { height: 1 })],
    [
      'it has one byte too many',
      'TX_MALFORMED',
      'never',
      (rig, one) => rig.built(one, { bytes: (bytes) => Buffer.concat([bytes, Uint8Array.of(0)]) }),
    ],
    [
      'the price has moved by more than the slippage',
      'SLIPPAGE_EXCEEDED',
      'slippage',
      (rig, one) => {
        const built = rig.built(one)
        rig.market.trade('buy', 30_000_000_000n)
        return built
      },
    ],
    ['the service refuses', 'INVALID_MINT', 'never', () => refused('INVALID_MINT', 'never')],
    ['the service does not answer', 'BUILDER_SILENT', 'wait', () => refused('BUILDER_SILENT', 'wait')],
  ]
  test.each(cases)('%s: %s, %s', async (_what, code, retry, build) => {
    const rig = await LocalRig.open()
    rig.build = async (attempt) => build(rig, attempt)
    const one = rig.buy()
    const before = rig.lamports
    rig.execute(one)
    await rig.slots(10)
    expect(rig.kinds(one)).toBe('refused')
    expect(rig.last(one)).toMatchObject({ code, retry })
    expect(rig.steps).toEqual([])
    expect(rig.lamports).toBe(before)
  })

  test('if a node does not know the blockhash, the executor waits for it, and then has the transaction built again', async () => {
    const rig = await LocalRig.open()
    rig.fault = (method, _params, honest) =>
      method === 'isBlockhashValid' ? { context: { slot: 1 }, value: false } : honest()
    const one = rig.buy()
    rig.execute(one)
    await rig.pass(700)
    expect(rig.kinds(one)).toBe('')
    await rig.pass(200)
    expect(rig.last(one)).toMatchObject({ code: 'BLOCKHASH_UNKNOWN', retry: 'wait' })
  })

  test('an order that the wallet cannot pay for, including fees and rent, is refused before any send', async () => {
    const rig = await LocalRig.open()
    const one = rig.buy(9.999)
    rig.reserved = { ...rig.reserved, boundLamports: 20e9 }
    rig.execute(one)
    await rig.slots(2)
    expect(rig.last(one)).toMatchObject({ code: 'BALANCE_LOW', retry: 'never' })
    expect(rig.kept[0]).toMatch(/BALANCE_LOW: the wallet holds 10 SOL/)
  })
})

describe('a faulty RPC', () => {
  const faults: [what: string, fault: Fault][] = [
    [
      'an RPC that is down',
      () => {
        throw 1
      },
    ],
    [
      'an RPC that cannot simulate',
      (method, _params, honest) => {
        if (method === 'simulateTransaction') throw -32601
        return honest()
      },
    ],
    [
      'an RPC that gives an invalid answer',
      (method, _params, honest) => (method === 'getMultipleAccounts' ? { value: 'x' } : honest()),
    ],
    [
      'an RPC that does not report its height',
      (method, _params, honest) => (method === 'getEpochInfo' ? {} : honest()),
    ],
  ]
  test.each(faults)('with %s, nothing is signed, and the order can be built again', async (_what, fault) => {
    const rig = await LocalRig.open()
    rig.fault = fault
    const one = rig.buy()
    rig.execute(one)
    await rig.slots(2)
    expect(rig.last(one)).toMatchObject({ kind: 'refused', code: 'CHAIN_SILENT', retry: 'wait' })
    expect(rig.steps).toEqual([])
  })

  test('a transaction is not signed with an RPC whose old height would let the order expire before it lands', async () => {
    const rig = await LocalRig.open()
    await rig.slots(400)
    rig.build = async (attempt) => ({ ...rig.built(attempt), lastValidBlockHeight: undefined }) as Built
    rig.fault = (method, _params, honest) => {
      const answer = honest() as object
      return method === 'getEpochInfo' ? { ...answer, blockHeight: 0 } : answer
    }
    const one = rig.buy()
    rig.execute(one)
    await rig.slots(2)
    expect(rig.last(one)).toMatchObject({ kind: 'refused', code: 'EXPIRY_IMPLAUSIBLE', retry: 'wait' })
    expect(rig.steps).toEqual([])
  })

  test('an order whose sends are all refused is proved to have expired and is not sent again', async () => {
    const rig = await LocalRig.open()
    rig.fault = (method, _params, honest) => {
      if (method === 'sendTransaction') throw -32005
      return honest()
    }
    const one = rig.buy()
    rig.execute(one)
    await rig.until(() => rig.kinds(one).endsWith('absent'), 300)
    const sent = rig.steps.filter((step) => step === 'sent').length
    expect(sent).toBeGreaterThan(20)
    await rig.slots(50)
    expect(rig.steps.filter((step) => step === 'sent')).toHaveLength(sent)
  })
})

describe('an RPC with slow calls', () => {
  const slow =
    (rig: LocalRig, ms: number): Fault =>
    (_method, _params, honest) =>
      new Promise((resolve) => void rig.clock.after(ms, () => resolve(honest())))

  test('an RPC has 5 s for all checks; then the order is refused, the next order is checked at the next RPC, and late answers cause no signature', async () => {
    const rig = await LocalRig.open(2)
    rig.execute(rig.buy())
    await rig.slots(40)
    rig.steps.length = 0
    rig.fault = slow(rig, 9_900)
    const [one, two] = [rig.sell(), rig.sell()]
    rig.execute(one)
    await rig.pass(4_990)
    expect(rig.kinds(one)).toBe('')
    await rig.pass(20)
    expect(rig.last(one)).toMatchObject({ kind: 'refused', code: 'CHAIN_SILENT', retry: 'wait' })
    await rig.pass(30_000)
    expect(rig.steps).toEqual([])
    rig.execute(two)
    await rig.pass(100)
    expect(rig.steps).toEqual(['signed', 'durable', 'sent'])
  })

  test.each([
    ['9.9 s, and signs after all checks', 9_900, 'signed'],
    ['31 s, and refuses the order after a minute, because the transaction has expired', 31_000, ''],
  ])('the executor waits if each call of its only RPC takes %s', async (_what, ms, signed) => {
    const rig = await LocalRig.open()
    rig.fault = slow(rig, ms)
    const one = rig.buy()
    rig.execute(one)
    await rig.pass(60_000)
    expect(rig.steps.slice(0, 1).join()).toBe(signed)
    if (signed === '') expect(rig.last(one)).toMatchObject({ kind: 'refused', code: 'CHAIN_SILENT', retry: 'wait' })
    await rig.pass(60_000)
    expect(rig.steps.slice(0, 1).join()).toBe(signed)
  })
})

test('an RPC that reports a transaction as already processed has not failed', async () => {
  const rig = await LocalRig.open()
  rig.fault = (method, _params, honest) => {
    if (method !== 'sendTransaction') return honest()
    honest()
    throw -32002
  }
  const one = rig.buy()
  rig.execute(one)
  await rig.slots(45)
  expect(rig.kinds(one)).toBe('verified signed sent filled? filled!')
  expect(rig.alarms).toEqual([])
})

describe('the signer', () => {
  test.each([
    ['SIGNER_DOWN', 'wait'],
    ['SIGNER_CAP', 'never'],
    ['SIGNER_REFUSED', 'never'],
  ] as const)(
    'the answer %s of the signer prevents the send, and the retry of the order is "%s"',
    async (code, retry) => {
      const rig = await LocalRig.open()
      rig.sign = async () => ({ ok: false, code, reason: 'a test' })
      const one = rig.buy()
      rig.execute(one)
      await rig.slots(2)
      expect(rig.kinds(one)).toBe('verified refused')
      expect(rig.last(one)).toMatchObject({ code, retry })
      expect(rig.steps).toEqual([])
    },
  )

  test('the request to the signer states the maximum cost of the order, and that guards are appended', async () => {
    const rig = await LocalRig.open()
    const { sign } = rig
    const told: object[] = []
    rig.sign = (request) => {
      told.push({ ...request, message: request.message.length, boundLamports: request.boundLamports > 100_000_000n })
      return sign(request)
    }
    rig.execute(rig.buy())
    await rig.slots(2)
    expect(told).toEqual([
      ...[{ orderId: 'o1', attemptId: 'o1.1', policyHash: 'hash', guarded: true, boundLamports: true }].map((one) => ({
        ...one,
        message: expect.any(Number),
      })),
    ])
  })
})

describe('an order that the engine withdraws', () => {
  test.each([
    [1, 'TTL'],
    [2, 'TTL'],
    [1, 'EXIT_UNPROVED'],
    [2, 'EXIT_UNPROVED'],
    [1, 'HALTED'],
    [2, 'HALTED'],
  ] as const)(
    'an order is not sent if the engine withdraws it at check %s before the send, with the code %s',
    async (times, code) => {
      const rig = await LocalRig.open()
      let asked = 0
      rig.refusalOf = () => (++asked < times ? undefined : code)
      const one = rig.buy()
      rig.execute(one)
      await rig.slots(2)
      expect(rig.last(one)).toMatchObject({ kind: 'refused', code, retry: 'wait' })
      expect(rig.steps).not.toContain('sent')
      await rig.slots(30)
      expect(rig.held()).toBe(0n)
    },
  )
})

test('an order whose commit to the journal took longer than its lifetime is not sent, and is proved to have expired', async () => {
  const rig = await LocalRig.open()
  let asked = 0
  rig.refusalOf = () => (++asked < 3 ? undefined : 'TTL')
  const one = rig.buy()
  rig.execute(one)
  await rig.until(() => rig.kinds(one).endsWith('absent'), 300)
  expect(rig.kinds(one)).toBe('verified signed sent absent')
  expect(rig.steps).toEqual(['signed', 'durable'])
  expect(rig.held()).toBe(0n)
})

describe('a buy whose position gets a full exit', () => {
  test('if every send of a buy was lost, it is not sent again once a full exit is ordered', async () => {
    const rig = await LocalRig.open()
    rig.faults.set({ kind: 'sendDropped', count: 1e6, probability: 1 })
    const one = rig.buy()
    rig.execute(one)
    await rig.until(() => rig.steps.includes('sent'), 5)
    rig.refusalOf = () => 'EXIT_UNPROVED'
    const sent = rig.steps.filter((step) => step === 'sent').length
    await rig.slots(50)
    expect(rig.steps.filter((step) => step === 'sent')).toHaveLength(sent)
  })

  test('if a fork took a buy back, it is not sent again once a full exit is ordered', async () => {
    const rig = await LocalRig.open()
    const one = rig.buy()
    rig.execute(one)
    await rig.until(() => rig.kinds(one).endsWith('filled?'), 20)
    rig.refusalOf = () => 'EXIT_UNPROVED'
    const [signature] = rig.chain.ledger.signatures({ address: rig.user, limit: 1, commitment: 'processed' })
    rig.chain.ledger.fork(signature!.signature)
    await rig.until(() => rig.kinds(one).endsWith('absent'), 400)
    expect(rig.held()).toBe(0n)
  })
})

describe('a crash of the process', () => {
  test('an order whose transaction is not signed leaves no record and no trade', async () => {
    const rig = await LocalRig.open()
    rig.sign = () => new Promise(() => {})
    rig.execute(rig.buy())
    await rig.slots(2)
    expect(rig.records.some((record) => record.kind === 'watch')).toBe(false)
    await rig.crash()
    await rig.slots(40)
    expect(rig.held()).toBe(0n)
  })

  test.each([
    ['a sale after a restart one minute later', 'sell', 60_000, true, undefined],
    ['a buy after an immediate restart', 'buy', 0, true, undefined],
    ['a buy after a restart four seconds later', 'buy', 4_000, false, undefined],
    ['a buy after an immediate restart, with a full exit before it', 'buy', 0, false, 'EXIT_UNPROVED'],
    ['a buy after an immediate restart, with a halt before it', 'buy', 0, false, 'HALTED'],
  ] as const)(
    'an order that was signed but not sent before a crash is sent after the restart only if it is still allowed: %s',
    async (_what, side, ms, isSentOn, refusal) => {
      const rig = await LocalRig.open()
      if (side === 'sell') {
        rig.execute(rig.buy())
        await rig.slots(40)
      }
      rig.faults.set({ kind: 'sendDropped', count: 1e6, probability: 1 })
      const one = side === 'buy' ? rig.buy() : rig.sell()
      rig.execute(one)
      await rig.pass(50)
      const watch = rig.records.findLast((record) => record.kind === 'watch')!
      const { signature } = (watch as Extract<typeof watch, { kind: 'watch' }>).watch.attempt
      if (ms > 0) await rig.pass(Math.min(ms, 30_000))
      rig.faults.clear()
      rig.refusalOf = () => refusal
      const held = rig.held()
      await rig.crash({ ...one, state: 'signed', signature })
      await rig.until(() => /filled!|absent/.test(rig.kinds(one)), 400)
      expect(rig.kinds(one).endsWith('filled!')).toBe(isSentOn)
      expect(rig.held() === held).toBe(!isSentOn)
    },
  )
})

test('each of two transactions of one wallet enforces a balance floor that allows the other one to land', async () => {
  const rig = await LocalRig.open()
  rig.reserved = { ...rig.reserved, reservedLamports: 250_000_000 }
  const [one, two] = [rig.buy(0.1), rig.buy(0.2)]
  rig.execute(one)
  rig.execute(two)
  await rig.slots(50)
  expect([rig.kinds(one), rig.kinds(two)]).toEqual(Array(2).fill('verified signed sent filled? filled!'))
})

test('the balance floor of an order allows a later order to land first', async () => {
  for (const headroomLamports of [0, 500_000_000]) {
    const rig = await LocalRig.open()
    rig.reserved = { ...rig.reserved, headroomLamports }
    const [slow, fast] = [rig.buy(0.1), rig.buy(0.2)]
    rig.faults.set({ kind: 'sendDropped', count: 2 })
    rig.execute(slow)
    await rig.pass(100)
    rig.faults.clear()
    rig.execute(fast)
    await rig.slots(60)
    expect(rig.kinds(fast)).toBe('verified signed sent filled? filled!')
    expect(rig.kinds(slow).endsWith(headroomLamports === 0 ? 'reverted!' : 'filled!')).toBe(true)
  }
})

test('a second attempt whose transaction has the same bytes is refused', async () => {
  const rig = await LocalRig.open()
  const [one, two] = [rig.buy(0.1), rig.buy(0.1)]
  rig.execute(one)
  rig.execute(two)
  await rig.slots(50)
  expect(rig.kinds(one)).toBe('verified signed sent filled? filled!')
  expect(rig.last(two)).toMatchObject({ kind: 'refused', code: 'SAME_BYTES', retry: 'wait' })
})

function refused(code: 'INVALID_MINT' | 'BUILDER_SILENT', retry: 'never' | 'wait'): Built {
  return { kind: 'refused', code, reason: 'a test', retry }
}
