import { openForWriting } from '../../src/journal/database.ts'
import { Writer } from '../../src/journal/writer/writer.ts'
import { Mints } from '../../src/market/mints.ts'
import { journalPath, NO_LIMITS, timeOf, trades } from './journal-samples.ts'

/** Number of rows of a block, and number of blocks, of the journal that `inSmallBlocks` writes. */
export const SIZE = 60
export const BLOCKS = 40

/**
 * Returns a journal with many small blocks, and its writer.
 */
export function inSmallBlocks(): { path: string; writer: Writer } {
  const path = journalPath()
  const writer = new Writer(openForWriting(path), { space: NO_LIMITS }, {}, () => 1e12)
  const mints = new Mints()
  for (let n = 0; n < BLOCKS; n++) {
    const slices = [{ block: trades(SIZE, n * SIZE, mints), from: 0, to: SIZE, firstSeq: 2 + n * SIZE }]
    writer.take({ segment: 0, time: timeOf(n * SIZE), slices, writes: [] })
    writer.flush()
  }
  return { path, writer }
}
