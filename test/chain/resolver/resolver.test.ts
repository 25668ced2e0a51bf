import { describe, expect, test } from 'vitest'
import { solToLamports } from '../../../src/base/units.ts'
import type { Size } from '../../../src/engine/order.ts'
import type { Attempt } from '../../../src/orders/attempt.ts'
import type { Outcome } from '../../../src/orders/ports.ts'
import { signatureOf } from '../landed.ts'
import { lagging, MINT, STRANGER, WALLET, WalletRig } from '../wallet-rig.ts'

const open = (nodes = 1): Promise<WalletRig> => new WalletRig(nodes).ready()
/** Blocks of 400 ms, of which one in 25 is missing. */
const PROOF_SLOTS = 300 + 200 + 32 + 60

describe('an answer is lost', () => {
  test('and the order executed: known within 5 s, final as soon as the chain is', async () => {
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
  test('and it never executed: absent once the chain is final past 120 s and 200 blocks, with its progress in blocks', async () => {
    const rig = await open()
    const one = rig.buy()
    rig.lose(one)
    await rig.slots(280)
    expect(rig.progress(one)).toMatch(/^unknown; the service may still carry it out until /)
    await rig.slots(130)
    expect(rig.kinds(one)).toBe('unknown')
    expect(rig.progress(one)).toMatch(/^unknown, \d+ of \d+ blocks to proof$/)
    const waited = 410 + (await rig.until(() => rig.kinds(one) === 'unknown absent', 200))
    expect(waited).toBeGreaterThan((300 + 200) * 0.9)
    expect(waited).toBeLessThan(PROOF_SLOTS)
    expect(rig.wallet.resolver.watches.all()).toHaveLength(1)
    expect(rig.late).toEqual([])
  })
  test('and it executes late, within the bound', async () => {
    const rig = await open()
    const one = rig.buy()
    rig.lose(one)
    rig.trade('buy', {}, 290)
    await rig.slots(340)
    expect(rig.kinds(one)).toBe('unknown filled? filled!')
  })
  test('and it executes beyond the bound: proved absent, then a late fill', async () => {
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
  test('and it executes when nobody watches any more: foreign', async () => {
    const rig = await open()
    rig.lose(rig.buy())
    const signature = rig.trade('buy', {}, 2_400)
    await rig.slots(2_520)
    expect(rig.late).toEqual([])
    expect(rig.foreign.map((row) => row.signature)).toEqual([signature])
  })
  test('and it executed twice: both are booked, the second as a duplicate', async () => {
    const rig = await open()
    const one = rig.buy()
    const [first, second] = [rig.trade('buy', {}, 2), rig.trade('buy', {}, 20)]
    rig.lose(one)
    await rig.slots(150)
    expect(rig.kinds(one)).toBe('unknown filled? filled!')
    expect(rig.outcomes(one).at(-1)).toMatchObject({ fill: { signature: first } })
    expect(rig.late.map(({ fill, code }) => [fill.signature, code])).toEqual([[second, 'SERVICE_DUPLICATE']])
  })
  test('and something of this token failed: its fee is told, once, and the order may still execute', async () => {
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
  test('and something of this token failed, and nothing else came: absent, not reverted', async () => {
    const rig = await open()
    const one = rig.buy()
    rig.lose(one)
    rig.trade('buy', { fails: true })
    await rig.slots(PROOF_SLOTS)
    expect(rig.kinds(one)).toBe('unknown absent')
    expect(rig.paid).toHaveLength(1)
  })
  test('and the answer comes late, with the signature of one that failed: reverted, and its fee is told once', async () => {
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
  test('and the process died after the fee was told: it is told once', async () => {
    const rig = await open()
    const one = rig.buy()
    rig.lose(one)
    rig.trade('buy', { fails: true })
    await rig.slots(120)
    expect(rig.paid).toHaveLength(1)
    // What the audit classified had not reached the disk.
    for (const record of rig.records.splice(0)) if (record.kind !== 'wallet') rig.records.push(record)
    await rig.crash({ ...one, state: 'unknown' })
    await rig.slots(PROOF_SLOTS)
    expect(rig.paid).toHaveLength(1)
    expect(rig.kinds(one)).toMatch(/^unknown( unknown)? absent$/)
  })
  test('and the feed shows a trade as ours that the chain does not have, or that is none of ours: nothing', async () => {
    const rig = await open()
    const one = rig.buy()
    rig.lose(one)
    rig.wallet.resolver.hint(MINT, signatureOf(77))
    rig.wallet.resolver.hint(MINT, rig.transfer(STRANGER, WALLET, 0.01))
    await rig.slots(PROOF_SLOTS)
    expect(rig.kinds(one)).toMatch(/^unknown( unknown)* absent$/)
    expect([rig.late, rig.foreign]).toEqual([[], []])
  })
  test('and it executed with another amount: the fill is what the chain says', async () => {
    const rig = await open()
    const one = rig.buy(0.1)
    rig.trade('buy', { lamports: 3e8 })
    rig.lose(one)
    await rig.slots(45)
    expect(rig.kinds(one)).toBe('unknown filled? filled!')
    const last = rig.outcomes(one).at(-1) as Extract<Outcome, { kind: 'filled' }>
    expect(last.fill.tradeLamports).toBeCloseTo(3e8, -1)
    expect(rig.notices.join()).toContain('another amount')
    expect(rig.foreign).toEqual([])
  })
})

describe('a full exit has several attempts out', () => {
  /** Both answers lost; the wallet holds tokens. */
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

  test('a row whose signature nobody knows proves the order at once, and ends neither: each has its own bound', async () => {
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
  test('the other one sells what came in meanwhile: both sales are booked, neither late nor twice', async () => {
    const { rig, one, other } = await twice()
    rig.trade('sell')
    await rig.slots(20)
    rig.trade('buy') // from elsewhere
    await rig.slots(5)
    rig.trade('sell')
    await rig.slots(60)
    expect(standIn(rig)).toBe('filled? filled!, filled? filled!')
    expect([rig.kinds(one), rig.kinds(other), rig.late]).toEqual(['unknown', 'unknown', []])
  })
  test('a fork takes it back: so it is with what was seen, and nothing else', async () => {
    const { rig, one, other } = await twice()
    const signature = rig.trade('sell')
    await rig.slots(12)
    rig.ledger.fork(signature)
    await rig.slots(90)
    expect([standIn(rig), rig.kinds(one), rig.kinds(other)]).toEqual(['filled? unknown', 'unknown', 'unknown'])
    await rig.slots(PROOF_SLOTS)
    expect([standIn(rig), rig.kinds(one)]).toEqual(['filled? unknown absent', 'unknown absent'])
  })
  test.each([8, 60])('the service names it %i slots later: that attempt is proved, the other waits', async (slots) => {
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
  })
  test('the feed shows it: the same', async () => {
    const { rig, one, other } = await twice()
    const signature = rig.trade('sell')
    rig.wallet.resolver.hint(MINT, signature)
    await rig.slots(70)
    expect([standIn(rig), rig.kinds(one), rig.kinds(other)]).toEqual(['filled? filled!', 'unknown', 'unknown'])
  })
  test('the service named it, and the process died: what stood for that attempt ends with it', async () => {
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
  test('all but one were refused: it is that one', async () => {
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

describe('an answer that is wrong', () => {
  test('a signature that nobody knows: the order is found by its lane', async () => {
    const rig = await open()
    const one = rig.buy()
    const signature = rig.trade()
    rig.send(one).acked(rig.transfer(STRANGER, STRANGER, 1e-9, Number.POSITIVE_INFINITY))
    await rig.slots(60)
    expect(rig.kinds(one)).toBe('acked filled? filled!')
    expect(rig.outcomes(one).at(-1)).toMatchObject({ fill: { signature } })
  })
  test("a stranger's signature: unknown, then absent", async () => {
    const rig = await open()
    const one = rig.buy()
    rig.send(one).acked(rig.transfer(STRANGER, STRANGER, 0.1))
    await rig.slots(320)
    expect(rig.kinds(one)).toMatch(/^acked unknown absent$/)
  })
  test('the signature of an older trade of ours: no proof', async () => {
    const rig = await open()
    const older = rig.trade()
    await rig.slots(120)
    const one = rig.buy()
    rig.send(one).acked(older)
    await rig.slots(320)
    expect(rig.kinds(one)).toBe('acked unknown absent')
  })
  test('the signature of an order in the other direction: nobody is kept from it', async () => {
    const rig = new WalletRig()
    rig.trade()
    await rig.slots(400) // too long ago to be of a process that trades now
    await rig.ready()
    const [sale, buy] = [rig.sell(), rig.buy()]
    const signature = rig.trade()
    rig.send(sale).acked(signature)
    rig.lose(buy)
    await rig.slots(60)
    expect([rig.kinds(sale), rig.kinds(buy)]).toEqual(['acked unknown', 'unknown filled? filled!'])
    expect(rig.foreign).toEqual([])
  })
  test('nothing was sent, after something in its lane was seen: that was not its own', async () => {
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
  test('the signature of another order', async () => {
    const rig = await open()
    const [one, other] = [rig.buy(), rig.buy()]
    const signature = rig.trade()
    rig.send(one).acked(signature)
    rig.send(other).acked(signature)
    await rig.slots(45)
    expect([rig.kinds(one), rig.kinds(other)]).toEqual(['acked filled? filled!', 'unknown'])
  })
})

test('acked and lost by the network: absent 200 blocks after the answer', async () => {
  const rig = await open()
  const one = rig.buy()
  rig.send(one).acked(rig.trade('buy', {}, Number.POSITIVE_INFINITY))
  const waited = await rig.until(() => rig.kinds(one) === 'acked absent', 400)
  expect(waited).toBeGreaterThan(200)
  expect(waited).toBeLessThan(200 + 32 + 60)
})

test('refused and executed all the same: a late fill of a refused attempt', async () => {
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

test('refused, and tried again: the execution is the second one, unless there are two', async () => {
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
  test('a confirmed fill is dropped for good: taken back, then proved absent', async () => {
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
  test('a confirmed fill is dropped and lands again', async () => {
    const rig = await open()
    const one = rig.buy()
    const signature = rig.trade()
    rig.send(one).acked(signature)
    await rig.slots(8)
    rig.ledger.fork(signature, 60)
    await rig.slots(160)
    expect(rig.kinds(one)).toBe('acked filled? unknown filled? filled!')
  })
  /** Executes, and in the block that a fork puts it into it fails. */
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
  test('it lands again and fails: taken back, and reverted', async () => {
    const rig = await open()
    const one = rig.buy()
    const signature = failsAgain(rig)
    rig.send(one).acked(signature)
    await fork(rig, signature)
    expect(rig.kinds(one)).toMatch(/^acked filled\? unknown (reverted\? )?reverted!$/)
  })
  test('it lands again and fails, after a restart: the same', async () => {
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
  test('it lands again and fails, and the service never named it: it may have been anybody, so its bound decides', async () => {
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
  test('it lands again at once and brings something else: taken back, and told anew', async () => {
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

describe('two sales of one lane in doubt: the amount says which it was', () => {
  const PART: Size = { kind: 'percent', percent: 37.5 }
  test.each<[what: string, size: Size, sold: (held: bigint) => bigint, isPart: boolean]>([
    ['a share', PART, (held) => (held * 3_750n) / 10_000n, true],
    ['a share, rounded by the service', PART, (held) => (held * 3_750n) / 10_000n - 900n, true],
    ['everything, beside a share', PART, (held) => held, false],
    [
      'so many, sent as a percentage',
      { kind: 'tokens', tokens: 1_234_567_890n, decimals: 6 },
      () => 1_234_400_000n,
      true,
    ],
    ['everything, beside so many', { kind: 'tokens', tokens: 1_234_567_890n, decimals: 6 }, (held) => held, false],
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
    expect(rig.notices.join()).not.toContain('another amount')
  })
})

describe('a wallet that others use, too', () => {
  test('dust and spam while an answer is lost: classified, and absence is proved all the same', async () => {
    const rig = await open()
    const one = rig.buy()
    rig.lose(one)
    const dust = Array.from({ length: 12 }, (_, index) => rig.transfer(STRANGER, WALLET, 1e-6 * (index + 1), 5 * index))
    await rig.slots(PROOF_SLOTS)
    expect(rig.kinds(one)).toBe('unknown absent')
    expect(dust.map((signature) => rig.classes()[signature])).toEqual(dust.map(() => 'inflow'))
    expect(rig.foreign).toEqual([])
  })
  test('used by hand: foreign, told once, and no order is confused', async () => {
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
  test('a buy by hand beside an executed order: the one within its bounds is the order', async () => {
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

describe('a node that cannot be trusted', () => {
  test('200 slots behind: nothing is absent before its own finality says so', async () => {
    const rig = new WalletRig()
    rig.faults = [lagging(rig, () => 200)]
    await rig.slots(300)
    await rig.ready()
    const [buy, sell] = [rig.buy(), rig.sell()]
    rig.lose(buy)
    rig.lose(sell)
    // Built as late as the service may, and landed as late as a transaction can.
    rig.trade('buy', {}, 300 + 145)
    await rig.slots(300 + 200 + 145)
    expect([rig.kinds(buy), rig.kinds(sell)]).toEqual(['unknown', 'unknown'])
    await rig.slots(200)
    expect(rig.kinds(buy)).toBe('unknown filled? filled!')
    expect(rig.kinds(sell)).toBe('unknown absent')
  })
  // Of a node that tells no time of its blocks: solana-labs/solana#11963.
  test.each<[string, (slot: number, head: number) => boolean]>([
    ['its newest 40 slots', (slot, head) => slot > head - 40],
    ['any slot', () => true],
  ])('that has no block time for %s: a lost answer is decided at most a minute later', async (_which, isUntold) => {
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
  })
  test('behind, with an execution that it does not show yet', async () => {
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
  test('nodes that alternate, one of them behind: the same as with one', async () => {
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
  test('a signature that its index has lost: the lamports tell, and it is not absent; when it is listed again it is the order', async () => {
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
    expect(rig.alarms.join()).toMatch(/nobody can read it/)
    const later = rig.buy()
    rig.send(later).acked(rig.trade('buy', {}, Number.POSITIVE_INFINITY))
    await rig.slots(400)
    expect(rig.kinds(later)).toBe('acked absent')
    isLost = false
    await rig.slots(200)
    expect(rig.kinds(one)).toMatch(/^unknown undecided filled/)
    expect(rig.outcomes(one).at(-1)).toMatchObject({ kind: 'filled', final: true, fill: { signature } })
  })
  test('history that begins after the order: not absent, and held in the end', async () => {
    const rig = await open()
    const one = rig.buy()
    rig.lose(one)
    rig.faults = [(method, _params, honest) => (method === 'getFirstAvailableBlock' ? 400_000_000 : honest())]
    await rig.slots(PROOF_SLOTS + 50)
    expect(rig.kinds(one)).toBe('unknown')
    expect(rig.progress(one)).toMatch(/history begins only at slot 400000000/)
    await rig.slots(1_700)
    expect(rig.kinds(one)).toBe('unknown undecided')
    rig.faults = []
    await rig.slots(200)
    expect(rig.kinds(one)).toBe('unknown undecided absent')
  })
  test('a chain that stands still for hours: nothing expires by the clock', async () => {
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
  test('getTransaction answers null for what is listed: waited for, never taken for absent', async () => {
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
  test('a transaction that nobody can read, in between: opaque, and only what it may be waits', async () => {
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
  test('a second node that lists what the first does not: a large order is not absent', async () => {
    const rig = await open(2)
    const [small, large] = [rig.sell(), rig.buy(2)]
    rig.lose(small)
    rig.lose(large)
    const trade = rig.trade('buy', { lamports: 2e9 })
    // The first node lies with all it has: neither listed, nor gone from the balance, nor known.
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
    expect(rig.progress(large)).toContain(`the second RPC lists ${trade}`)
    rig.faults = []
    await rig.slots(60)
    expect(rig.kinds(large)).toMatch(/^unknown filled/)
  })
  test('two nodes that agree: a large order is absent', async () => {
    const rig = await open(2)
    const large = rig.buy(2)
    rig.lose(large)
    await rig.slots(PROOF_SLOTS + 20)
    expect(rig.kinds(large)).toBe('unknown absent')
  })
})

describe('crashes', () => {
  test('sent, and nothing known: unknown, found by its lane', async () => {
    const rig = await open()
    const one = rig.buy()
    rig.send(one)
    rig.trade()
    await rig.crash(one)
    await rig.slots(50)
    expect(rig.kinds(one)).toBe('unknown filled? filled!')
  })
  test('the wait for a late execution begins once, however often the process dies', async () => {
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
  test('another boot: it begins anew', async () => {
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
  test('a fill was seen, and a fork took it back while nobody looked', async () => {
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
    'the service gave its signature to another order, too: whoever was seen to execute has it; taken up last: %s',
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
  test('it was seen to execute, and by now that is finally another order: it has yet to execute', async () => {
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
  test('what had ended is watched on: a late fill after the restart', async () => {
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
  test('an older copy of the journal: what it does not know of is foreign, told once, and nothing is doubted', async () => {
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
  test('an execution while nobody ran is found by the first audit', async () => {
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

/** Answers for ever as the chain was at a slot. */
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
