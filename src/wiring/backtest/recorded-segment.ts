import { codeHash } from '../../config/code-hash.ts'
import { type LoadedStrategy, loadStrategy } from '../../config/strategies.ts'
import { SluiceError } from '../../core/errors.ts'
import type { Mints } from '../../core/mints.ts'
import type { Strategy } from '../../core/strategy.ts'
import type { Entry } from '../../core/verify.ts'
import type { JournalReader } from '../../journal/reader.ts'
import type { Segment } from '../../journal/segment-replay.ts'

/** The strategies that a segment was recorded with, by the names that its bots' settings use; or why they are not to be had. */
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
