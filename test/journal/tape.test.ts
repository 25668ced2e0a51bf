import { readFileSync, writeFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openReader } from '../../src/journal/reader/reader.ts'
import { openJournal } from '../../src/journal/writer/journal.ts'
import type { RowKind, TokenDetails } from '../../src/market/block.ts'
import { LiveBlock } from '../../src/market/live-block.ts'
import { Mints } from '../../src/market/mints.ts'
import { encodeBase58 } from '../../src/solana/base58.ts'
import { contentOf, journalPath, keyOf, NO_LIMITS, timeOf, trades } from '../support/journal-samples.ts'
import { oldBlocks } from '../support/old-journal.ts'
import { runs } from '../support/runs.ts'

/** The writes are not durable, because these tests write sixty journals; power-cut.test.ts covers durability. */
const options = {
  space: NO_LIMITS,
  durable: false,
  onFailure: (error: Error) => {
    throw error
  },
}

const bytes = (length: number) =>
  fc.oneof(
    fc.uint8Array({ minLength: length, maxLength: length }),
    fc.constant(new Uint8Array(length)), // a key of zeros must not read as an empty text
    fc.constant(new Uint8Array(length).fill(1, length - 1)),
  )
const key = (length: number) =>
  fc.oneof(
    { weight: 6, arbitrary: bytes(length).map(encodeBase58) },
    { weight: 2, arbitrary: fc.constant('') },
    { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 20 }) }, // any text as a signature
    { weight: 1, arbitrary: fc.constant(`1${'z'.repeat(44)}`) },
  )
const text = fc.string({ unit: 'binary', maxLength: 12 })
const number = fc.oneof(
  fc.double(),
  fc.constantFrom(0, -0, Number.NaN, 1e308, -1e308, 5e-324, Number.POSITIVE_INFINITY, 1_780_000_000_000, 2 ** 53 + 2),
  fc.constantFrom(5, 10, 15), // few values, like slippages
)
const details: fc.Arbitrary<TokenDetails> = fc.record({
  symbol: text,
  name: fc.constantFrom('', '__proto__', '"]}', 'Pepe'),
  metadata: fc.record({ description: text, image: text, website: text, twitter: text }),
})
const row = fc.record({
  wait: fc.oneof(fc.nat(1000), fc.constantFrom(0, 3_000_000_000)),
  stamp: fc.oneof(number, fc.integer({ min: 1_779_999_999_000, max: 1_780_000_001_000 })),
  kind: fc.constantFrom<RowKind[]>(0, 1, 2, 3),
  mint: fc.oneof(fc.nat(5).map(keyOf), text),
  numbers: fc.record({
    ...{ price: number, amount: number, size: number, marketCap: number, extra: number, extra2: number },
  }),
  signature: key(64),
  trader: key(32),
  details: fc.option(details, { nil: undefined }),
  skip: fc.constantFrom(0, 0, 0, 2),
})

test('the tape returns exactly the rows that the feed delivered', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 60 }), fc.nat(2), async (rows, cut) => {
      const path = journalPath()
      const mints = new Mints()
      const blocks = [new LiveBlock(mints.list, 400), new LiveBlock(mints.list, 400)]
      const journal = openJournal(path, options)
      let time = timeOf(0)
      let seq = 1
      for (const [index, one] of rows.entries()) {
        const block = blocks[index % 7 === 6 ? 1 : 0] as LiveBlock
        time += one.wait
        const fits = block.append(
          ...[time, one.stamp, one.kind, mints.intern(one.mint), one.numbers, one.signature, one.trader, one.details],
        )
        expect(fits).toBe(true)
        journal.rows(block, block.length - 1, block.length, seq)
        seq += 1 + one.skip
        if (cut > 0 && index % (10 * cut) === 9) journal.commit(() => {})
      }
      await journal.close()
      const reader = openReader(path)
      const back = contentOf(reader.blocks(new Mints()))
      reader.close()
      const parts = rows.map((_, index) => [blocks[index % 7 === 6 ? 1 : 0] as LiveBlock, index] as const)
      const all = blocks.map((block) => contentOf([block]))
      const counts = new Map<LiveBlock, number>()
      const expected = parts.map(([block]) => {
        const at = counts.get(block) ?? 0
        counts.set(block, at + 1)
        return (all[blocks.indexOf(block)] as unknown[])[at]
      })
      expect(back).toEqual(expected)
    }),
    { numRuns: runs(15) },
  )
})

const LATE = ['market_cap', 'extra', 'extra2'] as const

async function shortTape(): Promise<{ path: string; rows: ReturnType<typeof contentOf> }> {
  const path = journalPath()
  const journal = openJournal(path, options)
  journal.rows(trades(50, 0), 0, 50, 1)
  await journal.close()
  const reader = openReader(path)
  const rows = contentOf(reader.blocks(new Mints()))
  reader.close()
  return { path, rows }
}

function changed(path: string, change: (db: Database.Database) => void): void {
  const db = new Database(path)
  change(db)
  db.close()
}

test('a block of format 1, whose checksum covers all numbers, is read with the same rows', async () => {
  const { path, rows } = await shortTape()
  changed(path, oldBlocks)
  const reader = openReader(path)
  expect(contentOf(reader.blocks(new Mints()))).toEqual(rows)
  reader.close()
})

test.each(LATE)(
  'a damaged column %s of the tape is refused when it is first read, also in a block of format 1',
  async (column) => {
    const { path } = await shortTape()
    changed(path, (db) => db.exec(`UPDATE block SET ${column} = randomblob(length(${column}))`))
    const reader = openReader(path)
    const [block] = reader.blocks(new Mints())
    expect(block?.price).toHaveLength(50)
    for (const late of ['marketCap', 'extra', 'extra2'] as const) expect(() => block?.[late]).toThrow('is corrupt')
    reader.close()
    changed(path, (db) => db.exec('UPDATE block SET late_checksum = NULL'))
    const bare = openReader(path)
    for (const block of bare.blocks(new Mints())) expect(() => block.marketCap).toThrow('is corrupt')
    bare.close()
    changed(path, (db) => db.exec('UPDATE block SET format = 1'))
    const again = openReader(path)
    expect(() => [...again.blocks(new Mints())]).toThrow('is corrupt')
    again.close()
  },
)

test('an error of SQLite when a column is first read gives the same message as an error during the scan', async () => {
  const { path } = await shortTape()
  const mark = Buffer.alloc(100_000, 0xab)
  changed(path, (db) => db.prepare('UPDATE block SET market_cap = ?').run(mark))
  const file = readFileSync(path)
  for (let page = 0; page < file.length; page += 8192)
    if (file.subarray(page + 4, page + 8192).every((byte) => byte === 0xab)) file.fill(0xff, page, page + 4)
  writeFileSync(path, file)
  const reader = openReader(path)
  const [block] = reader.blocks(new Mints())
  for (const late of ['marketCap', 'extra'] as const) expect(() => block?.[late]).toThrow(`${path} is corrupt (`)
  expect(() => block?.texts.trader(0)).toThrow(`${path} is corrupt (`)
  reader.close()
})

test('blocks of the warm-up stay readable after the journal is closed', async () => {
  const { path, rows } = await shortTape()
  const reader = openReader(path)
  const range = { from: 11, to: 40 }
  const kept = [...reader.warmup(new Mints(), range)]
  reader.close()
  expect(contentOf(kept)).toEqual(rows.slice(10, 40))
})

test('a block of the tape has at most 32,768 rows', async () => {
  const path = journalPath()
  const journal = openJournal(path, options)
  const block = trades(32_769)
  journal.rows(block, 0, block.length, 1)
  await journal.close()
  const reader = openReader(path)
  const blocks = [...reader.blocks(new Mints())]
  expect(blocks.map(({ length }) => length)).toEqual([32_768, 1])
  expect(blocks.map(({ texts, length }) => texts.signature(length - 1))).toEqual([keyOf(32_767, 64), keyOf(32_768, 64)])
  reader.close()
})

test("a reader's mint table numbers the tokens", async () => {
  const path = journalPath()
  const journal = openJournal(path, options)
  const mints = new Mints()
  mints.intern('never traded')
  const block = trades(4, 0, mints)
  journal.rows(block, 0, 4, 1)
  await journal.close()
  const reader = openReader(path)
  const other = new Mints()
  for (const mint of ['a', 'b', keyOf(2)]) other.intern(mint)
  const [read] = reader.blocks(other)
  expect([...(read?.token ?? [])]).toEqual([3, 4, 2, 3])
  expect(read?.mints).toBe(other.list)
  reader.close()
})

test('the rows of the warm-up are exactly those of the last seconds', async () => {
  const path = journalPath()
  const journal = openJournal(path, options)
  const block = trades(1000)
  for (let row = 0; row < 1000; row += 100) {
    journal.rows(block, row, row + 100, row + 1)
    journal.commit(() => {})
  }
  await journal.close()
  const reader = openReader(path)
  expect(reader.warmupRange(1)).toEqual({ from: 900, to: 1000 }) // 10 ms a row: 1 s before row 1000 is row 900
  expect(reader.warmupRange(3600)).toEqual({ from: 1, to: 1000 })
  reader.close()
})

test('a journal without tape has no rows for a warm-up', () => {
  const path = journalPath()
  void openJournal(path, options).close()
  const reader = openReader(path)
  expect(reader.warmupRange(600)).toEqual({ from: 1, to: 0 })
  expect([...reader.blocks(new Mints())]).toEqual([])
  reader.close()
})
