import { beforeEach, expect, test } from 'vitest'
import { WalletReader } from '../../../src/chain/wallet/wallet-reader.ts'
import { SimulatedClock } from '../../../src/simulation/simulated-clock.ts'
import { WALLET } from '../landed.ts'
import { ScriptedChain, settled } from '../scripted-chain.ts'

let clock: SimulatedClock
let chain: ScriptedChain
let balance: () => unknown
let readings: string[]
let reader: WalletReader

beforeEach(() => {
  clock = new SimulatedClock()
  chain = new ScriptedChain()
  readings = []
  balance = () => ({ context: { slot: 10 }, value: 500 })
  chain.methods.getBalance = () => balance()
  const read = (lamports: number, slot: number): void => void readings.push(`${lamports} at ${slot}`)
  reader = new WalletReader({ rpc: chain.rpc, clock, wallet: WALLET, read })
})

async function pass(ms: number): Promise<void> {
  clock.advanceTo(clock.now() + ms)
  await settled()
}

test('the balance is read at the start, every 30 s, and after each transaction that landed', async () => {
  reader.start()
  await settled()
  expect(chain.calls).toEqual([['getBalance', [WALLET, { commitment: 'confirmed' }]]])
  balance = () => ({ context: { slot: 20 }, value: 400 })
  await pass(29_999)
  expect(readings).toEqual(['500 at 10'])
  await pass(1)
  balance = () => ({ context: { slot: 25 }, value: 300 })
  reader.refresh()
  await settled()
  expect(readings).toEqual(['500 at 10', '400 at 20', '300 at 25'])
  await pass(29_999)
  expect(readings).toHaveLength(3)
})

test('if a transaction lands while the balance is being read, the balance is read a second time', async () => {
  reader.start()
  reader.refresh()
  reader.refresh()
  await settled()
  expect(chain.calls).toHaveLength(2)
})

test('the answer of a provider that lags behind is ignored', async () => {
  reader.start()
  await settled()
  balance = () => ({ context: { slot: 9 }, value: 900 })
  await pass(30_000)
  expect(readings).toEqual(['500 at 10'])
})

test.each([
  null,
  5,
  {},
  { context: { slot: 1 }, value: -1 },
  { context: {}, value: 1 },
  { context: { slot: 1 }, value: 1.5 },
])('the answer %j is not accepted as a balance, and the balance is read again after 2 s', async (answer) => {
  balance = () => answer
  reader.start()
  await settled()
  expect(readings).toEqual([])
  balance = () => ({ context: { slot: 10 }, value: 500 })
  await pass(2_000)
  expect(readings).toEqual(['500 at 10'])
})

test('a reader that was stopped neither reads nor reports', async () => {
  reader.start()
  reader.stop()
  await settled()
  reader.refresh()
  await settled()
  expect([readings, chain.calls.length, clock.nextAt()]).toEqual([[], 1, Number.POSITIVE_INFINITY])
})
