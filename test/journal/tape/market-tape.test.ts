import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { type MarketItem, openReader } from '../../../src/journal/reader/reader.ts'
import { openJournal } from '../../../src/journal/writer/journal.ts'
import { Mints } from '../../../src/market/mints.ts'
import { journalPath, NO_LIMITS, start, timeOf, trades } from '../../support/journal-samples.ts'
import { feed } from '../../support/recorded-tape.ts'

const options = {
  space: NO_LIMITS,
  onFailure: (error: Error) => {
    throw error
  },
}

/** Records two segments of 300 rows each, with states of the feed between the rows. */
async function recorded(path: string): Promise<void> {
  const journal = openJournal(path, options)
  const rows = trades(600)
  const to = (from: number, end: number, seq: number) => {
    journal.rows(rows, from, end, seq)
    journal.commit(() => {})
  }
  journal.input(1, timeOf(0), start(1))
  journal.input(2, timeOf(0), feed('live', ['trades']))
  to(0, 100, 3)
  journal.rows(rows, 100, 150, 103)
  journal.input(153, timeOf(150), feed('down', []))
  journal.input(154, timeOf(150), { kind: 'timer', id: 1 })
  journal.rows(rows, 150, 200, 155)
  journal.commit(() => {})
  to(200, 300, 205)
  journal.input(305, timeOf(300), feed('live', ['trades', 'newTokens']))
  journal.input(306, timeOf(300), start(2))
  to(300, 600, 307)
  await journal.close()
}

interface Told {
  readonly stretches: unknown[]
  readonly rows: number
  readonly items: string[]
  readonly history: string[]
}

/** Reads the tape with and without the memory map. */
function told(path: string): Told {
  const [plain, mapped] = [false, true].map((mapped) => {
    const reader = openReader(path, { mapped })
    const { stretches, rows, items, history } = reader.market()
    const found = {
      stretches: [...stretches],
      rows,
      items: [...items(new Mints())].map(text),
      history: [...history()].map(text),
    }
    reader.close()
    return found
  }) as [Told, Told]
  expect(mapped).toEqual(plain)
  return plain
}

function text(item: MarketItem): string {
  if (item.kind === 'rows') return `rows ${item.block.size[item.from]! / 7} to ${item.block.size[item.to - 1]! / 7}`
  if (item.kind === 'news') return `${item.news.kind === 'feed' ? item.news.status : 'gap'} at ${item.time - timeOf(0)}`
  return `${item.kind} ${item.stretch.segment}`
}

test('the tape returns its rows in order, in ranges that end at the end of a block or at an event of the feed', async () => {
  const path = journalPath()
  await recorded(path)
  const { stretches, rows, items, history } = told(path)
  expect(rows).toBe(600)
  expect(stretches).toEqual([
    { segment: 1, firstSeq: 1, lastSeq: 305, from: timeOf(0), to: timeOf(300) },
    { segment: 2, firstSeq: 306, lastSeq: 606, from: timeOf(300), to: timeOf(599) },
  ])
  expect(items).toEqual([
    ...['began 1', 'live at 0', 'rows 0 to 99', 'rows 100 to 149', 'down at 1500', 'rows 150 to 199'],
    ...['rows 200 to 299', 'live at 3000', 'ended 1', 'began 2', 'rows 300 to 599', 'ended 2'],
  ])
  expect(history).toEqual(items.filter((item) => !item.startsWith('rows')))
})

test('after old tape was deleted, the market begins at the first row that was kept, with the state of the feed at that time', async () => {
  const path = journalPath()
  await recorded(path)
  const db = new Database(path)
  db.exec('DELETE FROM block WHERE last_seq < 205')
  db.close()
  const { stretches, rows, items } = told(path)
  expect(rows).toBe(400)
  expect(stretches[0]).toEqual({ segment: 1, firstSeq: 205, lastSeq: 305, from: timeOf(200), to: timeOf(300) })
  expect(items).toEqual([
    ...[
      'began 1',
      'down at 2000',
      'rows 200 to 299',
      'live at 3000',
      'ended 1',
      'began 2',
      'rows 300 to 599',
      'ended 2',
    ],
  ])
})

test('wherever the tape begins, all confirmed keys are known, even though most records contain only changes of keys', async () => {
  const path = journalPath()
  const journal = openJournal(path, options)
  const rows = trades(150)
  const keysAt = (number: number): string[] => ['trades', ...Array.from({ length: 100 }, (_, key) => `${number + key}`)]
  journal.input(1, timeOf(0), start(1))
  for (let number = 0; number < 150; number++) {
    journal.input(2 + number * 2, timeOf(number), feed('live', keysAt(number)))
    journal.rows(rows, number, number + 1, 3 + number * 2)
    journal.commit(() => {})
  }
  await journal.close()
  const db = new Database(path)
  for (const first of [0, 3, 64, 66, 130, 149]) {
    db.prepare('DELETE FROM block WHERE last_seq < ?').run(3 + first * 2)
    const reader = openReader(path)
    const news = [...reader.market().history()].flatMap((item) => (item.kind === 'news' ? [item.news] : []))
    const numbers = Array.from({ length: 150 - first }, (_, number) => first + number)
    const expected = first === 0 ? numbers : [first, ...numbers.slice(1)]
    expect(news).toEqual(expected.map((number) => feed('live', keysAt(number))))
    reader.close()
  }
  db.close()
})

test('the market leaves out a segment whose whole tape was deleted', async () => {
  const path = journalPath()
  await recorded(path)
  const db = new Database(path)
  db.exec('DELETE FROM block WHERE segment = 1')
  db.close()
  expect(told(path).items).toEqual(['began 2', 'rows 300 to 599', 'ended 2'])
})

test('in the market, rows that were lost on a full disk count as a gap', async () => {
  const path = journalPath()
  const journal = openJournal(path, { ...options, space: { ...NO_LIMITS, tapeBytes: Number.MAX_SAFE_INTEGER } })
  journal.input(1, timeOf(0), start(1))
  journal.rows(trades(10), 0, 10, 2)
  await journal.close()
  const roomy = openJournal(path, options)
  roomy.input(12, timeOf(20), start(2))
  roomy.rows(trades(10, 20), 0, 10, 13)
  await roomy.close()
  expect(told(path).items).toEqual(['began 1', 'gap at 90', 'ended 1', 'began 2', 'rows 20 to 29', 'ended 2'])
})

test('in the market, imported rows come before the first segment', async () => {
  const path = journalPath()
  const journal = openJournal(path, options)
  journal.input(1, timeOf(0) - 5, feed('live', ['trades']))
  journal.rows(trades(10), 0, 10, 2)
  await journal.close()
  expect(told(path)).toMatchObject({
    rows: 10,
    stretches: [{ segment: 0, firstSeq: 1, lastSeq: 11, from: timeOf(0) - 5, to: timeOf(9) }],
    items: ['began 0', 'live at -5', 'rows 0 to 9', 'ended 0'],
  })
})

test('a journal without rows has no recorded times', async () => {
  const path = journalPath()
  const journal = openJournal(path, options)
  journal.input(1, timeOf(0), start(1))
  await journal.close()
  expect(told(path)).toEqual({ rows: 0, stretches: [], items: [], history: [] })
})
