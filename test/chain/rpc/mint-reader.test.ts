import { beforeEach, expect, test } from 'vitest'
import { MintReader } from '../../../src/chain/rpc/mint-reader.ts'
import { SimulatedClock } from '../../../src/simulation/simulated-clock.ts'
import type { MintFacts } from '../../../src/solana/mint.ts'
import { keyOf } from '../landed.ts'
import { accountShape, mintBytes } from '../mint-bytes.ts'
import { ScriptedChain, settled } from '../scripted-chain.ts'

const MINT = keyOf(7)
const PLAIN: MintFacts = { program: 'token', traits: [] }

let clock: SimulatedClock
let chain: ScriptedChain
let account: () => unknown
let told: string[]
let reader: MintReader

beforeEach(() => {
  clock = new SimulatedClock()
  chain = new ScriptedChain()
  told = []
  account = () => accountShape(mintBytes())
  chain.methods.getAccountInfo = () => ({ context: { slot: 1 }, value: account() })
  reader = new MintReader({ rpc: chain.rpc, clock, onFacts: (mint, facts) => told.push(`${mint} ${facts.program}`) })
})

async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 100) {
    clock.advanceTo(clock.now() + 100)
    await settled()
  }
}

function ask(mint = MINT): (MintFacts | undefined)[] {
  const heard: (MintFacts | undefined)[] = []
  reader.read(mint, (facts) => heard.push(facts))
  return heard
}

test('each mint is read once for all callers, and its properties are reported once', async () => {
  const [one, other] = [ask(), ask()]
  expect([one, other]).toEqual([[], []])
  await settled()
  expect([one, other, ask()]).toEqual([[PLAIN], [PLAIN], [PLAIN]])
  expect(chain.calls).toEqual([['getAccountInfo', [MINT, { commitment: 'processed', encoding: 'base64' }]]])
  expect(told).toEqual([`${MINT} token`])
})

test('a mint that does not exist yet is read again, and a caller that waits too long gets undefined', async () => {
  account = () => null
  const early = ask()
  await pass(4_900)
  const late = ask()
  await pass(200)
  expect([early, late]).toEqual([[undefined], []])
  account = () => accountShape(mintBytes({ freezeAuthority: true }))
  await pass(200)
  expect(late).toEqual([{ program: 'token', traits: ['freezeAuthority'] }])
  expect(told).toEqual([`${MINT} token`])
  await pass(2_000)
  expect([early.length, late.length]).toEqual([1, 1])
})

test.each<[string, () => unknown]>([
  [
    'an error',
    () => {
      throw -32_005
    },
  ],
  ['an invalid account', () => ({ lamports: 'many' })],
  ['no account', () => undefined],
])(
  'if a node answers with %s for half a minute, the reader returns undefined, and reads the mint only when it is requested again',
  async (_what, answer) => {
    account = answer
    const heard = ask()
    await pass(31_000)
    expect([heard, told]).toEqual([[undefined], []])
    const { length } = chain.calls
    await pass(5_000)
    expect(chain.calls).toHaveLength(length)
    account = () => accountShape(mintBytes())
    const again = ask()
    await settled()
    expect(again).toEqual([PLAIN])
  },
)

test('mints that the bots may buy soon are read in advance, four at a time', async () => {
  const mints = [7, 8, 9, 10, 11, 12].map(keyOf)
  for (const key of ['trades', ...mints]) reader.prepare(key)
  expect(chain.calls.map(([, [mint]]) => mint)).toEqual(mints.slice(0, 4))
  await settled()
  for (const key of mints) reader.prepare(key)
  await settled()
  expect(chain.calls.map(([, [mint]]) => mint)).toEqual(mints)
  expect(ask(mints[5])).toEqual([PLAIN])
})

test('the reader calls no callback after it was stopped', async () => {
  const heard = ask()
  reader.stop()
  await settled()
  expect([heard, told]).toEqual([[], []])
})
