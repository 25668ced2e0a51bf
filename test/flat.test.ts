import { expect, test } from 'vitest'
import { StandingInputs } from '../src/live/isolation/threaded-runner.ts'
import { LiveBlock } from '../src/market/live-block.ts'
import { Limiter } from '../src/orders/limiter.ts'
import { SimulatedClock } from '../src/simulation/simulated-clock.ts'
import { Misfits } from '../src/venues/token-service/feed.ts'
import { Subscriptions } from '../src/venues/token-service/subscriptions.ts'
import { bytesLeftBehind } from './support/used-bytes.ts'

// A process runs for months and its market always has new tokens. A token that is no longer traded must therefore leave
// no memory behind.

/** Returns a new mint name. It is a copy, because a part of a longer string keeps that string in memory. */
function mintOf(number: number): string {
  return Buffer.from(String(number).padStart(44, 'm')).toString('latin1')
}

/**
 * Bytes per item that do not count as a leak. A leak is larger: a key of a map and its entry take at least 40 bytes.
 */
const NOTHING = 25

interface Case {
  readonly what: string
  readonly things: number
  /** Creates one item and removes it. */
  readonly make: () => (number: number) => void | Promise<void>
}

/** Returns a case whose items are subscription keys that the service never confirms. `end` says how each one ends. */
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
  { what: 'keys that the service refuses', things: 3_000, make: unconfirmedKeys((keys) => keys.refuse()) },
  {
    what: 'keys that are never confirmed, and not wanted any more',
    things: 3_000,
    make: unconfirmedKeys((keys) => keys.miss()),
  },
  {
    what: 'requests of entries that give up while exits wait for the request limit',
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
    what: 'inputs that a new engine would receive again',
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

test.each(cases)('$what leaves nothing behind', async ({ things, make }) => {
  const comeAndGo = make()
  const left = await bytesLeftBehind(2, things, async (from, to) => {
    for (let number = from; number < to; number++) {
      const gone = comeAndGo(number)
      if (gone !== undefined) await gone
    }
  })
  expect(left).toBeLessThan(NOTHING)
})

test('blocks that no code reads are freed, even if their thread creates no other garbage', async () => {
  const blocks: WeakRef<LiveBlock>[] = []
  for (let number = 0; number < 400; number++) {
    blocks.push(new WeakRef(new LiveBlock([])))
    if (number % 10 === 9) await new Promise(setImmediate)
  }
  // Each block has 1.8 MB of shared memory, which no other figure of Node includes.
  expect(blocks.filter((block) => block.deref() !== undefined).length).toBeLessThan(200)
})
