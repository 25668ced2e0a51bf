import { expect, test } from 'vitest'
import { VALID_BLOCKS } from '../../../src/chain/resolver/absence.ts'
import { FreshHead } from '../../../src/chain/rpc/fresh-head.ts'
import type { Head } from '../../../src/chain/rpc/read.ts'
import type { Rpc } from '../../../src/chain/rpc/rpc.ts'
import { SimulatedClock } from '../../../src/simulation/simulated-clock.ts'
import { CLOCK_SYSVAR } from '../../../src/solana/programs.ts'
import { ScriptedChain, settled } from '../scripted-chain.ts'

const START = 1_790_000_000_000
/**
 * Number of blocks in which a transaction can land. VALID_BLOCKS is larger by a margin, because the newest block (head)
 * that a node reports may be old.
 */
const LIFE = 150
const HEIGHT = 900

interface Node {
  /** Number of blocks by which the node is behind the chain. */
  readonly lag?: number
  /** Number of newest Solana slots for which the node has no block time; Infinity for all slots. */
  readonly untold?: number
  /** Whether the node serves the Clock account. */
  readonly clock?: boolean
  /** How much too old the block times of the node are, ms. */
  readonly oldMs?: number
  /** Whether the block height that the node reports never changes. */
  readonly stands?: boolean
}

/** A chain with a block every `slotMs` from START on, its nodes, and our clock, which is wrong by `offsetMs`. */
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

  /** Waits for the callback, at most the given time. */
  async within(seconds: number): Promise<this> {
    await settled()
    const end = this.askedAt + seconds * 1_000
    while (this.told === undefined && this.#world.clock.now() < end) {
      this.#world.clock.advanceTo(this.#world.clock.now() + 500)
      await settled()
    }
    return this
  }

  /**
   * The last valid block that our process computes minus the earliest correct one, in blocks; negative if the computed
   * block is too early.
   */
  get room(): number {
    return (this.told?.height ?? Number.NaN) + VALID_BLOCKS - (this.heightThen + LIFE)
  }

  /** How much later, ms, the chain reaches the computed last valid block than the one that a node without lag would
   *  give. */
  get laterMs(): number {
    return (this.room - (VALID_BLOCKS - LIFE)) * this.#world.slotMs
  }
}

// Slot times: of Solana's design, of mainnet as measured in 2026, and of the planned shorter slots. Clock errors: up to
// the tolerance.
test.each([
  [400, 0],
  [350, 2_000],
  [214, 0],
  [214, 2_000],
  [200, 0],
  [200, 2_000],
  [200, -2_000],
])(
  'with Solana slots of %i ms and our clock %i ms behind, a newest block that is too old is not used',
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

// If a node lacks data, the last valid block that is computed from it is never too early. The chain reaches the
// computed block at most a minute later than the one that is computed from a complete node.
test.each<[string, Node, { offsetMs?: number; slotMs?: number }]>([
  ['a complete node', {}, {}],
  ['a node without block times of the newest 5 Solana slots', { untold: 5 }, {}],
  ['a node without block times of the newest 31 Solana slots', { untold: 31 }, {}],
  ['a node without block times of the newest 100 Solana slots', { untold: 100 }, {}],
  ['a node without block times but with the Clock account', { untold: Number.POSITIVE_INFINITY, clock: true }, {}],
  ['a node with neither block times nor the Clock account', { untold: Number.POSITIVE_INFINITY }, {}],
  [
    'a node with neither block times nor the Clock account, and Solana slots of 200 ms',
    { untold: Number.POSITIVE_INFINITY },
    { slotMs: 200 },
  ],
  [
    'a node with neither block times nor the Clock account that is 150 blocks behind',
    { untold: Number.POSITIVE_INFINITY, lag: 150 },
    {},
  ],
  ['a node whose block times are 15 s too old', { oldMs: 15_000 }, {}],
  ['a node whose block times are 15 s too old and that is 30 blocks behind', { oldMs: 15_000, lag: 30 }, {}],
  ['a node that is 120 blocks behind', { lag: 120 }, {}],
  ['a complete node and our clock 30 s ahead', {}, { offsetMs: 30_000 }],
  ['a complete node and our clock 60 s ahead', {}, { offsetMs: 60_000 }],
  ['a complete node and our clock 30 s behind', {}, { offsetMs: -30_000 }],
  ['a complete node and our clock a day behind', {}, { offsetMs: -86_400_000 }],
])(
  'with %s, the last valid block is late enough, and is reached at most a minute later',
  async (_name, node, machine) => {
    const world = new World(machine)
    const asked = await world.ask(world.node(node)).within(120)
    expect(asked.told).toBeDefined()
    expect(asked.room).toBeGreaterThanOrEqual(0)
    expect(asked.laterMs).toBeLessThanOrEqual(60_000)
    // The computed block is known at most a minute after the request, so a proof that needs it is delayed by at most a
    // minute.
    expect(asked.told?.afterMs).toBeLessThanOrEqual(60_000)
  },
)

test('the block times of a current node show that our clock is slow; from then on, a node that lags is not used', async () => {
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

test('a node without block times whose height never changes is not used, and the reason names both defects', async () => {
  const world = new World()
  const asked = await world.ask(world.node({ untold: Number.POSITIVE_INFINITY, stands: true })).within(300)
  expect(asked.told).toBeUndefined()
  expect(world.reasons.at(-1)).toMatch(
    /^the RPC reports no block times and does not advance from height 900: .*chain\.rpc/,
  )
})

test('if block times are old, Sluice waits for newer ones, and does not treat the node as one without block times', async () => {
  const world = new World()
  const asked = await world.ask(world.node({ oldMs: 3_000_000 })).within(300)
  expect(asked.told).toBeUndefined()
  expect(world.reasons.at(-1)).toMatch(/^the RPC has no block as new as the request: .*clock is ahead/)
})

test('the second provider is used at once if the first one has no block times', async () => {
  const world = new World()
  const asked = await world.ask(world.node({ untold: Number.POSITIVE_INFINITY }), world.node()).within(0)
  expect(asked.told).toMatchObject({ height: HEIGHT, afterMs: 0 })
  expect(world.reasons).toEqual([''])
})

test('a healthy node is asked only for its newest block and for the time of that block', async () => {
  const world = new World()
  await world.ask(world.node()).within(0)
  expect(world.calls).toEqual(['getEpochInfo', 'getBlockTime'])
})

test('a request that is made inside the callback of another request is answered', async () => {
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
