import { expect, test } from 'vitest'
import { VALID_BLOCKS } from '../../src/chain/absence.ts'
import { FreshHead } from '../../src/chain/fresh-head.ts'
import { SimulatedClock } from '../../src/simulation/clock.ts'
import { ScriptedChain, settled } from './scripted-chain.ts'

const START = 1_790_000_000_000
/** Blocks that a transaction lives: the rest of a bound is room for a head that is behind. */
const LIFE = 150

/** Whether a head is taken from a node that is so many blocks behind, `ms` into a second of the chain's clock. */
async function isTaken(lagBlocks: number, slotMs: number, clockBehindMs: number, ms: number): Promise<boolean> {
  const chain = new ScriptedChain()
  const clock = new SimulatedClock(START + ms - clockBehindMs)
  const blockAt = START + ms - lagBlocks * slotMs
  chain.methods.getEpochInfo = () => ({ absoluteSlot: 1_000, blockHeight: 900 })
  chain.methods.getBlockTime = () => Math.floor(blockAt / 1_000)
  let taken = false
  const head = new FreshHead({ rpc: chain.rpc, clock, waits: () => {} })
  head.ask(() => {
    taken = true
  })
  await settled()
  head.stop()
  return taken
}

// Slot times of the design, of the main network measured in 2026, and of the plan; our clock as far off as is allowed for.
test.each([
  [400, 0],
  [350, 2_000],
  [214, 0],
  [214, 2_000],
  [200, 0],
  [200, 2_000],
  [200, -2_000],
])(
  'slots of %i ms, a clock %i ms behind: no head is taken that the bounds have no room for',
  async (slotMs, behind) => {
    for (const ms of [0, 1, 499, 999]) {
      const lags: number[] = []
      for (let lag = 0; lag <= 120; lag++) if (await isTaken(lag, slotMs, behind, ms)) lags.push(lag)
      expect(Math.max(...lags)).toBeLessThanOrEqual(VALID_BLOCKS - LIFE)
      expect(lags.length).toBeGreaterThanOrEqual(10) // a healthy node is a few blocks behind at confirmed
    }
  },
)

test('a node that comes back up: it is asked again, and who waits is told of the newer head', async () => {
  const chain = new ScriptedChain()
  const clock = new SimulatedClock(START)
  let slot = 1_000
  chain.methods.getEpochInfo = () => ({ absoluteSlot: slot, blockHeight: slot - 100 })
  chain.methods.getBlockTime = ([of]) => Math.floor((START - (1_100 - (of as number)) * 214) / 1_000)
  const waits: string[] = []
  const heights: number[] = []
  const head = new FreshHead({ rpc: chain.rpc, clock, waits: (reason) => waits.push(reason) })
  head.ask(({ height }) => heights.push(height))
  await settled()
  expect([heights, waits]).toEqual([[], [expect.stringMatching(/^the newest block that the RPC knows is 2\d s old/)]])
  slot = 1_100
  clock.advanceTo(START + 2_000)
  await settled()
  expect(heights).toEqual([1_000])
})
