import { describe, expect, test } from 'vitest'
import { solToLamports } from '../../../src/base/units.ts'
import type { Size } from '../../../src/engine/order.ts'
import type { Attempt } from '../../../src/orders/attempt.ts'
import type { Outcome } from '../../../src/orders/ports.ts'
import { signatureOf } from '../landed.ts'
import { lagging, MINT, STRANGER, WALLET, WalletRig } from '../wallet-rig.ts'

const open = (nodes = 1): Promise<WalletRig> => new WalletRig(nodes).ready()
/**
 * The number of Solana slots after which the outcome of a lost answer is proved. It is the sum of the wait for a late
 * execution (300), VALID_BLOCKS, the blocks that are not final, and a margin, because one slot in 25 has no block.
 */
const PROOF_SLOTS = 300 + 200 + 32 + 60

describe('lost answers', () => {
  test('an executed order is found within 5 s, and its fill is final once its block is finalized', async () => {
    const rig = await open()
    const one = rig.buy()
    rig.trade()
    rig.lose(one)
    await rig.pass(5_000)
    expect(rig.kinds(one)).toBe('unknown filled?')
    await rig.slots(40)
    expect(rig.kinds(one)).toBe('unknown filled? filled!')
    expect(rig.outcomes(one).at(-1)).toMatchObject({ fill: { orderId: one.orderId, attemptId: one.id, mint: MINT } })
  })
  test('an order that never executed is proved absent once the chain is final 120 s and 200 blocks after the order, and reports its progress until then', async () => {
    const rig = await open()
    const one = rig.buy()
    rig.lose(one)
    await rig.slots(280)
    expect(rig.progress(one)).toMatch(/^unknown; the service may still execute the order until /)
    await rig.slots(130)
    expect(rig.kinds(one)).toBe('unknown')
    expect(rig.progress(one)).toMatch(/^unknown; the outcome can be proved after \d+ blocks, \d+ have passed$/)
    const waited = 410 + (await rig.until(() => rig.kinds(one) === 'unknown absent', 200))
    expect(waited).toBeGreaterThan((300 + 200) * 0.9)
    expect(waited).toBeLessThan(PROOF_SLOTS)
    expect(rig.wallet.resolver.watches.all()).toHaveLength(1)
    expect(rig.late).toEqual([])
  })
  test('an order that executes late, but before the proof of its absence, is filled', async () => {
    const rig = await open()
    const one = rig.buy()
    rig.lose(one)
    rig.trade('buy', {}, 290)
    await rig.slots(340)
    expect(rig.kinds(one)).toBe('unknown filled? filled!')
  })
  test('an order that executes after it was proved absent causes a late fill', async () => {
    const rig = await open()
    const one = rig.buy()
    rig.lose(one)
    const signature = rig.trade('buy', {}, 800)
    await rig.slots(790)
    expect(rig.kinds(one)).toBe('unknown absent')
    await rig.slots(160)
    expect(rig.late).toEqual([
      expect.objectContaining({ code: 'LATE_FILL', fill: expect.objectContaining({ signature, final: true }) }),
    ])
    expect(rig.classes()[signature]).toBe('ours')
  })
  test('an order that executes when it is no longer watched is classified as a foreign transaction', async () => {
    const rig = await open()
    rig.lose(rig.buy())
    const signature = rig.trade('buy', {}, 2_400)
    await rig.slots(2_520)
    expect(rig.late).toEqual([])
    expect(rig.foreign.map((row) => row.signature)).toEqual([signature])
  })
  test('if an order executes twice, both fills are booked, the second one as a duplicate', async () => {
    const rig = await open()
    const one = rig.buy()
    const [first, second] = [rig.trade('buy', {}, 2), rig.trade('buy', {}, 20)]
    rig.lose(one)
    await rig.slots(150)
    expect(rig.kinds(one)).toBe('unknown filled? filled!')
    expect(rig.outcomes(one).at(-1)).toMatchObject({ fill: { signature: first } })
    expect(rig.late.map(({ fill, code }) => [fill.signature, code])).toEqual([[second, 'SERVICE_DUPLICATE']])
  })
  test('an order whose token has a failed transaction can still execute, and the fee of that transaction is reported once', async () => {
    const rig = await open()
    const one = rig.buy()
    rig.lose(one)
    const failed = rig.trade('buy', { fails: true })
    await rig.slots(120)
    expect(rig.kinds(one)).toBe('unknown')
    expect(rig.paid).toEqual([[one.id, failed, 5_000]])
    expect(rig.classes()[failed]).toBe('ours')
    rig.trade('buy')
    await rig.slots(120)
    expect(rig.kinds(one)).toBe('unknown filled? filled!')
    expect([rig.late, rig.paid.length]).toEqual([[], 1])
  })
  test('if the only transaction of its token failed, an order is absent and not reverted', async () => {
    const rig = await open()
    const one = rig.buy()
    rig.lose(one)
    rig.trade('buy', { fails: true })
    await rig.slots(PROOF_SLOTS)
    expect(rig.kinds(one)).toBe('unknown absent')
    expect(rig.paid).toHaveLength(1)
  })
  test('an order ends as reverted if a late answer names a transaction that failed on the chain; its fee is reported once', async () => {
    const rig = await open()
    const one = rig.buy()
    const resolution = rig.send(one)
    resolution.doubt('no answer within 10 s')
    const failed = rig.trade('buy', { fails: true })
    await rig.slots(100)
    expect([rig.kinds(one), rig.paid.length]).toEqual(['unknown', 1])
    resolution.acked(failed)
    await rig.slots(10)
    expect(rig.kinds(one)).toBe('unknown acked reverted!')
    expect(rig.outcomes(one).at(-1)).toMatchObject({ signature: failed, feeLamports: 0 })
  })
  test('the fee of a failed transaction is reported once, even if the process crashes after the report', async () => {
    const rig = await open()
    const one = rig.buy()
    rig.lose(one)
    rig.trade('buy', { fails: true })
    await rig.slots(120)
    expect(rig.paid).toHaveLength(1)
    // Simulates a crash before the records that classify the wallet's transactions are on the disk.
    for (const record of rig.records.splice(0)) if (record.kind !== 'wallet') rig.records.push(record)
    await rig.crash({ ...one, state: 'unknown' })
    await rig.slots(PROOF_SLOTS)
    expect(rig.paid).toHaveLength(1)
    expect(rig.kinds(one)).toMatch(/^unknown( unknown)? absent$/)
  })
  test('trades on the feed change nothing if they are not on the chain, or not ours', async () => {
    const rig = await open()
    const one = rig.buy()
    rig.lose(one)
    rig.wallet.resolver.hint(MINT, signatureOf(77))
    rig.wallet.resolver.hint(MINT, rig.transfer(STRANGER, WALLET, 0.01))
    await rig.slots(PROOF_SLOTS)
    expect(rig.kinds(one)).toMatch(/^unknown( unknown)* absent$/)
    expect([rig.late, rig.foreign]).toEqual([[], []])
  })
  test('an order that executed with another amount is filled with the amount that is on the chain', async () => {
    const rig = await open()
    const one = rig.buy(0.1)
    rig.trade('buy', { lamports: 3e8 })
    rig.lose(one)
    await rig.slots(45)
    expect(rig.kinds(one)).toBe('unknown filled? filled!')
    const last = rig.outcomes(one).at(-1) as Extract<Outcome, { kind: 'filled' }>
    expect(last.fill.tradeLamports).toBeCloseTo(3e8, -1)
    expect(rig.notices.join()).toContain('differs from the order')
    expect(rig.foreign).toEqual([])
  })
})

describe('a full exit with several open attempts', () => {
  /** Returns two attempts whose answers are lost. The wallet holds tokens. */
  const twice = async (): Promise<{ rig: WalletRig; one: Attempt; other: Attempt }> => {
    const rig = await open()
    rig.trade('buy')
    await rig.slots(60)
    const one = rig.sell()
    const other = rig.sell({ orderId: one.orderId, id: `${one.orderId}.2` })
    rig.lose(one)
    rig.lose(other)
    return { rig, one, other }
  }
  const standIn = (rig: WalletRig): string => rig.standIns.map((one) => rig.kinds(one)).join(', ')

  test('a fill with an unknown signature ends the order at once, but each attempt waits until it can no longer execute', async () => {
    const { rig, one, other } = await twice()
    const signature = rig.trade('sell')
    await rig.slots(12)
    expect([standIn(rig), rig.kinds(one), rig.kinds(other)]).toEqual(['filled?', 'unknown', 'unknown'])
    await rig.slots(60)
    expect([standIn(rig), rig.kinds(one), rig.kinds(other)]).toEqual(['filled? filled!', 'unknown', 'unknown'])
    expect(rig.outcomes(rig.standIns[0] as Attempt).at(-1)).toMatchObject({
      fill: { signature, attemptId: rig.standIns[0]?.id, orderId: one.orderId },
    })
    await rig.slots(PROOF_SLOTS)
    expect([rig.kinds(one), rig.kinds(other)]).toEqual(['unknown absent', 'unknown absent'])
    expect([rig.late, rig.standIns.length, rig.classes()[signature]]).toEqual([[], 1, 'ours'])
  })
  test('both sales are booked once, and neither as a late fill, if the second attempt sells tokens that arrived later', async () => {
    const { rig, one, other } = await twice()
    rig.trade('sell')
    await rig.slots(20)
    rig.trade('buy') // by another process
    await rig.slots(5)
    rig.trade('sell')
    await rig.slots(60)
    expect(standIn(rig)).toBe('filled? filled!, filled? filled!')
    expect([rig.kinds(one), rig.kinds(other), rig.late]).toEqual(['unknown', 'unknown', []])
  })
  test('a fork reverses a fill whose attempt is unknown, and changes no attempt whose answer was lost', async () => {
    const { rig, one, other } = await twice()
    const signature = rig.trade('sell')
    await rig.slots(12)
    rig.ledger.fork(signature)
    await rig.slots(90)
    expect([standIn(rig), rig.kinds(one), rig.kinds(other)]).toEqual(['filled? unknown', 'unknown', 'unknown'])
    await rig.slots(PROOF_SLOTS)
    expect([standIn(rig), rig.kinds(one)]).toEqual(['filled? unknown absent', 'unknown absent'])
  })
  test.each([8, 60])(
    'an answer with the signature, %i Solana slots after the send, proves that its attempt executed, and the other attempt still waits',
    async (slots) => {
      const { rig, one } = await twice()
      const late = rig.sell({ orderId: one.orderId, id: `${one.orderId}.3` })
      const resolution = rig.send(late)
      const signature = rig.trade('sell')
      await rig.slots(slots)
      resolution.acked(signature)
      await rig.slots(70)
      expect([rig.kinds(late), rig.kinds(one)]).toEqual([expect.stringMatching(/^acked filled.*!$/), 'unknown'])
      expect(standIn(rig)).toMatch(/^filled\? filled!$/)
      expect(rig.late).toEqual([])
    },
  )
  test('a signature from the feed proves that the order executed, and ends neither of its two attempts', async () => {
    const { rig, one, other } = await twice()
    const signature = rig.trade('sell')
    rig.wallet.resolver.hint(MINT, signature)
    await rig.slots(70)
    expect([standIn(rig), rig.kinds(one), rig.kinds(other)]).toEqual(['filled? filled!', 'unknown', 'unknown'])
  })
  test('after an execution of unknown origin, an answer that names it and a crash, the attempt that was recorded for the execution and the answered attempt both end as filled', async () => {
    const { rig, one } = await twice()
    const late = rig.sell({ orderId: one.orderId, id: `${one.orderId}.3` })
    const resolution = rig.send(late)
    const signature = rig.trade('sell')
    await rig.slots(12)
    resolution.acked(signature)
    const [standing] = rig.standIns as [Attempt]
    await rig.crash({ ...late, state: 'acked', signature }, { ...standing, state: 'landed', signature })
    await rig.slots(70)
    expect([standIn(rig), rig.kinds(late)]).toEqual(['filled? filled!', expect.stringMatching(/^acked filled.*!$/)])
  })
  test('of two attempts of one order, the fill belongs to the one that was not refused', async () => {
    const rig = await open()
    rig.trade('buy')
    await rig.slots(60)
    const one = rig.sell()
    const other = rig.sell({ orderId: one.orderId, id: `${one.orderId}.2` })
    rig.send(one).refused({ kind: 'refused', code: 'RATE_LIMIT', reason: '', retry: 'wait' })
    rig.lose(other)
    rig.trade('sell')
    await rig.slots(60)
    expect([rig.kinds(other), rig.standIns]).toEqual(['unknown filled? filled!', []])
  })
})

describe('wrong answers', () => {
  test("if the answer has an unknown signature, the execution is found by the order's token and side", async () => {
    const rig = await open()
    const one = rig.buy()
    const signature = rig.trade()
    rig.send(one).acked(rig.transfer(STRANGER, STRANGER, 1e-9, Number.POSITIVE_INFINITY))
    await rig.slots(60)
    expect(rig.kinds(one)).toBe('acked filled? filled!')
    expect(rig.outcomes(one).at(-1)).toMatchObject({ fill: { signature } })
  })
  test('if the answer has the signature of a stranger, the order is unknown and then absent', async () => {
    const rig = await open()
    const one = rig.buy()
    rig.send(one).acked(rig.transfer(STRANGER, STRANGER, 0.1))
    await rig.slots(320)
    expect(rig.kinds(one)).toMatch(/^acked unknown absent$/)
  })
  test('the signature of an older trade of ours does not prove that the order executed', async () => {
    const rig = await open()
    const older = rig.trade()
    await rig.slots(120)
    const one = rig.buy()
    rig.send(one).acked(older)
    await rig.slots(320)
    expect(rig.kinds(one)).toBe('acked unknown absent')
  })
  test('if the answer to a sale has the signature of a buy, the buy still gets its fill', async () => {
    const rig = new WalletRig()
    rig.trade()
    await rig.slots(400) // long enough that no other process is assumed to trade
    await rig.ready()
    const [sale, buy] = [rig.sell(), rig.buy()]
    const signature = rig.trade()
    rig.send(sale).acked(signature)
    rig.lose(buy)
    await rig.slots(60)
    expect([rig.kinds(sale), rig.kinds(buy)]).toEqual(['acked unknown', 'unknown filled? filled!'])
    expect(rig.foreign).toEqual([])
  })
  test('a late report that an order was not sent takes back the fill that had been assigned to this order', async () => {
    const rig = await open()
    const one = rig.buy()
    const resolution = rig.send(one)
    resolution.doubt('no answer within 10 s')
    const signature = rig.trade()
    await rig.slots(12)
    expect(rig.kinds(one)).toBe('unknown filled?')
    resolution.unsent({ kind: 'unsent', reason: 'connection refused' })
    await rig.slots(60)
    expect(rig.kinds(one)).toBe('unknown filled? unknown absent')
    expect(rig.foreign.map((row) => row.signature)).toEqual([signature])
  })
  test('two orders with the same signature in their answers get one fill', async () => {
    const rig = await open()
    const [one, other] = [rig.buy(), rig.buy()]
    const signature = rig.trade()
    rig.send(one).acked(signature)
    rig.send(other).acked(signature)
    await rig.slots(45)
    expect([rig.kinds(one), rig.kinds(other)]).toEqual(['acked filled? filled!', 'unknown'])
  })
})

test('an acknowledged order that the network lost is proved absent 200 blocks after the answer', async () => {
  const rig = await open()
  const one = rig.buy()
  rig.send(one).acked(rig.trade('buy', {}, Number.POSITIVE_INFINITY))
  const waited = await rig.until(() => rig.kinds(one) === 'acked absent', 400)
  expect(waited).toBeGreaterThan(200)
  expect(waited).toBeLessThan(200 + 32 + 60)
})

test('an attempt that was refused, but executed, causes a late fill', async () => {
  const rig = await open()
  const one = rig.buy()
  const signature = rig.trade('buy', {}, 30)
  rig.send(one).refused({ kind: 'refused', code: 'SLIPPAGE_EXCEEDED', reason: '', retry: 'slippage' })
  expect(rig.kinds(one)).toBe('refused')
  await rig.slots(160)
  expect(rig.late).toEqual([
    expect.objectContaining({
      code: 'LATE_FILL',
      attempt: expect.objectContaining({ id: one.id, state: 'refused' }),
      fill: expect.objectContaining({ signature }),
    }),
  ])
})

test('an execution after a refusal and a retry belongs to the retry, unless there are two executions', async () => {
  const rig = await open()
  const [one, other] = [rig.buy(), rig.buy()]
  rig.send(one).refused({ kind: 'refused', code: 'RATE_LIMIT', reason: '', retry: 'wait' })
  const signature = rig.trade()
  rig.lose(other)
  await rig.slots(45)
  expect(rig.kinds(other)).toBe('unknown filled? filled!')
  expect(rig.late).toEqual([])
  rig.trade()
  await rig.slots(120)
  expect(rig.late.map(({ attempt, code }) => [attempt.id, code])).toEqual([[one.id, 'LATE_FILL']])
  expect(rig.classes()[signature]).toBe('ours')
})

describe('forks', () => {
  test('a confirmed fill that a fork drops permanently is taken back, and its order is then proved absent', async () => {
    const rig = await open()
    const one = rig.buy()
    const signature = rig.trade()
    rig.send(one).acked(signature)
    await rig.slots(8)
    expect(rig.kinds(one)).toBe('acked filled?')
    rig.ledger.fork(signature)
    await rig.slots(90)
    expect(rig.kinds(one)).toBe('acked filled? unknown')
    await rig.slots(220)
    expect(rig.kinds(one)).toBe('acked filled? unknown absent')
  })
  test('a confirmed fill that a fork drops, and that lands again, becomes final', async () => {
    const rig = await open()
    const one = rig.buy()
    const signature = rig.trade()
    rig.send(one).acked(signature)
    await rig.slots(8)
    rig.ledger.fork(signature, 60)
    await rig.slots(160)
    expect(rig.kinds(one)).toBe('acked filled? unknown filled? filled!')
  })
  /** Creates a fill that a fork moves into another block, in which its transaction fails. Returns its signature. */
  const failsAgain = (rig: WalletRig): string => {
    const tokens = rig.market.token(MINT)?.curve.quoteBuy(100_000_000n).tokens ?? 0n
    return rig.trade('buy', { tokens })
  }
  const fork = async (rig: WalletRig, signature: string): Promise<void> => {
    await rig.slots(8)
    rig.market.trade('buy', 5_000_000_000n)
    rig.ledger.fork(signature, 1)
    await rig.slots(60)
  }
  test('a fill whose transaction lands again and fails is taken back, and the attempt is reverted', async () => {
    const rig = await open()
    const one = rig.buy()
    const signature = failsAgain(rig)
    rig.send(one).acked(signature)
    await fork(rig, signature)
    expect(rig.kinds(one)).toMatch(/^acked filled\? unknown (reverted\? )?reverted!$/)
  })
  test('a fill whose transaction lands again and fails after a restart is taken back, and the attempt is reverted', async () => {
    const rig = await open()
    const one = rig.buy()
    const signature = failsAgain(rig)
    rig.send(one).acked(signature)
    await rig.slots(8)
    await rig.crash({ ...one, state: 'landed', signature })
    await fork(rig, signature)
    await rig.slots(PROOF_SLOTS)
    expect(rig.kinds(one)).toMatch(/^acked filled\?( filled\?)? unknown( reverted\? unknown)? absent$/)
    expect(rig.paid).toHaveLength(1)
  })
  test('if an answer was lost, and the transaction of the fill lands again and fails, the order is unknown until it can no longer execute', async () => {
    const rig = await open()
    const one = rig.buy()
    rig.lose(one)
    await fork(rig, failsAgain(rig))
    expect([rig.kinds(one), rig.paid.length]).toEqual([
      expect.stringMatching(/^unknown filled\? unknown( reverted\? unknown)?$/),
      1,
    ])
    await rig.slots(PROOF_SLOTS)
    expect(rig.kinds(one)).toMatch(/ unknown absent$/)
  })
  test('a fill that lands again at once with another result is taken back, and its new result is reported', async () => {
    const rig = await open()
    const one = rig.buy()
    const signature = rig.trade()
    rig.send(one).acked(signature)
    await rig.slots(8)
    rig.market.trade('buy', 5_000_000_000n)
    rig.ledger.fork(signature, 1)
    await rig.slots(60)
    expect(rig.kinds(one)).toBe('acked filled? unknown filled? filled!')
  })
})

describe('if two sales of one token have an unknown outcome, the amount shows which one executed', () => {
  const PART: Size = { kind: 'percent', percent: 37.5 }
  test.each<[what: string, size: Size, sold: (held: bigint) => bigint, isPart: boolean]>([
    ['the sale of a percentage executed', PART, (held) => (held * 3_750n) / 10_000n, true],
    ['the sale of a percentage executed with a rounded amount', PART, (held) => (held * 3_750n) / 10_000n - 900n, true],
    ['the full sale executed, and not the sale of a percentage', PART, (held) => held, false],
    [
      'the sale of a number of tokens executed, with an amount that was rounded to a percentage',
      { kind: 'tokens', tokens: 1_234_567_890n, decimals: 6 },
      () => 1_234_400_000n,
      true,
    ],
    [
      'the full sale executed, and not the sale of a number of tokens',
      { kind: 'tokens', tokens: 1_234_567_890n, decimals: 6 },
      (held) => held,
      false,
    ],
  ])('%s', async (_what, size, sold, isPart) => {
    const rig = await open()
    rig.trade('buy')
    await rig.slots(60)
    const [full, part] = [rig.sell(), rig.sell({ size })]
    rig.lose(full)
    rig.lose(part)
    rig.trade('sell', { tokens: sold(rig.held()) })
    await rig.slots(60)
    const [found, other] = isPart ? [part, full] : [full, part]
    expect([rig.kinds(found), rig.kinds(other)]).toEqual(['unknown filled? filled!', 'unknown'])
    expect(rig.notices.join()).not.toContain('differs from the order')
  })
})

describe('a wallet that other processes also use', () => {
  test('small foreign transfers are classified, and do not prevent the proof that an order is absent', async () => {
    const rig = await open()
    const one = rig.buy()
    rig.lose(one)
    const dust = Array.from({ length: 12 }, (_, index) => rig.transfer(STRANGER, WALLET, 1e-6 * (index + 1), 5 * index))
    await rig.slots(PROOF_SLOTS)
    expect(rig.kinds(one)).toBe('unknown absent')
    expect(dust.map((signature) => rig.classes()[signature])).toEqual(dust.map(() => 'inflow'))
    expect(rig.foreign).toEqual([])
  })
  test('manual trades are classified as foreign, are reported once, and are not mistaken for an order', async () => {
    const rig = await open()
    const one = rig.buy()
    rig.lose(one)
    const byHand = rig.transfer(WALLET, STRANGER, 0.5, 20)
    const tip = rig.transfer(WALLET, STRANGER, 0.002, 22)
    await rig.slots(PROOF_SLOTS)
    expect(rig.kinds(one)).toBe('unknown absent')
    expect(rig.foreign.map(({ signature }) => signature)).toEqual([byHand])
    expect(rig.classes()).toMatchObject({ [byHand]: 'foreign', [tip]: 'housekeeping' })
  })
  test('if a manual buy and the buy of an order both land, the fill of the order is the buy with an amount that the order allows', async () => {
    const rig = await open()
    const one = rig.buy(0.1)
    const signature = rig.trade('buy', {}, 2)
    const byHand = rig.trade('buy', { lamports: 2e9 }, 3)
    rig.send(one).acked(signature)
    await rig.slots(150)
    expect(rig.kinds(one)).toBe('acked filled? filled!')
    expect(rig.foreign.map((row) => row.signature)).toEqual([byHand])
    expect(rig.late).toEqual([])
  })
})

describe('unreliable nodes', () => {
  test("a node 200 slots behind the chain proves no order absent until its own final slot passes the order's last one", async () => {
    const rig = new WalletRig()
    rig.faults = [lagging(rig, () => 200)]
    await rig.slots(300)
    await rig.ready()
    const [buy, sell] = [rig.buy(), rig.sell()]
    rig.lose(buy)
    rig.lose(sell)
    // The service builds the transaction at the last moment, and it lands at the end of its lifetime.
    rig.trade('buy', {}, 300 + 145)
    await rig.slots(300 + 200 + 145)
    expect([rig.kinds(buy), rig.kinds(sell)]).toEqual(['unknown', 'unknown'])
    await rig.slots(200)
    expect(rig.kinds(buy)).toBe('unknown filled? filled!')
    expect(rig.kinds(sell)).toBe('unknown absent')
  })
  // Some nodes do not know the time of recent blocks: solana-labs/solana#11963.
  test.each<[string, (slot: number, head: number) => boolean]>([
    ['its newest 40 Solana slots', (slot, head) => slot > head - 40],
    ['any slot', () => true],
  ])(
    'a node without a block time for %s delays the decision on a lost answer by at most a minute',
    async (_which, isUntold) => {
      const rig = await open()
      rig.faults = [
        (method, params, honest) => {
          if (method === 'getMultipleAccounts') return { context: { slot: 1 }, value: [null] }
          if (method !== 'getBlockTime') return honest()
          if (isUntold(params[0] as number, rig.ledger.head('confirmed').slot)) throw -32_004
          return honest()
        },
      ]
      const one = rig.buy()
      rig.lose(one)
      await rig.until(() => rig.kinds(one) === 'unknown absent', PROOF_SLOTS + 150)
    },
  )
  test('a node that has not seen the execution yet does not prove the order absent', async () => {
    const rig = new WalletRig()
    let behind = 0
    rig.faults = [lagging(rig, () => behind)]
    await rig.slots(300)
    await rig.ready()
    const one = rig.buy()
    behind = 200
    rig.trade()
    rig.lose(one)
    await rig.slots(150)
    expect(rig.kinds(one)).toBe('unknown')
    await rig.slots(100)
    expect(rig.kinds(one)).toBe('unknown filled? filled!')
  })
  test('if a current node and a node 100 Solana slots behind answer in turn, the outcome does not change', async () => {
    const rig = new WalletRig()
    const old = lagging(rig, () => 100)
    let turn = 0
    rig.faults = [(method, params, honest) => (turn++ % 2 === 0 ? old(method, params, honest) : honest())]
    await rig.slots(200)
    await rig.ready()
    const [one, other] = [rig.buy(), rig.sell()]
    rig.lose(one)
    rig.trade('buy', {}, 40)
    await rig.slots(250)
    expect(rig.kinds(one)).toMatch(/^unknown filled\? filled!$/)
    rig.lose(other)
    await rig.slots(PROOF_SLOTS + 200)
    expect(rig.kinds(other)).toBe('unknown absent')
  })
  test('a node whose list lacks a signature proves no order absent while the balance of the wallet contradicts the list', async () => {
    const rig = await open()
    const one = rig.buy()
    const signature = rig.trade()
    let isLost = true
    rig.faults = [
      (method, _params, honest) => {
        const answer = honest()
        if (method !== 'getSignaturesForAddress' || !isLost) return answer
        return (answer as { signature: string }[]).filter((row) => row.signature !== signature)
      },
    ]
    rig.lose(one)
    await rig.slots(PROOF_SLOTS + 100)
    expect(rig.kinds(one)).toBe('unknown')
    expect(rig.progress(one)).toMatch(
      /not proved yet: the wallet has 0\.1\d* SOL less than its listed transactions explain/,
    )
    await rig.slots(2_000)
    expect(rig.kinds(one)).toBe('unknown undecided')
    expect(rig.alarms.join()).toMatch(/the transaction cannot be read/)
    const later = rig.buy()
    rig.send(later).acked(rig.trade('buy', {}, Number.POSITIVE_INFINITY))
    await rig.slots(400)
    expect(rig.kinds(later)).toBe('acked absent')
    isLost = false
    await rig.slots(200)
    expect(rig.kinds(one)).toMatch(/^unknown undecided filled/)
    expect(rig.outcomes(one).at(-1)).toMatchObject({ kind: 'filled', final: true, fill: { signature } })
  })
  test('a node whose history begins after the order proves nothing about it, and the order is held for the operator', async () => {
    const rig = await open()
    const one = rig.buy()
    rig.lose(one)
    rig.faults = [(method, _params, honest) => (method === 'getFirstAvailableBlock' ? 400_000_000 : honest())]
    await rig.slots(PROOF_SLOTS + 50)
    expect(rig.kinds(one)).toBe('unknown')
    expect(rig.progress(one)).toMatch(/begins only at Solana slot 400000000/)
    await rig.slots(1_700)
    expect(rig.kinds(one)).toBe('unknown undecided')
    rig.faults = []
    await rig.slots(200)
    expect(rig.kinds(one)).toBe('unknown undecided absent')
  })
  test('an order does not expire while the chain produces no blocks, even for hours', async () => {
    const rig = await open()
    const one = rig.buy()
    rig.lose(one)
    const haltedAt = rig.ledger.head('processed').slot
    rig.faults = [standingStill(rig, haltedAt)]
    await rig.pass(3 * 3_600_000)
    expect(rig.kinds(one)).toBe('unknown')
    rig.faults = []
    await rig.slots(PROOF_SLOTS)
    expect(rig.kinds(one)).toBe('unknown absent')
  })
  test('a node whose getTransaction answers null for a signature in its list proves no order absent', async () => {
    const rig = await open()
    const one = rig.buy()
    const signature = rig.trade()
    let isMissing = true
    rig.faults = [
      (method, params, honest) =>
        method === 'getTransaction' && params[0] === signature && isMissing ? null : honest(),
    ]
    rig.lose(one)
    await rig.slots(300)
    expect(rig.kinds(one)).toBe('unknown')
    isMissing = false
    await rig.slots(160)
    expect(rig.kinds(one)).toMatch(/^unknown filled.*!$/)
  })
  test('a transaction that cannot be read delays only the orders to which it could belong', async () => {
    const rig = await open()
    const one = rig.buy()
    rig.lose(one)
    const signature = rig.transfer(STRANGER, WALLET, 0.01)
    rig.faults = [
      (method, params, honest) => {
        if (method === 'getTransaction' && params[0] === signature) throw -32_015
        return honest()
      },
    ]
    await rig.slots(3_000)
    expect(rig.classes()[signature]).toBe('opaque')
    expect(rig.kinds(one)).toBe('unknown undecided')
    const later = rig.buy()
    rig.lose(later)
    await rig.slots(PROOF_SLOTS + 100)
    expect(rig.kinds(later)).toBe('unknown absent')
  })
  test('a large order is not absent if a second node lists a transaction that the first node hides', async () => {
    const rig = await open(2)
    const [small, large] = [rig.sell(), rig.buy(2)]
    rig.lose(small)
    rig.lose(large)
    const trade = rig.trade('buy', { lamports: 2e9 })
    // The first node hides the transaction everywhere: in its list, in the balance and in the statuses.
    rig.faults = [
      (method, params, honest) => {
        const answer = honest() as { value: number; slot: number }
        if (method === 'getSignaturesForAddress')
          return (answer as unknown as { signature: string }[]).filter((row) => row.signature !== trade)
        if (method === 'getBalance' && answer.value < solToLamports(9)) return { ...answer, value: solToLamports(10) }
        return method === 'getTransaction' && params[0] === trade ? null : answer
      },
    ]
    await rig.slots(PROOF_SLOTS)
    expect([rig.kinds(small), rig.kinds(large)]).toEqual(['unknown absent', 'unknown'])
    expect(rig.progress(large)).toContain(`the second RPC lists the transaction ${trade}`)
    rig.faults = []
    await rig.slots(60)
    expect(rig.kinds(large)).toMatch(/^unknown filled/)
  })
  test('a large order is proved absent if two nodes agree', async () => {
    const rig = await open(2)
    const large = rig.buy(2)
    rig.lose(large)
    await rig.slots(PROOF_SLOTS + 20)
    expect(rig.kinds(large)).toBe('unknown absent')
  })
})

describe('crashes', () => {
  test('an order that was sent without a recorded answer is unknown, and its transaction is found by token and side', async () => {
    const rig = await open()
    const one = rig.buy()
    rig.send(one)
    rig.trade()
    await rig.crash(one)
    await rig.slots(50)
    expect(rig.kinds(one)).toBe('unknown filled? filled!')
  })
  test('the wait for a late execution starts once, even if the process crashes several times', async () => {
    const rig = await open()
    const one = rig.buy()
    rig.lose(one)
    for (let count = 0; count < 10; count++) {
      await rig.slots(25)
      await rig.crash({ ...one, state: 'unknown' })
    }
    await rig.slots(PROOF_SLOTS - 250)
    expect(rig.kinds(one)).toBe('unknown absent')
  })
  test('the wait for a late execution starts again after a reboot of the machine', async () => {
    const rig = await open()
    const one = rig.buy()
    rig.lose(one)
    await rig.slots(290)
    rig.boot = 'boot 2'
    rig.monotonicAhead = -1e12
    await rig.crash({ ...one, state: 'unknown' })
    await rig.slots(PROOF_SLOTS - 290)
    expect(rig.kinds(one)).toBe('unknown')
    await rig.slots(300)
    expect(rig.kinds(one)).toBe('unknown absent')
  })
  test('if a fork reversed a fill while the process was down, the fill is taken back after the restart', async () => {
    const rig = await open()
    const one = rig.buy()
    const signature = rig.trade()
    rig.send(one).acked(signature)
    await rig.slots(8)
    rig.ledger.fork(signature)
    await rig.crash({ ...one, state: 'landed', signature })
    await rig.slots(100)
    expect(rig.kinds(one)).toBe('acked filled? unknown')
    await rig.slots(250)
    expect(rig.kinds(one)).toBe('acked filled? unknown absent')
  })
  test.each([false, true])(
    'after a restart, a signature that two orders name belongs to the order that was already seen to execute (this order is resumed last: %s)',
    async (isLast) => {
      const rig = await open()
      rig.trade('buy')
      await rig.slots(160)
      const [one, sale] = [rig.buy(), rig.sell()]
      rig.lose(one)
      const signature = rig.trade()
      rig.send(sale).acked(signature)
      await rig.until(() => rig.kinds(one).endsWith('filled?'), 30)
      const both = [
        { ...one, state: 'landed', signature },
        { ...sale, state: 'acked', signature },
      ] as const
      await rig.crash(...(isLast ? both.toReversed() : both))
      await rig.slots(PROOF_SLOTS)
      expect(rig.kinds(one)).toMatch(/filled\? (filled\? )?filled!$/)
      expect(rig.kinds(sale)).toMatch(/^acked (unknown )?absent$/)
      expect(rig.late).toEqual([])
    },
  )
  test('an order is unknown again if the execution that was assigned to it turns out to belong to another order', async () => {
    const rig = await open()
    const [one, other] = [rig.buy(), rig.buy()]
    rig.lose(one)
    rig.lose(other)
    const signature = rig.trade()
    await rig.slots(60)
    const [filled, waits] = rig.kinds(one).endsWith('!') ? [one, other] : [other, one]
    expect(rig.kinds(filled)).toMatch(/filled!$/)
    await rig.crash({ ...waits, state: 'landed', signature })
    await rig.slots(PROOF_SLOTS)
    expect(rig.kinds(waits)).toMatch(/unknown absent$/)
    expect(rig.late).toEqual([])
  })
  test('after a restart, an ended attempt is still watched and can cause a late fill', async () => {
    const rig = await open()
    const one = rig.buy()
    rig.send(one).refused({ kind: 'refused', code: 'INVALID_PARAMETERS', reason: '', retry: 'never' })
    rig.trade('buy', {}, 60)
    await rig.slots(10)
    await rig.crash()
    await rig.slots(160)
    expect(rig.late.map(({ attempt, code }) => [attempt.id, code])).toEqual([[one.id, 'LATE_FILL']])
    await rig.crash()
    await rig.slots(100)
    expect(rig.late).toHaveLength(1)
  })
  test('if the journal is an older copy, trades missing from it are foreign and reported once, and no order becomes unknown', async () => {
    const rig = await open()
    const copy = [...rig.records]
    const one = rig.buy()
    const signature = rig.trade()
    rig.send(one).acked(signature)
    await rig.slots(60)
    expect(rig.kinds(one)).toBe('acked filled? filled!')
    rig.records.splice(0, rig.records.length, ...copy)
    await rig.crash()
    await rig.slots(100)
    expect(rig.foreign.map((row) => row.signature)).toEqual([signature])
    expect(rig.alarms).toEqual([])
    await rig.crash()
    await rig.slots(100)
    expect(rig.foreign).toHaveLength(1)
  })
  test("the wallet's first audit after a start finds an execution that landed while the process was down", async () => {
    const rig = await open()
    const one = rig.buy()
    rig.lose(one)
    rig.wallet.stop()
    rig.trade('buy', {}, 50)
    await rig.slots(200)
    await rig.crash({ ...one, state: 'unknown' })
    await rig.slots(3)
    expect(rig.kinds(one)).toBe('unknown filled!')
  })
})

/** Returns a fault that makes a node answer every request with the state of the chain at the same Solana slot. */
function standingStill(rig: WalletRig, slot: number) {
  const { height } = rig.ledger.head('finalized')
  const still = { slot: slot - 32, height: height - 10 }
  return (method: string, params: readonly unknown[], honest: () => unknown): unknown => {
    if (method === 'getEpochInfo') return { absoluteSlot: still.slot, blockHeight: still.height }
    if (method === 'getBalance') return { context: { slot: still.slot }, value: solToLamports(10) }
    if (method === 'getSignaturesForAddress') return []
    if (method === 'getBlockTime') return Math.floor((rig.ledger.blockTime(slot) ?? 0) / 1_000)
    return params === undefined ? undefined : honest()
  }
}
