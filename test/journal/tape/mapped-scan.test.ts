import { expect, test } from 'vitest'
import { openForReading } from '../../../src/journal/database.ts'
import { openReader } from '../../../src/journal/reader/reader.ts'
import { MappedScan } from '../../../src/journal/tape/block-row.ts'
import { TapeReader } from '../../../src/journal/tape/tape-reader.ts'
import { openTape } from '../../../src/journal/tape-files.ts'
import { Mints } from '../../../src/market/mints.ts'
import { contentOf, timeOf, trades } from '../../support/journal-samples.ts'
import { BLOCKS, inSmallBlocks, SIZE } from '../../support/small-blocks.ts'

const ALL = { from: 0, to: Number.MAX_SAFE_INTEGER }

/** Opens a scan that releases mapped pages after every few blocks. */
function mapped(path: string, windowBytes = 10_000) {
  const db = openForReading(path)
  const scan = new MappedScan(db, windowBytes)
  const tape = new TapeReader(path, db, (seq) => scan.from(seq))
  return { db, tape }
}

test('a memory-mapped scan returns the same blocks as an SQL query, also of a part of the tape, and during another scan', () => {
  const { path } = inSmallBlocks()
  const reader = openReader(path)
  const { db, tape } = mapped(path)
  expect(contentOf(tape.rows(new Mints(), ALL))).toEqual(contentOf(reader.blocks(new Mints())))
  const [part, mints] = [{ from: 333, to: 444 }, new Mints()]
  expect(contentOf(tape.rows(mints, part))).toEqual(contentOf(reader.blocks(new Mints(), part)))
  let rows = 0
  for (const block of tape.rows(mints, ALL)) {
    rows += block.length
    if (rows === SIZE) expect(contentOf(tape.rows(mints, part))).toHaveLength(112)
  }
  expect(rows).toBe(SIZE * BLOCKS)
  expect(db.inTransaction).toBe(false)
  db.close()
  reader.close()
})

test('a memory-mapped scan returns the tape at one moment, even if a writer merges blocks during the scan', () => {
  const { path, writer } = inSmallBlocks()
  const { tape, db } = mapped(path)
  const mints = new Mints()
  const sizes: number[] = []
  for (const block of tape.rows(mints, ALL)) {
    if (sizes.length === 3) for (let n = 0; n < 5; n++) writer.tidy()
    sizes.push(block.length)
  }
  expect(sizes).toEqual(Array.from({ length: BLOCKS }, () => SIZE))
  expect([...tape.rows(mints, ALL)].length).toBeLessThan(BLOCKS)
  db.close()
})

test('a memory-mapped scan that stops early leaves no transaction open', () => {
  const { path } = inSmallBlocks()
  const { tape, db } = mapped(path)
  const [first] = tape.rows(new Mints(), ALL)
  expect(first?.length).toBe(SIZE)
  expect(db.inTransaction).toBe(false)
  const blocks = tape.rows(new Mints(), ALL)
  blocks.next()
  db.close()
  expect(() => blocks.return()).not.toThrow()
})

test('a tape that was opened ends where it ended at that time, even if records are added or blocks are merged later', () => {
  const { path, writer } = inSmallBlocks()
  const tape = openTape([path])
  for (let n = BLOCKS; n < BLOCKS + 20; n++) {
    const slices = [{ block: trades(SIZE, n * SIZE), from: 0, to: SIZE, firstSeq: 2 + n * SIZE }]
    writer.take({ segment: 0, time: timeOf(n * SIZE), slices, writes: [] })
    writer.flush()
  }
  for (let n = 0; n < 10; n++) writer.tidy()
  let [rows, last] = [0, 0]
  for (const item of tape.market.items(new Mints())) {
    if (item.kind === 'rows') [rows, last] = [rows + item.to - item.from, item.block.time[item.to - 1] as number]
    if (item.kind === 'ended') expect(last).toBe(item.stretch.to)
  }
  expect(rows).toBe(SIZE * BLOCKS)
  tape.close()
})
