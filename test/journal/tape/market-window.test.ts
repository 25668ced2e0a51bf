import { expect, test } from 'vitest'
import { type MarketItem, openReader } from '../../../src/journal/reader/reader.ts'
import { type Market, windowOf } from '../../../src/journal/tape/market-tape.ts'
import { Mints } from '../../../src/market/mints.ts'
import { journalPath } from '../../support/journal-samples.ts'
import { feed, noisyMarket, writeTape } from '../../support/recorded-tape.ts'

const T0 = 1_780_000_000_000
const KEYS = ['trades']

/** Records two starts. The feed is down for some time during the first one. */
async function tape(): Promise<string> {
  const path = journalPath()
  const rows = noisyMarket(300, 3, T0)
  const gap = { kind: 'gap', from: T0 + 5_000, to: T0 + 6_000, keys: KEYS } as const
  const items = [
    ...rows.slice(0, 50),
    { time: T0 + 5_000, input: feed('down', []) },
    { time: T0 + 6_000, input: gap },
    { time: T0 + 6_000, input: feed('live', KEYS) },
    ...rows.slice(60, 150),
  ]
  await writeTape(path, [
    { time: T0, keys: KEYS, items },
    { time: T0 + 20_000, keys: KEYS, items: rows.slice(200) },
  ])
  return path
}

function timesOf(items: Iterable<MarketItem>): number[] {
  return [...items].flatMap((item) => (item.kind === 'rows' ? [...item.block.time.subarray(item.from, item.to)] : []))
}

const told = (items: Iterable<MarketItem>) =>
  [...items].flatMap((item) => {
    if (item.kind === 'rows') return []
    if (item.kind !== 'news') return [`${item.kind} ${item.stretch.from - T0} ${item.stretch.to - T0}`]
    const { news, time } = item
    if (news.kind === 'source') return [`${time - T0} source ${news.name}`]
    return [`${time - T0} ${news.kind === 'feed' ? news.status : `gap ${news.from - T0} ${news.to - T0}`}`]
  })

test.each<[string, number, number, string[]]>([
  ['the part of a tape without limits of time', Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, []],
  ['the part of a tape that begins at a given time', 1_000, Number.POSITIVE_INFINITY, []],
  [
    'the part of a tape that ends at a given time',
    Number.NEGATIVE_INFINITY,
    3_333,
    ['began 0 3333', '0 gap 0 0', '0 live', 'ended 0 3333'],
  ],
  ['the part of a tape within the first start', 2_000, 3_000, ['began 2000 3000', '2000 live', 'ended 2000 3000']],
  [
    'the part of a tape that begins while the feed is down',
    5_500,
    8_000,
    ['began 5500 8000', '5500 down', '6000 gap 5000 6000', '6000 live', 'ended 5500 8000'],
  ],
  [
    'the part of a tape that includes the second start',
    18_000,
    21_000,
    ['began 20000 21000', '20000 gap 20000 20000', '20000 live', 'ended 20000 21000'],
  ],
  ['the part of a tape between the two starts', 16_000, 19_000, []],
  ['the part of a tape before the first start', -9_000, -1, []],
])('%s has the rows of that time and the state of the feed', async (_what, first, last, expected) => {
  const reader = openReader(await tape())
  const whole: Market = reader.market()
  const window = windowOf(whole, T0 + first, T0 + last)
  const all = timesOf(whole.items(new Mints()))
  const inside = all.filter((time) => time >= T0 + first && time <= T0 + last)
  expect(timesOf(window.items(new Mints()))).toEqual(inside)
  expect(window.rows).toBe(inside.length)
  expect(told(window.items(new Mints()))).toEqual(told(window.history()))
  if (expected.length > 0) expect(told(window.history())).toEqual(expected)
  const before = all.filter((time) => time < T0 + first)
  const since = (before.at(-1) ?? 0) - 4_000
  expect([...(window.warmup?.(new Mints(), 4) ?? [])].flatMap((block) => [...block.time])).toEqual(
    before.filter((time) => time >= since),
  )
  reader.close()
})
