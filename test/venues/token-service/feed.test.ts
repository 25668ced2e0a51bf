import { beforeEach, describe, expect, test } from 'vitest'
import { seededRandom } from '../../../src/base/random.ts'
import type { Input } from '../../../src/engine/messages.ts'
import { type Block, eventOf } from '../../../src/market/block.ts'
import { Mints } from '../../../src/market/mints.ts'
import { SimulatedClock } from '../../../src/simulation/simulated-clock.ts'
import { busier } from '../../../src/venues/feed-overload.ts'
import { Feed } from '../../../src/venues/token-service/feed.ts'
import { ScriptedService } from './script.ts'
import { keyOf, MINT, NEW_TOKEN, PRICE_UPDATE, signatureOf, TRADE } from './wire/samples.ts'

const START = 1_700_000_000_000

let clock: SimulatedClock
let service: ScriptedService
let feed: Feed
let mints: Mints
let posted: Input[]
let rows: { block: Block; row: number; after: number }[]
let told: string[]
let apiKey: string
let held: Set<string>
let load: number
let paced: (() => void)[] | null

beforeEach(() => {
  clock = new SimulatedClock(START)
  service = new ScriptedService()
  mints = new Mints()
  posted = []
  rows = []
  told = []
  apiKey = 'secret-1'
  held = new Set()
  load = 0
  paced = null
  feed = new Feed('the service', {
    url: 'wss://service.example/api/data',
    apiKey: () => apiKey,
    dial: service.dial,
    clock,
    random: seededRandom(1),
    mints,
    pace: (job) => (paced === null ? job() : void paced.push(job)),
    isHeld: (token) => held.has(mints.list[token] as string),
    load: () => load,
    on: {
      authenticated: (userId, plan) => told.push(`authenticated ${userId} ${plan}`),
      refused: (reason) => told.push(`refused ${reason}`),
      misfit: (why, text) => told.push(`misfit ${why} ${text.slice(0, 60)}`),
      notice: (text) => told.push(text),
    },
  })
})

const sink = {
  rows: (block: Block, from: number, to: number): number => {
    rows.push({ block, row: from, after: posted.length })
    return Math.min(from + 1, to)
  },
  post: (input: Input): void => void posted.push(input),
}
const seconds = (count: number): void => clock.advanceTo(clock.now() + count * 1_000)
/** Lets the service send messages for this number of seconds. */
const chatter = (count: number): void => {
  for (let second = 0; second < count; second++) {
    service.last.say({ type: 'pong' })
    seconds(1)
  }
}
const authenticated = { type: 'authenticated', userId: 'u1', plan: 'Premium' }
const subscribed = (...keys: string[]) => ({ type: 'subscribed', keys, timestamp: START })
const error = (code: string) => ({ type: 'error', code, message: 'm', timestamp: START })
const statuses = (): string[] =>
  posted.map((input) =>
    input.kind === 'feed'
      ? [input.status, ...input.confirmed].join(' ')
      : input.kind === 'gap'
        ? `gap ${input.from - START} ${input.to - START} ${input.keys.join(' ')}`
        : input.kind,
  )

/** Starts the feed, authenticates and confirms all keys. */
function goLive(...keys: string[]): void {
  feed.want(keys)
  if (feed.state === 'idle') feed.start(sink)
  service.last.open()
  service.last.say(authenticated, subscribed(...keys))
  service.last.take()
  expect(feed.state).toBe('live')
}

const trade = (more: Partial<typeof TRADE> = {}) => ({ ...TRADE, ...more })
let counter = 0
/** Returns a trade that differs from all earlier trades. */
const fresh = (more: Partial<typeof TRADE> = {}) => trade({ amount: 1 + counter++ / 1_000, ...more })

describe('connecting', () => {
  test('the feed sends `authenticate` first, and no other message before the answer', () => {
    feed.want(['trades', MINT])
    feed.start(sink)
    expect([feed.state, service.last.sent]).toEqual(['dialing', []])
    service.last.open()
    expect(feed.state).toBe('authenticating')
    feed.want(['trades', MINT, 'newTokens'])
    expect(service.last.sent).toEqual([{ method: 'authenticate', apiKey: 'secret-1' }])
    service.last.say(authenticated)
    expect(feed.state).toBe('subscribing')
    expect(service.last.take()).toEqual(['authenticate', `subscribe trades ${MINT} newTokens`])
    clock.advanceTo(START + 700)
    service.last.say(subscribed('trades', MINT, 'newTokens'))
    expect(feed.state).toBe('live')
    expect(told).toEqual(['authenticated u1 Premium'])
    expect(statuses()).toEqual([`gap 0 700 trades ${MINT} newTokens`, `live trades ${MINT} newTokens`])
  })

  test('a feed without wanted keys is live once authenticated', () => {
    goLive()
    expect(statuses()).toEqual(['live'])
  })

  test('the feed accepts a confirmation in parts, and with keys that were not requested', () => {
    feed.want(['a', 'b'])
    feed.start(sink)
    service.last.open()
    service.last.say(authenticated, subscribed('a', 'x'))
    expect(feed.state).toBe('subscribing')
    service.last.say(subscribed('b'))
    expect(statuses().at(-1)).toBe('live a b')
  })

  test('the feed unsubscribes a key that is no longer wanted when it is confirmed, without delay for other keys', () => {
    feed.want(['trades', 'sold'])
    feed.start(sink)
    service.last.open()
    service.last.say(authenticated)
    feed.want(['trades', 'bought'])
    service.last.take()
    service.last.say(subscribed('trades', 'sold'))
    expect(service.last.take()).toEqual(['unsubscribe sold', 'subscribe bought'])
    service.last.say(subscribed('trades', 'bought'))
    expect(statuses().at(-1)).toBe('live trades bought')
  })

  test.each([
    ['a connection that does not open', 'dialing', 0],
    ['an authentication that is not answered', 'authenticating', 1],
  ])('the feed opens a new connection after %s within 10 s', (_name, state, open) => {
    feed.start(sink)
    if (open) service.last.open()
    expect(feed.state).toBe(state)
    seconds(11)
    expect([feed.state, service.last.isTerminated]).toEqual(['waiting', true])
    seconds(1)
    expect(service.connections).toHaveLength(2)
  })

  test('the feed rejects a row before the authentication', () => {
    feed.start(sink)
    service.last.open()
    service.last.say(trade())
    expect(rows).toEqual([])
    expect(feed.misfits.counts.get('before authentication')).toBe(1)
  })
})

describe('keys', () => {
  test('the feed subscribes new keys while it is live, and unsubscribes keys that are no longer wanted', () => {
    goLive('trades')
    feed.want(['trades', MINT])
    expect(service.last.take()).toEqual([`subscribe ${MINT}`])
    expect(statuses().at(-1)).toBe('live trades')
    service.last.say(subscribed('trades', MINT))
    expect(statuses().at(-1)).toBe(`live trades ${MINT}`)
    feed.want([MINT])
    expect(service.last.take()).toEqual(['unsubscribe trades'])
    expect(statuses().at(-1)).toBe(`live ${MINT}`)
  })

  test('if the service refuses a batch of keys, the feed halves the batch until only the bad key is left', () => {
    feed.want(['a', 'b', 'bad', 'd', 'e'])
    feed.start(sink)
    service.last.open()
    service.last.say(authenticated)
    service.last.take()
    const asked: string[] = []
    for (let answers = 0; answers < 20 && feed.state !== 'live'; answers++) {
      // The service refuses every batch that contains the bad key, and does not name the key.
      const batch = (asked[answers] ?? 'a b bad d e').split(' ').filter((word) => word !== 'subscribe')
      service.last.say(batch.includes('bad') ? error('SUBSCRIPTION_FAILED') : subscribed(...batch))
      if (answers === 0) asked.push('subscribe a b bad d e')
      asked.push(...service.last.take())
    }
    expect(statuses().at(-1)).toBe('live a b d e')
    expect(told).toContain('the service does not accept the subscription key bad; the key is dropped')
    expect(told.filter((text) => text.includes('is dropped'))).toHaveLength(1)
  })

  test('the feed does not request a dropped key again after a reconnect', () => {
    feed.want(['bad'])
    feed.start(sink)
    service.last.open()
    service.last.say(authenticated, error('SUBSCRIPTION_FAILED'))
    expect(statuses()).toEqual(['gap 0 0 bad', 'live'])
    service.last.close()
    seconds(1)
    service.last.open()
    service.last.take()
    service.last.say(authenticated)
    expect([feed.state, service.last.take()]).toEqual(['live', []])
  })

  test('the feed requests a key that is never confirmed three times, and then drops it', () => {
    feed.want(['trades', 'dead'])
    feed.start(sink)
    service.last.open()
    service.last.say(authenticated, subscribed('trades'))
    service.last.take()
    for (let round = 0; round < 2; round++) {
      seconds(11)
      expect(service.last.take()).toContain('subscribe dead')
    }
    seconds(11)
    expect(statuses().at(-1)).toBe('live trades')
  })

  test('the feed closes the connection to a service that confirms no key', () => {
    feed.want(['trades'])
    feed.start(sink)
    service.last.open()
    service.last.say(authenticated)
    seconds(33)
    expect(told.at(-1)).toMatch(/the service does not answer subscriptions/)
    expect(feed.state).toBe('waiting')
  })

  test('after RATE_LIMIT_EXCEEDED the feed subscribes with a delay until it has been live for 60 s', () => {
    const many = Array.from({ length: 250 }, (_, index) => `k${index}`)
    feed.want(many)
    feed.start(sink)
    service.last.open()
    service.last.say(authenticated)
    service.last.take()
    service.last.say(error('RATE_LIMIT_EXCEEDED'))
    expect(service.last.take()).toEqual([])
    seconds(1)
    expect(service.last.take()).toHaveLength(1)
    service.last.say(error('RATE_LIMIT_EXCEEDED'))
    seconds(1)
    expect(service.last.take()).toEqual([])
    for (let batch = 0; batch < 3; batch++) {
      seconds(2)
      expect(service.last.take()).toHaveLength(1)
      service.last.say(subscribed(...many.slice(batch * 100, batch * 100 + 100)))
    }
    expect(feed.state).toBe('live')
    chatter(61)
    feed.want([...many, 'more'])
    feed.want([...many, 'more', 'another'])
    service.last.take()
    service.last.say(subscribed('more'))
    expect(service.last.take()).toEqual(['subscribe another'])
  })
})

describe('staying connected', () => {
  test('the feed sends a ping every 30 s, and any message proves that the connection works', () => {
    goLive('trades')
    for (let ping = 0; ping < 5; ping++) {
      seconds(30)
      expect(service.last.take()).toEqual(['ping'])
      service.last.say(fresh())
    }
    expect([feed.state, service.connections.length]).toEqual(['live', 1])
  })

  test('after 40 s of silence the feed is stale, and the next message makes it live again and reports the gap', () => {
    goLive('trades')
    service.last.say(fresh())
    seconds(41)
    expect([feed.state, service.last.take()]).toEqual(['stale', ['ping', 'ping']])
    expect(statuses().at(-1)).toBe('stale trades')
    seconds(4)
    service.last.say({ type: 'pong' })
    expect(statuses().slice(-2)).toEqual(['gap 0 45000 trades', 'live trades'])
  })

  test('after 10 s more without an answer, the feed destroys the socket without a close handshake', () => {
    goLive('trades')
    const first = service.last
    seconds(51)
    expect([feed.state, first.isTerminated]).toEqual(['waiting', true])
    expect(statuses().at(-1)).toBe('down')
  })

  test('the feed counts a late timer tick as one second of silence, so that messages waiting in the socket are read first', () => {
    goLive('trades')
    // Simulates a suspended machine: the clock jumps by two minutes, and only one of the missed timer ticks runs.
    const before = clock.now()
    clock.now = () => before + 120_000
    clock.advanceTo(before + 1_000)
    expect(feed.state).toBe('live')
  })
})

describe('reconnecting', () => {
  const nextConnection = (): void => {
    const before = service.connections.length
    while (service.connections.length === before) clock.advanceTo(clock.nextAt())
  }

  test('after a reconnect, the feed subscribes the wanted keys again and reports the gap', () => {
    goLive('trades', MINT)
    service.last.say(fresh())
    seconds(5)
    service.last.close('ECONNRESET')
    expect([feed.state, statuses().at(-1)]).toEqual(['waiting', 'down'])
    feed.want(['trades', 'newTokens'])
    seconds(2)
    goLive('trades', 'newTokens')
    expect(statuses().slice(-2)).toEqual(['gap 0 7000 trades newTokens', 'live trades newTokens'])
  })

  test('the delay before a new connection of the feed is random between 1 s and a limit that doubles up to 30 s', () => {
    feed.start(sink)
    const waits: number[] = []
    for (let n = 0; n < 12; n++) {
      const from = clock.now()
      service.last.close()
      nextConnection()
      waits.push(clock.now() - from)
    }
    expect(waits[0]).toBe(1_000)
    waits.forEach((wait, n) => {
      expect(wait).toBeGreaterThanOrEqual(1_000)
      expect(wait).toBeLessThanOrEqual(Math.min(30_000, 1_000 * 2 ** n) + 1)
    })
    expect(Math.max(...waits)).toBeGreaterThan(10_000)
    expect(new Set(waits).size).toBeGreaterThan(8)
  })

  test('after the feed has been live for 60 s, the delay before a new connection is short again', () => {
    feed.start(sink)
    for (let n = 0; n < 6; n++) {
      service.last.close()
      nextConnection()
    }
    service.last.open()
    service.last.say(authenticated)
    chatter(61)
    const before = service.connections.length
    service.last.close()
    seconds(1)
    expect(service.connections).toHaveLength(before + 1)
  })

  test('after CONNECTION_LIMIT the feed waits for the longest delay', () => {
    feed.start(sink)
    service.last.open()
    service.last.say(error('CONNECTION_LIMIT'))
    service.last.close()
    seconds(29)
    expect(service.connections).toHaveLength(1)
    seconds(1)
    expect(service.connections).toHaveLength(2)
  })

  test('the feed ignores events of an old connection', () => {
    goLive('trades')
    const [first] = service.connections
    first?.close()
    seconds(1)
    first?.say(fresh())
    first?.close()
    first?.open()
    expect([rows, service.connections.length, feed.state]).toEqual([[], 2, 'dialing'])
  })

  test('a message of the feed that waits to be sent on an old connection is not sent on the new one', () => {
    goLive('trades')
    paced = []
    feed.want(['trades', MINT])
    service.last.close()
    seconds(1)
    service.last.open()
    service.last.say(authenticated)
    const jobs = paced
    paced = null
    for (const job of jobs) job()
    expect(service.last.take()).toEqual(['authenticate', `subscribe trades ${MINT}`])
  })
})

describe('a refused key', () => {
  test('after an API key was refused, the feed opens no connection until there is another key', () => {
    goLive('trades')
    service.last.say(error('AUTHENTICATION_FAILED'))
    expect([feed.state, told.at(-1), statuses().at(-1)]).toEqual(['refused', 'refused m', 'refused'])
    seconds(600)
    expect(service.connections).toHaveLength(1)
    apiKey = 'secret-2'
    seconds(30)
    service.last.open()
    expect(service.last.sent).toEqual([{ method: 'authenticate', apiKey: 'secret-2' }])
  })

  test('a refused API key never appears in the messages that the feed keeps', () => {
    goLive('trades')
    service.last.say('{"echo":"secret-1"', `{"type":"x","a":"${'y'.repeat(2_040)}secret-1"}`)
    expect(told.filter((text) => text.includes('secret'))).toEqual(['misfit not JSON {"echo":"[secret]"'])
  })
})

describe('rows', () => {
  test('rows of the feed have the time of their arrival, which is read once per message and never goes back', () => {
    goLive('trades')
    const times = [START + 100, START + 50, START + 200]
    clock.now = () => times.shift() as number
    service.last.say(fresh(), fresh(), fresh())
    expect(rows.map(({ block, row }) => (block.time[row] as number) - START)).toEqual([100, 100, 200])
  })

  test('rows that arrive in one chunk of the socket have the same arrival time', () => {
    goLive('trades')
    const texts = [fresh(), fresh()].map((one) => JSON.stringify(one))
    const chunk = Buffer.from(texts.join(' '))
    const middle = (texts[0] as string).length
    service.last.sayRange(chunk, 0, middle)
    seconds(1)
    service.last.sayRange(chunk, middle + 1, chunk.length)
    service.last.sayRange(chunk, 0, middle)
    service.last.settle()
    expect(rows.map(({ block, row }) => block.time[row])).toEqual([START, START])
    seconds(1)
    service.last.say(fresh())
    expect(rows.at(-1)?.block.time[2]).toBe(START + 2_000)
  })

  test.each<[string, (chunk: Buffer, end: number) => void]>([
    ['a message of the service', (chunk, end) => service.last.sayRange(chunk, 0, end)],
    ['a new key', () => feed.want(['trades', MINT])],
  ])('if rows of one chunk follow %s, their time is not before the time of its report', (_what, report) => {
    goLive('trades')
    const subscribed = JSON.stringify({ type: 'subscribed', keys: ['trades'], timestamp: START })
    const chunk = Buffer.from(`${subscribed} ${JSON.stringify(fresh())}`)
    service.last.sayRange(chunk, 0, 0)
    report(chunk, subscribed.length)
    seconds(1)
    service.last.sayRange(chunk, subscribed.length + 1, chunk.length)
    service.last.settle()
    expect(rows.at(-1)?.block.time[0]).toBe(START + 1_000)
  })

  test('the feed delivers rows of every kind unchanged', () => {
    goLive('trades')
    service.last.say(trade(), NEW_TOKEN, PRICE_UPDATE)
    expect(rows.map(({ block, row }) => JSON.parse(JSON.stringify(eventOf(block, row))))).toEqual([
      TRADE,
      NEW_TOKEN,
      PRICE_UPDATE,
    ])
  })

  test.each<[string, () => void]>([
    ['the chunk is read', () => service.last.settle()],
    ['a message of the service is reported', () => service.last.say({ type: 'subscribed', keys: ['trades'] })],
    ['the connection is lost', () => service.last.close()],
  ])('the rows of a chunk stay in their block until %s', (_what, happens) => {
    goLive('trades')
    const whole = Buffer.from(JSON.stringify(fresh()))
    const reports = posted.length
    service.last.sayRange(whole, 0, whole.length)
    expect(rows).toEqual([])
    happens()
    expect(rows.map(({ after }) => after)).toEqual([reports])
  })

  test('the rows of the feed fill one block after the other', () => {
    goLive('trades')
    for (let index = 0; index < 20_000; index++) service.last.say(fresh())
    expect(new Set(rows.map(({ block }) => block)).size).toBe(3)
    expect(rows.every(({ block, row }) => row < block.length)).toBe(true)
  })

  test('the feed drops repeated rows in any order, and keeps late rows', () => {
    goLive('trades')
    const old = fresh({ timestamp: START - 1_000_000 })
    service.last.say(trade(), old, trade(), old, PRICE_UPDATE, PRICE_UPDATE, NEW_TOKEN, NEW_TOKEN)
    expect([rows.length, feed.counts.duplicates]).toEqual([4, 4])
  })

  test.each<[string, object]>([
    ['another amount', trade({ amount: 0.26 })],
    ['another side', trade({ side: 'sell' })],
    ['another trader', trade({ trader: keyOf(99) })],
    ['another signature', trade({ signature: signatureOf(99) })],
    ['another mint', trade({ mint: keyOf(98) })],
    ['another number of tokens', trade({ tokensTraded: 5 })],
    ['no signature', trade({ signature: '' })],
    ['no signature and another time', trade({ signature: '', timestamp: 5 })],
    ['a later price', { ...PRICE_UPDATE, timestamp: 5 }],
    ['another price', { ...PRICE_UPDATE, price: 5 }],
    ['another change', { ...PRICE_UPDATE, priceChange: 5 }],
    ['another creator', { ...NEW_TOKEN, creator: keyOf(97) }],
  ])('for the feed, a row with %s is another event', (_name, other) => {
    goLive('trades')
    service.last.say(trade(), PRICE_UPDATE, NEW_TOKEN, other)
    expect([rows.length, feed.counts.duplicates]).toEqual([4, 0])
  })

  test('for the feed, trades whose signatures differ in one character at any place are different events', () => {
    goLive('trades')
    const { signature } = trade() as { signature: string }
    const others = [...signature].map(
      (was, at) => signature.slice(0, at) + (was === '2' ? '3' : '2') + signature.slice(at + 1),
    )
    service.last.say(...others.map((other) => trade({ signature: other })))
    expect([rows.length, feed.counts.duplicates]).toEqual([signature.length, 0])
  })

  test('the memory of the feed for repeated rows is limited', () => {
    goLive('trades')
    service.last.say(trade())
    for (let index = 0; index < 40_000; index++) service.last.say(fresh())
    const before = rows.length
    service.last.say(trade())
    expect(rows.length).toBe(before + 1)
  })

  test('the feed counts rejected messages by reason, and keeps the first ones', () => {
    goLive('trades')
    for (let index = 0; index < 100; index++) service.last.say('nonsense')
    service.last.say({ type: 'candle' }, trade({ price: Number.NaN }))
    service.last.sayBinary(new Uint8Array(5))
    expect(Object.fromEntries(feed.misfits.counts)).toEqual({ 'not JSON': 100, 'unknown type': 1, price: 1, binary: 1 })
    expect(told.filter((text) => text.startsWith('misfit not JSON'))).toHaveLength(20)
    expect(rows).toEqual([])
  })

  test('the feed accepts a row with unknown fields, counts it, and keeps it as a sample', () => {
    goLive('trades')
    service.last.say({ ...trade(), pool: 'pump', block: 5 })
    expect([rows.length, feed.counts.unknownFields, feed.misfits.counts.get('unknown field')]).toEqual([1, 2, 1])
  })

  test('under overload, the feed drops price updates first, then trades of tokens that no bot holds', () => {
    goLive('trades')
    const heldMint = keyOf(50)
    held.add(heldMint)
    const all = () => [
      fresh(),
      fresh({ mint: heldMint }),
      { ...PRICE_UPDATE, price: 1 + counter++ },
      { ...PRICE_UPDATE, mint: heldMint, price: 1 + counter++ },
      { ...NEW_TOKEN, marketCap: counter++ },
    ]
    const passed = (): number => {
      rows = []
      service.last.say(...all())
      return rows.length
    }
    expect(passed()).toBe(5)
    load = 1
    seconds(1)
    expect(passed()).toBe(4)
    seconds(1)
    expect(passed()).toBe(3)
    chatter(60)
    load = 0.9
    seconds(1)
    expect(passed()).toBe(3)
    load = 0.2
    seconds(2)
    expect(passed()).toBe(5)
    expect(feed.counts.shed).toBe(5)
  })

  test.each([
    [0, 0.3, 0.3],
    [1_000, 0.3, 0.3],
    [1_001, 0.3, 0.85],
    [1_999, 0.98, 0.98],
    [2_000, 0.3, 0.97],
  ])('an engine lag of %i ms and an event-loop load of %d are a load of %d for the feed', (lag, loop, load) => {
    const ofBoth = busier(
      () => loop,
      () => lag,
    )
    expect(ofBoth()).toBe(load)
  })

  test('if the receiver of the feed stops early, it receives the remaining rows later', () => {
    const taken: number[] = []
    const reluctant = {
      ...sink,
      rows: (_block: Block, from: number, to: number) => (taken.push(from) % 2 === 1 ? from : to),
    }
    feed.start(reluctant)
    service.last.open()
    service.last.say(authenticated, fresh(), fresh())
    expect(taken).toEqual([0, 0, 1, 1])
  })

  test('a strategy may change the keys of the feed while it handles a row', () => {
    const curious = (_block: Block, _from: number, to: number): number => {
      feed.want([MINT])
      return to
    }
    feed.start({ ...sink, rows: curious })
    service.last.open()
    service.last.say(authenticated, fresh())
    expect(service.last.take()).toEqual(['authenticate', `subscribe ${MINT}`])
  })
})

test('a stop of the feed closes the connection, cancels all timers and closes the gap', async () => {
  feed.want(['trades'])
  const stop = feed.start(sink)
  clock.advanceTo(START + 500)
  await stop()
  expect([feed.state, service.last.isTerminated, clock.nextAt()]).toEqual(['stopped', true, Number.POSITIVE_INFINITY])
  expect(statuses()).toEqual(['gap 0 500 trades'])
})
