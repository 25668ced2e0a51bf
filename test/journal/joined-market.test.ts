import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Input } from '../../src/engine/messages.ts'
import type { MarketItem } from '../../src/journal/tape/market-tape.ts'
import { openTape } from '../../src/journal/tape-files.ts'
import { Mints } from '../../src/market/mints.ts'
import { journalPath, keyOf, timeOf } from '../support/journal-samples.ts'
import type { MarketRow } from '../support/market-rows.ts'
import { feed, type Recording, writeTape } from '../support/recorded-tape.ts'
import { runs } from '../support/runs.ts'

const KEYS = ['trades']
const at = timeOf

/** Returns event number `n`, as recorded by a process that receives every event `late` ms late. */
const event = (n: number, late = 0): MarketRow => ({
  ...{
    time: at(n) + late,
    stamp: at(n),
    mint: keyOf(n % 3),
    price: 1 + n,
    sol: 1 + n,
    trader: keyOf(n),
    signature: keyOf(n, 64),
  },
})
const events = (from: number, to: number, late = 0): MarketRow[] =>
  Array.from({ length: to - from }, (_, n) => event(from + n, late))
const gap = (from: number, to: number): { time: number; input: Input } => ({
  ...{ time: at(to), input: { kind: 'gap', from: at(from), to: at(to), keys: KEYS } },
})
const outage = (from: number, to: number) => [
  { time: at(from), input: feed('down', []) },
  gap(from, to),
  { time: at(to), input: feed('live', KEYS) },
]

async function joined(...journals: Recording[][]) {
  const paths: string[] = []
  for (const recordings of journals) {
    const path = journalPath()
    await writeTape(path, recordings)
    paths.push(path)
  }
  const tape = openTape(paths)
  const items = [...tape.market.items(new Mints())]
  const found = {
    told: items.flatMap(textOf),
    history: [...tape.market.history()].flatMap(textOf),
    ns: items.flatMap(numbersOf),
    times: items.flatMap(timesOf),
  }
  tape.close()
  return { ...found, stretches: tape.market.stretches }
}

/** Returns the numbers of the events. The test encodes the number of each event in the amount that was paid. */
function numbersOf(item: MarketItem): number[] {
  if (item.kind !== 'rows') return []
  return [...item.block.amount.subarray(item.from, item.to)].map((amount) => Math.round(amount) - 1)
}

function timesOf(item: MarketItem): number[] {
  if (item.kind === 'rows') return [...item.block.time.subarray(item.from, item.to)]
  return item.kind === 'news' ? [item.time] : []
}

function textOf(item: MarketItem): string[] {
  const n = (time: number): number => (time - at(0)) / 10
  if (item.kind === 'news' && item.news.kind === 'gap')
    return item.news.from === item.news.to ? [] : [`gap ${n(item.news.from)}-${n(item.news.to)}`]
  if (item.kind === 'news') return item.news.kind === 'feed' ? [`${item.news.status} ${n(item.time)}`] : []
  return item.kind === 'rows' ? [] : [`${item.kind} ${item.stretch.segment}`]
}

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, n) => from + n)

test('journals of different times are read in the order of time, with their paths in any order', async () => {
  const early = [{ time: at(0), keys: KEYS, items: [...events(0, 40), ...outage(40, 60), ...events(60, 90)] }]
  const late = [{ time: at(200), keys: KEYS, items: events(200, 250) }]
  const found = await joined(late, early)
  expect(found.ns).toEqual([...range(0, 40), ...range(60, 90), ...range(200, 250)])
  expect(found.told).toEqual([
    ...['began 1', 'live 0', 'down 40', 'gap 40-60', 'live 60', 'ended 1', 'began 2', 'live 200', 'ended 2'],
  ])
  expect(found.history).toEqual(found.told)
})

test('journals of the same time give each event once, and a gap only where all of them have a gap', async () => {
  const one = [{ time: at(0), keys: KEYS, items: [...events(0, 40), ...outage(40, 60), ...events(60, 140)] }]
  const other = [{ time: at(20), keys: KEYS, items: [...events(20, 50, 3), ...outage(50, 70), ...events(70, 200, 3)] }]
  const found = await joined(one, other)
  expect([...found.ns].sort((a, b) => a - b)).toEqual([...range(0, 50), ...range(60, 200)])
  expect(found.told).toEqual(['began 1', 'live 0', 'down 50', 'gap 50-60', 'live 60', 'down 199.3', 'ended 1'])
  expect(found.history).toEqual(found.told)
  expect(found.times).toEqual([...found.times].sort((a, b) => a - b))
})

test('an event that a single journal contains twice is read twice', async () => {
  const twin = { ...event(5), time: at(6) }
  const one = [{ time: at(0), keys: KEYS, items: [...events(0, 6), twin, ...events(7, 9)] }]
  const other = [{ time: at(0), keys: KEYS, items: [event(2, 4), event(8, 4)] }]
  expect((await joined(one, other)).ns).toEqual([0, 1, 2, 3, 4, 5, 5, 7, 8])
})

test('joining overlapping journals of one tape gives the whole tape', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(80), fc.integer({ min: 1, max: 60 })), { minLength: 1, maxLength: 4 }),
      async (cuts) => {
        const journals = cuts.map(([from, length]) => [
          { time: at(from), keys: KEYS, items: events(from, from + length) },
        ])
        const expected = new Set(cuts.flatMap(([from, length]) => range(from, from + length)))
        const found = await joined(...journals)
        expect(found.ns).toEqual([...expected].sort((a, b) => a - b))
        expect(found.times).toEqual([...found.times].sort((a, b) => a - b))
      },
    ),
    {
      numRuns: runs(6),
      examples: [
        [
          [
            [62, 1],
            [45, 18],
          ],
        ],
      ],
    }, // the two meet at one instant
  )
})

test('a journal that is given twice is refused', () => {
  expect(() => openTape(['/a/b.db', '/a/./b.db'])).toThrow('/a/./b.db is given twice; name each journal once')
})
