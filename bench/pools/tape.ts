import { openJournal } from '../../src/journal/writer/journal.ts'
import type { Block } from '../../src/market/block.ts'
import { LiveBlock } from '../../src/market/live-block.ts'
import { Mints } from '../../src/market/mints.ts'
import { appendEvent } from '../../src/sandbox/market/event-rows.ts'
import { start } from '../../test/support/journal-values.ts'
import type { ExactMarket, FeedRow } from './exact-market.ts'

const FIREHOSES = ['trades', 'newTokens', 'priceUpdates']
const BLOCK_ROWS = 4_096

/** Writes the journal that a recorder of this market's feed would have written: its rows and gaps. */
export async function writeTape(path: string, { rows, gaps, from, to }: ExactMarket): Promise<void> {
  const mints = new Mints()
  const journal = openJournal(path, {
    space: { tapeBytes: 0, entryBytes: 0, reserveBytes: 0 },
    onFailure: (error) => {
      throw error
    },
  })
  let seq = 1
  journal.input(seq++, from, start(1))
  journal.input(seq++, from, { kind: 'feed', status: 'live', confirmed: FIREHOSES })
  const ends = [...gaps.map((gap) => gap.to), Number.POSITIVE_INFINITY]
  for (const [part, end] of ends.entries()) {
    const first = part === 0 ? 0 : (ends[part - 1] as number)
    for (const block of blocksOf(
      rows.filter(({ time }) => time >= first && time < end),
      mints,
    )) {
      journal.rows(block, 0, block.length, seq)
      seq += block.length
      journal.commit(() => {})
    }
    const gap = gaps[part]
    if (gap !== undefined) journal.input(seq++, gap.to, { kind: 'gap', ...gap, keys: FIREHOSES })
  }
  journal.input(seq, to, { kind: 'feed', status: 'live', confirmed: FIREHOSES })
  journal.commit(() => {})
  await journal.close()
}

function* blocksOf(rows: readonly FeedRow[], mints: Mints): Generator<Block & { readonly length: number }> {
  for (let first = 0; first < rows.length; first += BLOCK_ROWS) {
    const block = new LiveBlock(mints.list, BLOCK_ROWS)
    for (const { time, event } of rows.slice(first, first + BLOCK_ROWS)) {
      if (!appendEvent(block, mints, time, event)) throw new Error('a row does not fit into its block')
    }
    yield block
  }
}
