import { TapeIdentity } from '../../src/backtest/tape-identity.ts'
import { seededRandom } from '../../src/base/random.ts'
import type { StartInput } from '../../src/engine/messages.ts'
import { openReader } from '../../src/journal/reader/reader.ts'
import { type MarketItem, windowOf } from '../../src/journal/tape/market-tape.ts'
import { openTape } from '../../src/journal/tape-files.ts'
import { openJournal } from '../../src/journal/writer/journal.ts'
import type { Block } from '../../src/market/block.ts'
import { Mints } from '../../src/market/mints.ts'
import { contentOf, JOURNAL_OPTIONS, journalPath, keyOf, start } from './journal-samples.ts'
import { blockOf, type MarketRow } from './market-rows.ts'
import { feed } from './recorded-tape.ts'

export const DAY = 86_400_000
/** Noon (UTC) of the first day of the tape, 2026-11-01. */
export const T0 = Date.UTC(2026, 10, 1, 12)
const KEYS = ['trades', 'newTokens', 'priceUpdates']

export interface DaysOptions {
  readonly seed: number
  readonly days?: number
  /** The maximum number of rows of a batch. */
  readonly rows?: number
  readonly batches?: number
  readonly start?: Partial<StartInput>
}

/** Writes a journal whose tape covers several days: starts, gaps, new tokens, and rows around midnight. */
export async function writeDays(options: DaysOptions): Promise<string> {
  const { seed, days = 4, rows = 9, batches = 6 } = options
  const path = journalPath()
  const random = seededRandom(seed)
  const mints = new Mints()
  const journal = openJournal(path, JOURNAL_OPTIONS)
  let seq = 1
  let segment = 0
  let time = T0
  const begin = (): void => {
    journal.input(seq++, time, start(++segment, options.start))
    journal.input(seq++, time, feed('live', KEYS))
  }
  begin()
  for (let batch = 0; batch < days * batches; batch++) {
    const part = rowsOf(random, 1 + random.integer(rows), time, Math.floor(DAY / batches / rows), batch)
    journal.rows(blockOf(part, mints), 0, part.length, seq)
    seq += part.length
    time = part.at(-1)?.time ?? time
    const event = random.integer(8)
    if (event === 0) begin()
    if (event === 1) {
      journal.input(seq++, time, feed('down', []))
      journal.input(seq++, time + 500, { kind: 'gap', from: time, to: time + 500, keys: KEYS })
      journal.input(seq++, time + 500, feed('live', KEYS))
    }
    journal.commit(() => {})
  }
  await journal.close()
  return path
}

function rowsOf(
  random: ReturnType<typeof seededRandom>,
  count: number,
  from: number,
  stepMs: number,
  batch: number,
): MarketRow[] {
  return Array.from({ length: count }, (_, n): MarketRow => {
    const time = from + (n + 1) * (1 + random.integer(stepMs * 2))
    const token = random.integer(4) + Math.floor(batch / 5)
    if (n === 0 && batch % 5 === 0)
      return {
        kind: 'newToken',
        time,
        mint: keyOf(token),
        details: { symbol: `S${token % 3}`, name: `Token ${token}` },
      }
    const kind = random.next() < 0.5 ? 'buy' : 'sell'
    const texts = { trader: keyOf(random.integer(5)), signature: keyOf(batch * 100 + n, 64) }
    return { kind, time, mint: keyOf(token), price: 1e-7 * (1 + random.next()), sol: random.next(), ...texts }
  }).sort((one, other) => one.time - other.time)
}

/** Returns everything that the readers of a journal return about its tape. */
export function readAll(path: string): Record<string, unknown> {
  const reader = openReader(path)
  const tape = openTape([path])
  try {
    const mints = Array.from({ length: 8 }, (_, n) => keyOf(n))
    const last = reader.recover().nextSeq
    const index = reader.tapeIndex()
    index.refresh()
    const [from, to] = [T0 + 0.7 * DAY, T0 + 2.2 * DAY]
    const window = windowOf(tape.market, from, to)
    const warm = reader.warmupRange(90_000)
    const segments = reader.segments()
    return {
      ...{ content: contentOf(reader.blocks(new Mints())), stretches: tape.market.stretches, rows: tape.market.rows },
      ...{ items: [...tape.market.items(new Mints())].flatMap(told), history: [...tape.market.history()] },
      ...{ identity: identityOf(tape.market.items(new Mints())), windowRows: window.rows },
      window: [...window.items(new Mints())].flatMap(told),
      windowWarmup: contentOf([...(window.warmup?.(new Mints(), 7_200) ?? [])]),
      ...{
        warm,
        warmup: contentOf(reader.warmup(new Mints(), warm)),
        seenTo: reader.seenTo(),
        gaps: reader.gapsSince(0),
      },
      ...{ segments, counters: reader.counters(), recovered: reader.recover() },
      replayed: segments.map((segment) => [...reader.replay(segment, new Mints())].map(replayedText)),
      lookups: reader.look((history, search) => ({
        rows: Array.from({ length: 20 }, (_, n) => found(search.rowAt(1 + Math.floor((n * last) / 20)))),
        last: mints.map((mint) => found(search.lastRowOf(mint, T0 + 2.5 * DAY))),
        mints: search.mintsFrom(keyOf(1).slice(0, 20)),
        named: ['s0', 'S1'].map((symbol) => search.tokensNamed(symbol)),
        symbols: [...search.symbolsOf(new Set(mints))],
        names: mints.map((mint) => search.nameOf(mint)),
        times: [1, 50, last].map((seq) => history.timeUpTo(seq)),
      })),
      indexed: mints.map((mint) => [index.nameOf(mint), seqsOf(index.blocksOf(mint))]),
      findings: [...reader.findings()],
    }
  } finally {
    reader.close()
    tape.close()
  }
}

function told(item: MarketItem): unknown[] {
  if (item.kind !== 'rows') return [item]
  const { block, from, to } = item
  return contentOf([block]).slice(from, to)
}

function identityOf(items: Iterable<MarketItem>): string {
  const identity = new TapeIdentity()
  for (const item of items) identity.take(item)
  return identity.digest()
}

function replayedText(item: {
  readonly kind: string
  readonly seq?: number
  readonly firstSeq?: number
  from?: number
  to?: number
}): string {
  return `${item.kind} ${item.seq ?? item.firstSeq} ${(item.to ?? 0) - (item.from ?? 0)}`
}

function found(row: { readonly seq: number; readonly block: Block; readonly row: number } | undefined): unknown {
  return row && [row.seq, contentOf([row.block]).at(row.row)]
}

/**
 * Returns the rows, recorded times and identity of a tape, as a backtest reads them. It takes less time than `readAll`.
 */
export function readTape(path: string): unknown {
  const tape = openTape([path])
  try {
    const { rows, stretches } = tape.market
    return { rows, stretches, identity: identityOf(tape.market.items(new Mints())) }
  } finally {
    tape.close()
  }
}

/**
 * Returns the first sequence number of the first range and the last sequence number of the last range. The limits
 * between the ranges are left out, because they depend on how blocks were merged.
 */
function seqsOf(ranges: readonly { readonly from: number; readonly to: number }[]): unknown {
  return [ranges[0]?.from, ranges.at(-1)?.to]
}
