import { openJournal } from '../../src/journal/writer/journal.ts'
import { type Block, RowKind, type TokenDetails } from '../../src/market/block.ts'
import { LiveBlock, type RowNumbers } from '../../src/market/live-block.ts'
import { Mints } from '../../src/market/mints.ts'
import { type MarketEvent, SOL_USD } from '../../src/sandbox/market/market.ts'
import { start } from '../../test/support/journal-values.ts'
import type { ExactMarket, FeedRow } from './exact-market.ts'

const FIREHOSES = ['trades', 'newTokens', 'priceUpdates']
const BLOCK_ROWS = 4_096
const KINDS = { buy: RowKind.buy, sell: RowKind.sell } as const

/** Writes what a recorder of the feed has, as a journal: its rows and its gaps. */
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
    for (const { time, event } of rows.slice(first, first + BLOCK_ROWS)) append(block, mints, time, event)
    yield block
  }
}

function append(block: LiveBlock, mints: Mints, time: number, event: MarketEvent): void {
  const isTrade = event.type === 'trade'
  const kind = isTrade ? KINDS[event.side] : event.type === 'newToken' ? RowKind.newToken : RowKind.priceUpdate
  const [signature, trader] = isTrade
    ? [event.signature, event.trader]
    : ['', event.type === 'newToken' ? event.creator : '']
  const fits = block.append(
    time,
    time,
    kind,
    mints.intern(event.mint),
    numbersOf(event),
    signature,
    trader,
    detailsOf(event),
  )
  if (!fits) throw new Error('a row does not fit into its block')
}

function numbersOf(event: MarketEvent): RowNumbers {
  const { marketCapSol: marketCap } = event
  if (event.type === 'trade') {
    const { price, sol, tokens, slippagePercent, priorityFeeSol } = event
    return { price, amount: sol, size: tokens, marketCap, extra: slippagePercent, extra2: priorityFeeSol }
  }
  const none = Number.NaN
  if (event.type === 'newToken')
    return { price: none, amount: event.liquiditySol, size: none, marketCap, extra: none, extra2: none }
  const { price, liquiditySol, volume24hSol, changePercent, change24hPercent } = event
  return {
    ...{ price, amount: liquiditySol * SOL_USD, size: volume24hSol, marketCap },
    ...{ extra: changePercent, extra2: change24hPercent },
  }
}

function detailsOf(event: MarketEvent): TokenDetails | undefined {
  if (event.type !== 'newToken') return undefined
  const { symbol, name, metadata } = event
  return { symbol, name, metadata }
}
