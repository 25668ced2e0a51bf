import { expect, test } from 'vitest'
import { VALID_BLOCKS } from '../../../src/chain/resolver/absence.ts'
import { FreshHead } from '../../../src/chain/rpc/fresh-head.ts'
import type { Head } from '../../../src/chain/rpc/read.ts'
import type { Rpc } from '../../../src/chain/rpc/rpc.ts'
import { SimulatedClock } from '../../../src/simulation/simulated-clock.ts'
import { CLOCK_SYSVAR } from '../../../src/solana/programs.ts'
import { ScriptedChain, settled } from '../scripted-chain.ts'

const START = 1_790_000_000_000
/** Blocks that a transaction lives: the rest of a bound is room for a head that is behind. */
const LIFE = 150
const HEIGHT = 900

interface Node {
  /** Blocks that it is behind the chain. */
  readonly lag?: number
  /** Of its newest slots it has no time; Infinity: of none. */
  readonly untold?: number
  /** Whether it serves the Clock account. */
  readonly clock?: boolean
  /** Its block times are so much too old. */
  readonly oldMs?: number
  /** It stands still. */
  readonly stands?: boolean
}

/** A chain that makes a block each `slotMs` from START on, as nodes show it, and a machine whose clock is some way
 *  off. */
class World {
  readonly clock: SimulatedClock
  readonly slotMs: number
  readonly reasons: string[] = []
  readonly calls: string[] = []
  readonly #offsetMs: number

  constructor({ slotMs = 400, offsetMs = 0, ms = 0 } = {}) {
    this.slotMs = slotMs
    this.#offsetMs = offsetMs
    this.clock = new SimulatedClock(START + ms)
  }

  get trueHeight(): number {
    return HEIGHT + Math.floor((this.clock.now() - START) / this.slotMs)
  }

  node({ lag = 0, untold = 0, clock = false, oldMs = 0, stands = false }: Node = {}): Rpc {
    const chain = new ScriptedChain()
    const still = this.trueHeight
    const height = (): number => (stands ? still : this.trueHeight) - lag
    const timeAt = (block: number): number => Math.floor((START + (block - HEIGHT) * this.slotMs - oldMs) / 1_000)
    chain.methods.getEpochInfo = () => ({ absoluteSlot: height() + 100, blockHeight: height() })
    chain.methods.getBlockTime = ([slot]) => {
      if ((slot as number) > height() + 100 - untold) throw -32_004
      return timeAt((slot as number) - 100)
    }
    chain.methods.getMultipleAccounts = ([keys]) => {
      expect(keys).toEqual([CLOCK_SYSVAR])
      if (!clock) return { context: { slot: height() + 100 }, value: [null] }
      const data = Buffer.alloc(40)
      data.writeBigInt64LE(BigInt(timeAt(height())), 32)
      const account = { lamports: 1, owner: 'Sysvar', executable: false, data: [data.toString('base64'), 'base64'] }
      return { context: { slot: height() + 100 }, value: [account] }
    }
    return (method, params) => {
      this.calls.push(method)
      return chain.rpc(method, params)
    }
  }

  ask(...providers: Rpc[]): Asked {
    const clock = { now: () => this.clock.now() + this.#offsetMs, after: this.clock.after.bind(this.clock) }
    const head = new FreshHead({
      ...{ providers, clock, monotonicMs: () => this.clock.now() - START },
      waits: (reason) => this.reasons.push(reason),
    })
    return new Asked(this, head)
  }
}

class Asked {
  readonly #world: World
  readonly head: FreshHead
  readonly askedAt: number
  readonly heightThen: number
  told: (Head & { afterMs: number }) | undefined

  constructor(world: World, head: FreshHead) {
    this.#world = world
    this.head = head
    this.askedAt = world.clock.now()
    this.heightThen = world.trueHeight
    head.ask((told) => {
      this.told = { ...told, afterMs: world.clock.now() - this.askedAt }
    })
  }

  /** Until it was told, or so long. */
  async within(seconds: number): Promise<this> {
    await settled()
    const end = this.askedAt + seconds * 1_000
    while (this.told === undefined && this.#world.clock.now() < end) {
      this.#world.clock.advanceTo(this.#world.clock.now() + 500)
      await settled()
    }
    return this
  }

  /** Blocks that a bound counted from what was told has beyond what it needs; negative: it is too low. */
  get room(): number {
    return (this.told?.height ?? Number.NaN) + VALID_BLOCKS - (this.heightThen + LIFE)
  }

  /** How much later a bound counted from it comes than one from a node that is not behind, ms. */
  get laterMs(): number {
    return (this.room - (VALID_BLOCKS - LIFE)) * this.#world.slotMs
  }
}

// Slot times of the design, of the main network measured in 2026, and of the plan; our clock as far off as is allowed
// for.
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
      for (let lag = 0; lag <= 120; lag++) {
        const world = new World({ slotMs, offsetMs: -behind, ms })
        const asked = await world.ask(world.node({ lag })).within(0)
        if (asked.told !== undefined) lags.push(lag)
      }
      expect(Math.max(...lags)).toBeLessThanOrEqual(VALID_BLOCKS - LIFE)
      expect(lags.length).toBeGreaterThanOrEqual(10) // a healthy node is a few blocks behind at confirmed
    }
  },
)

// Whatever a node lacks: the bound is never too low, and comes at most a minute later than with a good one.
test.each<[string, Node, { offsetMs?: number; slotMs?: number }]>([
  ['a good node', {}, {}],
  ['no times of the newest 5 slots', { untold: 5 }, {}],
  ['no times of the newest 31 slots', { untold: 31 }, {}],
  ['no times of the newest 100 slots', { untold: 100 }, {}],
  ['no block times, but the clock of the chain', { untold: Number.POSITIVE_INFINITY, clock: true }, {}],
  ['no time at all', { untold: Number.POSITIVE_INFINITY }, {}],
  ['no time at all, short slots', { untold: Number.POSITIVE_INFINITY }, { slotMs: 200 }],
  ['no time at all, and 150 blocks behind', { untold: Number.POSITIVE_INFINITY, lag: 150 }, {}],
  ['block times 15 s old', { oldMs: 15_000 }, {}],
  ['block times 15 s old, and 30 blocks behind', { oldMs: 15_000, lag: 30 }, {}],
  ['120 blocks behind', { lag: 120 }, {}],
  ['our clock 30 s ahead', {}, { offsetMs: 30_000 }],
  ['our clock 60 s ahead', {}, { offsetMs: 60_000 }],
  ['our clock 30 s behind', {}, { offsetMs: -30_000 }],
  ['our clock a day behind', {}, { offsetMs: -86_400_000 }],
])('%s: a bound that is high enough, at most a minute later', async (_name, node, machine) => {
  const world = new World(machine)
  const asked = await world.ask(world.node(node)).within(120)
  expect(asked.told).toBeDefined()
  expect(asked.room).toBeGreaterThanOrEqual(0)
  expect(asked.laterMs).toBeLessThanOrEqual(60_000)
  // Every answer comes before the good bound is final, so that only its height delays the proof.
  expect(asked.told?.afterMs).toBeLessThanOrEqual(60_000)
})

test('a clock that is behind is noticed by the times that a fresh node has told: a node that is behind is not taken after that', async () => {
  const world = new World({ offsetMs: -30_000 })
  let lag = 0
  const nodes = [world.node(), world.node({ lag: 90 })]
  const either: Rpc = (method, params) => (nodes[lag === 0 ? 0 : 1] as Rpc)(method, params)
  const { head } = await world.ask(either).within(5)
  lag = 90
  world.clock.advanceTo(world.clock.now() + 60_000)
  const then = world.trueHeight
  let height = 0
  head.ask((told) => {
    height = told.height
  })
  await settled()
  expect(height).toBe(0)
  for (let second = 0; second < 40; second++) {
    world.clock.advanceTo(world.clock.now() + 1_000)
    await settled()
  }
  expect(height + VALID_BLOCKS - LIFE).toBeGreaterThanOrEqual(then)
})

test('a node that stands still and tells no time is not taken, however long, and the reason says so', async () => {
  const world = new World()
  const asked = await world.ask(world.node({ untold: Number.POSITIVE_INFINITY, stands: true })).within(300)
  expect(asked.told).toBeUndefined()
  expect(world.reasons.at(-1)).toMatch(
    /^the RPC reports no block times and does not advance from height 900: .*chain\.rpc/,
  )
})

test('a node whose block times are old is waited for, and not taken for one that tells no time', async () => {
  const world = new World()
  const asked = await world.ask(world.node({ oldMs: 3_000_000 })).within(300)
  expect(asked.told).toBeUndefined()
  expect(world.reasons.at(-1)).toMatch(/^the RPC has no block as new as the question: .*clock is ahead/)
})

test('the second provider answers where the first tells no time; nobody waits for anything', async () => {
  const world = new World()
  const asked = await world.ask(world.node({ untold: Number.POSITIVE_INFINITY }), world.node()).within(0)
  expect(asked.told).toMatchObject({ height: HEIGHT, afterMs: 0 })
  expect(world.reasons).toEqual([''])
})

test('a good node is asked for nothing but its head and the time of that', async () => {
  const world = new World()
  await world.ask(world.node()).within(0)
  expect(world.calls).toEqual(['getEpochInfo', 'getBlockTime'])
})

test('who asks from inside an answer is answered, too', async () => {
  const world = new World()
  const { head } = await world.ask(world.node()).within(0)
  const heights: number[] = []
  head.ask(({ height }) => {
    heights.push(height)
    head.ask((later) => heights.push(later.height))
  })
  for (let second = 0; second < 4; second++) {
    await settled()
    world.clock.advanceTo(world.clock.now() + 1_000)
  }
  expect(heights).toHaveLength(2)
})
