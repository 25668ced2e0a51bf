import { beforeEach, expect, test } from 'vitest'
import { Follower } from '../../../src/chain/resolver/signature-follower.ts'
import type { Outcome } from '../../../src/orders/ports.ts'
import { SimulatedClock } from '../../../src/simulation/simulated-clock.ts'
import { buyAttempt } from '../../support/attempts.ts'
import { keyOf, landed, MINT, ownTokens, SIGNATURE, signatureOf, WALLET, wallet } from '../landed.ts'
import { ScriptedChain, settled } from '../scripted-chain.ts'

const RENT = 2_039_280
const bought = [wallet(1_000_000_000, 899_995_000), ownTokens([0n, 5_000n], [RENT, RENT])]
const START = 1_782_611_393_000
type Status = { slot: number; confirmationStatus?: string; err?: unknown } | null

let clock: SimulatedClock
let chain: ScriptedChain
let follower: Follower
let statuses: Map<string, Status>
let transaction: unknown
let outcomes: Outcome[]

beforeEach(() => {
  clock = new SimulatedClock(START)
  chain = new ScriptedChain()
  statuses = new Map()
  transaction = landed(bought)
  outcomes = []
  chain.methods.getSignatureStatuses = ([signatures]) => ({
    context: { slot: 1 },
    value: (signatures as string[]).map((one) => statuses.get(one) ?? null),
  })
  chain.methods.getTransaction = () => transaction
  follower = new Follower({ rpc: chain.rpc, clock, wallet: WALLET })
})

const follow = (signature = SIGNATURE) =>
  follower.follow(signature, buyAttempt(MINT, 0.1, { armedAt: START }), (outcome) => outcomes.push(outcome))
const see = (confirmationStatus: string, slot = 100): void => void statuses.set(SIGNATURE, { slot, confirmationStatus })
async function pass(ms: number): Promise<void> {
  const until = clock.now() + ms
  while (clock.nextAt() <= until) {
    clock.advanceTo(clock.nextAt())
    await settled()
  }
  clock.advanceTo(until)
  await settled()
}
const kinds = (): string =>
  outcomes.map((one) => ('final' in one ? `${one.kind}${one.final ? '!' : '?'}` : one.kind)).join(' ')

test('a fill is provisional at commitment confirmed and final at finalized, is read at both, and causes no call afterwards', async () => {
  follow()
  expect(outcomes).toEqual([])
  await pass(1_000)
  expect([kinds(), chain.count('getTransaction')]).toEqual(['', 0])
  see('processed')
  await pass(500)
  expect(kinds()).toBe('')
  see('confirmed')
  await pass(500)
  expect(kinds()).toBe('filled?')
  await pass(20_000)
  expect([kinds(), chain.count('getTransaction')]).toEqual(['filled?', 1])
  see('finalized')
  await pass(2_000)
  expect(kinds()).toBe('filled? filled!')
  expect(outcomes[1]).toMatchObject({ fill: { signature: SIGNATURE, tokens: 5_000n, final: true, slot: 100 } })
  expect(clock.nextAt()).toBe(Number.POSITIVE_INFINITY)
  expect(chain.calls.find(([method]) => method === 'getTransaction')?.[1]).toEqual([
    SIGNATURE,
    { commitment: 'confirmed', encoding: 'json', maxSupportedTransactionVersion: 1 },
  ])
})

test('the follower asks every 500 ms while a signature is unseen, and every 2 s until it is final', async () => {
  follow()
  await pass(2_000)
  expect(chain.count('getSignatureStatuses')).toBe(5)
  see('confirmed')
  await pass(500)
  const before = chain.count('getSignatureStatuses')
  await pass(10_000)
  expect(chain.count('getSignatureStatuses') - before).toBe(5)
})

test('the follower keeps asking for an unseen signature, but less and less often, and then also searches the history', async () => {
  follow()
  await pass(59_999)
  expect(
    chain.calls.some(([, params]) => (params[1] as { searchTransactionHistory: boolean }).searchTransactionHistory),
  ).toBe(false)
  const before = chain.count('getSignatureStatuses')
  await pass(3_600_000)
  expect(chain.count('getSignatureStatuses') - before).toBe(1_800)
  expect(chain.calls.at(-1)?.[1][1]).toEqual({ searchTransactionHistory: true })
  expect(outcomes).toEqual([])
})

test("a signature that the node forgot before we saw it final is found in the node's history", async () => {
  follow()
  see('confirmed')
  await pass(1_000)
  statuses.clear() // cut off meanwhile: by now it is final, and no longer in the cache
  chain.methods.getSignatureStatuses = ([, options]) => ({
    context: { slot: 1 },
    value: [
      (options as { searchTransactionHistory: boolean }).searchTransactionHistory
        ? { slot: 100, confirmationStatus: 'finalized' }
        : null,
    ],
  })
  await pass(62_000)
  expect(kinds()).toBe('filled? filled!')
})

test('one call asks for up to 256 signatures', async () => {
  const many = Array.from({ length: 300 }, (_, index) => signatureOf(index % 256) + index)
  for (const signature of many) follow(signature)
  await pass(0)
  expect(chain.calls.map(([, params]) => (params[0] as string[]).length)).toEqual([256, 44])
})

test('a failed transaction is reported as reverted, with its fee and its error code', async () => {
  transaction = landed([wallet(10_000, 5_000)], { error: { InstructionError: [1, { Custom: 6042 }] } })
  see('finalized')
  follow()
  await pass(0)
  expect(outcomes).toEqual([
    { kind: 'reverted', signature: SIGNATURE, feeLamports: 5_000, code: 'SLIPPAGE_EXCEEDED', final: true },
  ])
})

test.each<[string, () => void]>([
  [
    "a transaction that is not the attempt's",
    () => {
      transaction = landed([wallet(5_000, 0)])
    },
  ],
  [
    'a transaction that cannot be read is reported',
    () => {
      chain.methods.getTransaction = () => {
        throw -32_015
      }
    },
  ],
])('%s: unknown', async (_name, arrange) => {
  arrange()
  see('finalized')
  follow()
  await pass(5_000)
  expect(outcomes).toEqual([expect.objectContaining({ kind: 'unknown', signature: SIGNATURE })])
})

test('a transaction that a fork moves into another Solana slot is read again, and one that a fork removes is awaited', async () => {
  see('confirmed', 100)
  follow()
  await pass(0)
  statuses.set(SIGNATURE, null)
  await pass(10_000)
  expect(kinds()).toBe('filled?')
  transaction = landed([wallet(1_000_000_000, 899_995_000), ownTokens([0n, 4_000n], [RENT, RENT])], { slot: 140 })
  see('confirmed', 140)
  await pass(2_000)
  see('finalized', 140)
  await pass(2_000)
  expect(kinds()).toBe('filled? filled? filled!')
  expect(outcomes[2]).toMatchObject({ fill: { tokens: 4_000n, slot: 140 } })
})

test('a node that knows only the status of a transaction is asked again, and a call that fails is repeated', async () => {
  see('confirmed')
  transaction = null
  follow()
  await pass(1_000)
  expect(kinds()).toBe('')
  chain.methods.getSignatureStatuses = () => {
    throw 429
  }
  await pass(1_000)
  chain.methods.getSignatureStatuses = () => ({ value: [{ slot: 100, confirmationStatus: 'confirmed' }] })
  transaction = landed(bought)
  await pass(1_000)
  expect(kinds()).toBe('filled?')
})

test.each([null, 5, {}, { value: 5 }, { value: ['x'] }, { value: [{}] }])(
  'the answer %j is not accepted as a list of statuses',
  async (answer) => {
    chain.methods.getSignatureStatuses = () => answer
    follow()
    await pass(2_000)
    expect(outcomes).toEqual([])
  },
)

test('after a cancellation, the follower reports nothing, and no timer runs', async () => {
  const cancel = follow()
  const other = follow(keyOf(1))
  await pass(0)
  see('finalized')
  cancel()
  await pass(2_000)
  expect(outcomes).toEqual([])
  other()
  await pass(2_000)
  expect(clock.nextAt()).toBe(Number.POSITIVE_INFINITY)
})
