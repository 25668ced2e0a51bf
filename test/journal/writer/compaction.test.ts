import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { openForWriting } from '../../../src/journal/database.ts'
import { openReader } from '../../../src/journal/reader/reader.ts'
import { openJournal } from '../../../src/journal/writer/journal.ts'
import { Writer } from '../../../src/journal/writer/writer.ts'
import { Mints } from '../../../src/market/mints.ts'
import {
  contentOf,
  journalPath,
  keyOf,
  NO_LIMITS,
  order,
  start,
  timeOf,
  trades,
} from '../../support/journal-samples.ts'

const plenty = () => 1e12
const writerOf = (path: string): Writer => new Writer(openForWriting(path), { space: NO_LIMITS }, {}, plenty)

/** Writes blocks of `size` rows; some sequence numbers between them belong to inputs. */
function record(writer: Writer, { blocks, size, segment = 1, from = 0 }: Record<string, number>): void {
  const mints = new Mints()
  mints.intern(keyOf(segment as number))
  for (let n = 0; n < (blocks as number); n++) {
    const first = (from as number) + n * (size as number)
    const rows = trades(size as number, first, mints)
    const firstSeq = 1 + first + Math.floor(first / 100)
    const slices = [{ block: rows, from: 0, to: size as number, firstSeq }]
    writer.take({ segment: segment as number, time: timeOf(first), slices, writes: [] })
    writer.flush()
  }
}

/** Merges blocks until no more can be merged. Returns the numbers of rows of the blocks. */
function tidy(writer: Writer, path: string): number[] {
  for (let before = -1, now = sizesOf(path).length; now !== before; now = sizesOf(path).length) {
    before = now
    writer.tidy()
  }
  return sizesOf(path)
}

function sizesOf(path: string): number[] {
  const db = new Database(path, { readonly: true })
  const sizes = db.prepare('SELECT rows FROM block ORDER BY last_seq').pluck().all() as number[]
  db.close()
  return sizes
}

function read(path: string): unknown {
  const reader = openReader(path)
  const mints = new Mints()
  const db = new Database(path, { readonly: true })
  const found = {
    content: contentOf(reader.blocks(mints)),
    part: contentOf(reader.blocks(mints, { from: 333, to: 444 })),
    rows: reader.market().rows,
    sql: db.prepare('SELECT seq, time, mint, price, signature FROM market WHERE seq BETWEEN 900 AND 1100').all(),
  }
  db.close()
  reader.close()
  return found
}

test('the merge of small blocks gives large blocks with the same content', () => {
  const path = journalPath()
  const writer = writerOf(path)
  record(writer, { blocks: 400, size: 25 })
  const before = read(path)
  const sizes = tidy(writer, path)
  expect(sizes).toEqual([8_000, 1_000, ...Array(40).fill(25)]) // the last blocks wait for more
  expect(read(path)).toEqual(before)
  writer.close()
  expect(read(path)).toEqual(before)
})

test('merged blocks end at the end of their segment, and a single small block is not merged', () => {
  const path = journalPath()
  const writer = writerOf(path)
  record(writer, { blocks: 1, size: 10 })
  record(writer, { blocks: 3, size: 20, segment: 2, from: 10 })
  record(writer, { blocks: 1, size: 2_000, segment: 3, from: 70 })
  record(writer, { blocks: 2, size: 30, segment: 4, from: 2_070 })
  const before = read(path)
  expect(tidy(writer, path)).toEqual([10, 60, 2_000, 30, 30])
  expect(read(path)).toEqual(before)
  writer.close()
})

test('a reader can use its blocks during a merge, and finds their texts in the merged block', () => {
  const path = journalPath()
  const writer = writerOf(path)
  record(writer, { blocks: 200, size: 25 })
  const expected = contentOf(trades5000())
  const reader = openReader(path)
  const blocks = reader.blocks(new Mints())
  const [first, second] = [blocks.next(), blocks.next()]
  tidy(writer, path)
  expect(sizesOf(path).length).toBe(44)
  const kept = [first, second].map(({ value }) => value).filter((block) => block !== undefined)
  const found = [...contentOf(kept), ...contentOf(blocks)]
  expect(found.map((row) => (row as unknown[]).slice(1))).toEqual(expected.map((row) => (row as unknown[]).slice(1)))
  expect(contentOf(kept)).toEqual(found.slice(0, 50)) // and after the last read
  reader.close()
  writer.close()
})

test('a replay of a merged segment has the same rows, inputs and outputs at the same sequence numbers', async () => {
  const path = journalPath()
  const journal = openJournal(path, { space: NO_LIMITS, onFailure: (error) => expect.fail(error.message) })
  journal.input(1, timeOf(0), start(1))
  let seq = 2
  for (let n = 0; n < 150; n++) {
    journal.rows(trades(7, n * 7), 0, 7, seq)
    seq += 7
    if (n % 3 === 0) journal.output(seq - 1, timeOf(n * 7 + 6), 0, { kind: 'order', order: order(n + 1) })
    if (n % 4 === 0) journal.input(seq++, timeOf(n * 7 + 6), { kind: 'timer', id: n })
    journal.commit(() => {})
  }
  await journal.close()
  const before = replayed(path)
  const writer = writerOf(path)
  expect(sizesOf(path)).toHaveLength(150)
  expect(tidy(writer, path).length).toBeLessThan(100)
  writer.close()
  expect(replayed(path)).toEqual(before)
})

function replayed(path: string): unknown[] {
  const reader = openReader(path)
  const segments = reader.segments()
  const items = segments.flatMap((segment) => [...reader.replay(segment, new Mints())])
  const told = items.flatMap((item): unknown[] => {
    if (item.kind !== 'rows') return [item]
    const rows = Array.from({ length: item.to - item.from }, (_, n) => n)
    return rows.map((n) => [item.firstSeq + n, item.block.time[item.from + n], item.block.size[item.from + n]])
  })
  reader.close()
  return [segments, told]
}

function trades5000() {
  return [trades(5_000)]
}

test('a damaged block and later blocks are not merged', () => {
  const path = journalPath()
  const writer = writerOf(path)
  record(writer, { blocks: 64, size: 5 })
  const db = new Database(path)
  db.exec(
    'UPDATE block SET price = zeroblob(length(price)) WHERE last_seq = (SELECT last_seq FROM block LIMIT 1 OFFSET 9)',
  )
  db.close()
  writer.tidy()
  expect(sizesOf(path)).toHaveLength(64)
  record(writer, { blocks: 64, size: 5, from: 320 })
  writer.tidy()
  expect(sizesOf(path)).toHaveLength(65)
  expect(() => read(path)).toThrow('is corrupt')
  writer.close()
})
