import { beforeEach, expect, test } from 'vitest'
import { curveAddresses, PoolReader, poolAddresses } from '../../../src/chain/rpc/pool-reader.ts'
import type { PoolAnswer } from '../../../src/market/pool-price.ts'
import { encodePool } from '../../../src/sandbox/chain/pool-program.ts'
import { SimulatedClock } from '../../../src/simulation/simulated-clock.ts'
import { Curve } from '../../../src/solana/bonding-curve.ts'
import { CLOCK_SYSVAR, PROGRAMS } from '../../../src/solana/programs.ts'
import { keyOf, MINT } from '../landed.ts'
import { accountShape, mintBytes } from '../mint-bytes.ts'
import { ScriptedChain, settled } from '../scripted-chain.ts'

const OTHER = keyOf(8)
const PROGRAMS_READ = [PROGRAMS.bondingCurve]
const TIME_S = 1_780_000_000

let clock: SimulatedClock
let chain: ScriptedChain
let told: [mint: string, answer: PoolAnswer][]
let accounts: Map<string, object>
let reader: PoolReader

function clockShape(seconds: number): object {
  const data = Buffer.alloc(40)
  data.writeBigInt64LE(BigInt(seconds), 32)
  return accountShape(data, keyOf(1))
}

const asked = (): (readonly string[])[] => chain.calls.map(([, [addresses]]) => addresses as string[])

function onCurve(mint: string): void {
  accounts.set(mint, accountShape(mintBytes()))
  const [, curve] = curveAddresses(mint, PROGRAMS_READ) as [string, string]
  accounts.set(curve, accountShape(encodePool(mint, new Curve()).subarray(0, 81), PROGRAMS.bondingCurve))
}

beforeEach(() => {
  clock = new SimulatedClock()
  chain = new ScriptedChain()
  told = []
  accounts = new Map([[CLOCK_SYSVAR, clockShape(TIME_S)]])
  chain.methods.getMultipleAccounts = ([addresses]) => ({
    context: { slot: 77 },
    value: (addresses as string[]).map((address) => accounts.get(address) ?? null),
  })
  reader = new PoolReader({
    ...{ rpc: chain.rpc, clock, programs: PROGRAMS_READ },
    onAnswer: (mint, answer) => told.push([mint, answer]),
  })
})

async function gathered(): Promise<void> {
  clock.advanceTo(clock.now() + 100)
  for (let turn = 0; turn < 20; turn++) await settled()
}

test('simultaneous requests share one call, and each price has the Solana slot at which it was read', async () => {
  for (const mint of [MINT, OTHER]) onCurve(mint)
  for (const mint of [MINT, OTHER, MINT]) reader.ask(mint)
  await gathered()
  expect(asked()).toEqual([[CLOCK_SYSVAR, ...[MINT, OTHER].flatMap((mint) => curveAddresses(mint, PROGRAMS_READ))]])
  const reading = { slot: 77, time: TIME_S * 1_000, lamports: 30_000_000_000n, tokens: 1_073_000_000_000_000n }
  expect(told).toEqual([MINT, OTHER].map((mint) => [mint, { ...reading, decimals: 6 }]))
})

test('a request that arrives during a call is answered by a second call', async () => {
  onCurve(MINT)
  reader.ask(MINT)
  clock.advanceTo(clock.now() + 100)
  reader.ask(MINT)
  expect(asked()).toHaveLength(1)
  for (let turn = 0; turn < 20; turn++) await settled()
  expect(told).toHaveLength(1)
  await gathered()
  expect([asked().length, told.length]).toEqual([2, 2])
})

test('no call names more accounts than a node accepts', async () => {
  for (let index = 1; index <= 120; index++) reader.ask(keyOf(index))
  await gathered()
  expect(Math.max(...asked().map((addresses) => addresses.length))).toBeLessThanOrEqual(100)
  expect(told).toHaveLength(120)
})

test('if a token has no curve, its pool is read; if it has no pool either, both addresses are read again', async () => {
  accounts.set(MINT, accountShape(mintBytes()))
  reader.ask(MINT)
  await gathered()
  expect(asked()).toEqual([
    [CLOCK_SYSVAR, ...curveAddresses(MINT, PROGRAMS_READ)],
    [CLOCK_SYSVAR, ...poolAddresses(MINT, PROGRAMS.token)],
  ])
  expect(told).toEqual([[MINT, expect.objectContaining({ code: 'POOL_UNREADABLE' })]])
  onCurve(MINT)
  reader.ask(MINT)
  await gathered()
  expect(told[1]).toEqual([MINT, expect.objectContaining({ slot: 77 })])
})

test.each<[what: string, answer: () => unknown]>([
  [
    'the node throws an error',
    () => {
      throw 1
    },
  ],
  [
    'the Clock account is missing',
    () => {
      accounts.delete(CLOCK_SYSVAR)
    },
  ],
  [
    'the Clock account is invalid',
    () => {
      accounts.set(CLOCK_SYSVAR, accountShape(new Uint8Array(41)))
    },
  ],
  [
    'the time in the Clock account is negative',
    () => {
      accounts.set(CLOCK_SYSVAR, clockShape(-5))
    },
  ],
  ['the answer is too short', () => ({ context: { slot: 1 }, value: [] })],
  ['the answer is invalid', () => 'pools'],
  ['the Solana slot is missing', () => ({ context: {}, value: [null, null, null] })],
  ['an account is invalid', () => ({ context: { slot: 1 }, value: [7, 7, 7] })],
])('if %s, the reader reports POOL_SILENT, and reads the pool again for the next request', async (_what, answer) => {
  onCurve(MINT)
  const usual = chain.methods.getMultipleAccounts as (params: readonly unknown[]) => unknown
  chain.methods.getMultipleAccounts = (params) => answer() ?? usual(params)
  reader.ask(MINT)
  await gathered()
  expect(told).toEqual([[MINT, expect.objectContaining({ code: 'POOL_SILENT' })]])
  accounts.set(CLOCK_SYSVAR, clockShape(TIME_S))
  chain.methods.getMultipleAccounts = usual
  reader.ask(MINT)
  await gathered()
  expect(told[1]).toEqual([MINT, expect.objectContaining({ slot: 77 })])
})

test('the reader reports nothing after it was stopped', async () => {
  onCurve(MINT)
  reader.ask(MINT)
  reader.stop()
  await gathered()
  expect(told).toEqual([])
})
