import { Mints } from '../core/mints.ts'
import { type Divergence, verifySegment } from '../core/verify.ts'
import { openReader } from '../journal/reader.ts'
import { recordedEntries, recordedStrategies } from '../wiring/backtest/recorded-segment.ts'

/** What came of one segment: verified, or why it could not be. */
export interface Outcome {
  readonly segment: number
  readonly skipped: string
  readonly rows: number
  readonly decisions: number
  readonly divergence: (Divergence & { segment: number }) | null
}

/** Repeats every recorded segment. All strategies are loaded before any of them runs: from then on nothing but their handlers does. */
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
