import { SluiceError } from '../../base/errors.ts'
import { codeHash } from '../../config/hashes.ts'
import { type LoadedStrategy, loadStrategy } from '../../config/strategies.ts'
import { type Divergence, type Entry, verifySegment } from '../../engine/replay/verify.ts'
import type { Strategy } from '../../engine/strategy.ts'
import { type JournalReader, openReader } from '../../journal/reader/reader.ts'
import type { Segment } from '../../journal/tape/segments.ts'
import { Mints } from '../../market/mints.ts'

/** What came of one segment: verified, or why it could not be. */
export interface Outcome {
  readonly segment: number
  readonly skipped: string
  readonly rows: number
  readonly decisions: number
  readonly divergence: (Divergence & { segment: number }) | null
}

/** Repeats every recorded segment. All strategies are loaded before any of them runs: from then on nothing but their
 *  handlers does. */
export async function replaySegments(journal: string, say: (outcome: Outcome) => void): Promise<void> {
  const reader = openReader(journal)
  try {
    const segments = []
    for (const segment of reader.segments())
      segments.push({ segment, strategies: segment.complete ? await recordedStrategies(segment) : new Map() })
    for (const { segment, strategies } of segments) {
      const nothing = { segment: segment.number, rows: 0, decisions: 0, divergence: null }
      if (!segment.complete) say({ ...nothing, skipped: 'its tape is not there any more' })
      else if (typeof strategies === 'string') say({ ...nothing, skipped: strategies })
      else {
        const mints = new Mints()
        const { divergence, ...counts } = verifySegment(recordedEntries(reader, segment, mints), mints, strategies)
        say({
          ...nothing,
          ...counts,
          skipped: '',
          divergence: divergence && { segment: segment.number, ...divergence },
        })
      }
    }
  } finally {
    reader.close()
  }
}

/** The strategies that a segment was recorded with, by the names that its bots' settings use; or why they are not to be
 *  had. */
export async function recordedStrategies({ start }: Segment): Promise<ReadonlyMap<string, Strategy> | string> {
  try {
    const names = [...new Set(start.bots.map(({ strategy }) => strategy))]
    const loaded: LoadedStrategy[] = await Promise.all(names.map((name) => loadStrategy(name)))
    if (codeHash(loaded) !== start.code) return 'it was recorded by other code: Sluice or a strategy has changed since'
    return new Map(loaded.map(({ name, strategy }) => [name, strategy]))
  } catch (error) {
    if (error instanceof SluiceError) return error.message
    throw error
  }
}

/** The record of a segment in order, with the rows that the strategies were shown before the start right behind it. */
export function* recordedEntries(
  reader: JournalReader,
  segment: Segment,
  mints: Mints,
): Generator<Entry, void, undefined> {
  let warmed = false
  for (const item of reader.replay(segment, mints)) {
    const isStart = item.kind !== 'rows' && item.seq === segment.firstSeq
    if (!isStart && !warmed) {
      warmed = true
      for (const block of reader.warmup(mints, segment.start.warm))
        yield { kind: 'warm', block, from: 0, to: block.length }
    }
    yield item
  }
}
