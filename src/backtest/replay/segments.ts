import { SluiceError } from '../../base/errors.ts'
import { codeHash } from '../../config/hashes.ts'
import { type LoadedStrategy, loadStrategy } from '../../config/strategies.ts'
import { type Divergence, type Entry, verifySegment } from '../../engine/replay/compare-decisions.ts'
import type { Strategy } from '../../engine/strategy.ts'
import { type JournalReader, openReader } from '../../journal/reader/reader.ts'
import type { Segment } from '../../journal/tape/recorded-segments.ts'
import { Mints } from '../../market/mints.ts'

/** Result of one segment: verified, or the reason why not. */
export interface Outcome {
  readonly segment: number
  readonly skipped: string
  readonly rows: number
  readonly decisions: number
  readonly divergence: (Divergence & { segment: number }) | null
}

/** Replays every recorded segment. All strategies are loaded first; afterwards only their handlers run. */
export async function replaySegments(journal: string, say: (outcome: Outcome) => void): Promise<void> {
  const reader = openReader(journal)
  try {
    const segments = []
    for (const segment of reader.segments())
      segments.push({ segment, strategies: segment.complete ? await recordedStrategies(segment) : new Map() })
    for (const { segment, strategies } of segments) {
      const nothing = { segment: segment.number, rows: 0, decisions: 0, divergence: null }
      if (!segment.complete) say({ ...nothing, skipped: 'its tape was dropped' })
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

/** Strategies of a segment by the names in its settings, or the reason why they cannot be loaded. */
export async function recordedStrategies({ start }: Segment): Promise<ReadonlyMap<string, Strategy> | string> {
  try {
    const names = [...new Set(start.bots.map(({ strategy }) => strategy))]
    const loaded: LoadedStrategy[] = await Promise.all(names.map((name) => loadStrategy(name)))
    if (codeHash(loaded) !== start.code) return 'other code recorded it: Sluice or a strategy has changed since'
    return new Map(loaded.map(({ name, strategy }) => [name, strategy]))
  } catch (error) {
    if (error instanceof SluiceError) return error.message
    throw error
  }
}

/** Record of a segment in order, with the warm-up rows directly after the start. */
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
