import { expect, test, vi } from 'vitest'
import { StandingInputs } from '../src/live/isolation/threaded-runner.ts'
import { LiveBlock } from '../src/market/live-block.ts'
import { Limiter } from '../src/orders/plan-limiter.ts'
import { SimulatedClock } from '../src/simulation/simulated-clock.ts'
import { Misfits } from '../src/venues/token-service/feed.ts'
import { Subscriptions } from '../src/venues/token-service/subscriptions.ts'
import { bytesLeftBehind, usedBytes } from './support/used-bytes.ts'

// A process runs for months, and new tokens appear all the time. A token that is no longer traded must therefore leave
// nothing in memory.

/**
 * Returns a new name of a mint. The text is copied, because a part of a longer string would keep the whole string in
 * memory.
 */
function mintOf(number: number): string {
  return Buffer.from(String(number).padStart(44, 'm')).toString('latin1')
}

/**
 * Limit of the memory per item, bytes, below which the test finds no leak. A leak is larger, because a map needs at
 * least 40 bytes for a key and its entry.
 */
const NOTHING = 25

const WAIT = { timeout: 20_000 }

interface Case {
  readonly what: string
  readonly things: number
  /** Returns a function that creates one thing, such as a subscription or an order, and removes it. */
  readonly make: () => (number: number) => void | Promise<void>
}

/** Returns a case with subscription keys that the service never confirms. `end` ends the subscription of each key. */
function unconfirmedKeys(end: (keys: Subscriptions) => void): Case['make'] {
  return () => {
    const keys = new Subscriptions()
    return (number) => {
      keys.want(['trades', mintOf(number)])
      keys.next()
      keys.confirm(['trades'])
      end(keys)
    }
  }
}

const cases: Case[] = [
  { what: 'subscription keys that the service refuses', things: 3_000, make: unconfirmedKeys((keys) => keys.refuse()) },
  {
    what: 'subscription keys that the service never confirms, and that no bot wants any more',
    things: 3_000,
    make: unconfirmedKeys((keys) => keys.miss()),
  },
  {
    what: 'entries that expire while exits wait for the request limit',
    things: 3_000,
    make: () => {
      const clock = new SimulatedClock()
      const limiter = new Limiter({
        ...{ key: 'k', clock, monotonicMs: () => clock.now(), boot: 'b', requestsPerMinute: 1, past: 'fresh' },
        write: () => {},
      })
      limiter.request('exit', () => {})
      limiter.request('exit', () => {})
      return () => limiter.request('entry', () => {})?.()
    },
  },
  {
    what: 'inputs that are kept for a new engine',
    things: 1_500,
    make: () => {
      const standing = new StandingInputs()
      return (number) => standing.take({ kind: 'mint', mint: mintOf(number), facts: { program: 'token', traits: [] } })
    },
  },
  {
    what: 'messages of the service that cannot be read',
    things: 3_000,
    make: () => {
      const misfits = new Misfits(() => {})
      return (number) => misfits.add('bad mint', Buffer.from(mintOf(number)), '')
    },
  },
]

test.each(cases)('no memory is left by $what', async ({ things, make }) => {
  const comeAndGo = make()
  const left = await bytesLeftBehind(2, things, async (from, to) => {
    for (let number = from; number < to; number++) {
      const gone = comeAndGo(number)
      if (gone !== undefined) await gone
    }
  })
  expect(left).toBeLessThan(NOTHING)
})

test('a collected block returns its memory to the system, and a new block occupies none', () => {
  const fiftyBlocks = () => Array.from({ length: 50 }, () => new LiveBlock([]))
  usedBytes()
  const before = process.memoryUsage.rss()
  for (const { buffer } of fiftyBlocks()) new Uint8Array(buffer).fill(1)
  expect(process.memoryUsage.rss() - before).toBeGreaterThan(60e6)
  usedBytes()
  const blocks = fiftyBlocks()
  // malloc would keep the old blocks, and would clear them for the new blocks: 180 MB would be resident.
  expect(process.memoryUsage.rss() - before).toBeLessThan(30e6)
  expect(blocks.length).toBe(50) // keeps the blocks until here
})

test('blocks that no code reads are freed, even if their thread creates no other garbage', async () => {
  const blocks: WeakRef<LiveBlock>[] = []
  for (let number = 0; number < 400; number++) {
    blocks.push(new WeakRef(new LiveBlock([])))
    if (number % 10 === 9) await new Promise(setImmediate)
  }
  // Each block has 1.8 MB of shared memory, which no other memory figure of Node includes.
  // On a busy machine, V8 finishes a collection that it has begun some time later.
  await vi.waitFor(() => expect(blocks.filter((block) => block.deref() !== undefined).length).toBeLessThan(200), WAIT)
})
