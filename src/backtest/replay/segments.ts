import { SluiceError } from '../../base/errors.ts'
import { codeHash } from '../../config/hashes.ts'
import { type LoadedStrategy, loadStrategy } from '../../config/strategies.ts'
import { type Divergence, type Entry, verifySegment } from '../../engine/replay/compare-decisions.ts'
import type { Strategy } from '../../engine/strategy.ts'
import type { Finding } from '../../journal/proof/finding.ts'
import { type JournalReader, openReader } from '../../journal/reader/reader.ts'
import type { Segment } from '../../journal/tape/recorded-segments.ts'
import { Mints } from '../../market/mints.ts'
import { RowsRead, type RowsReport } from '../rows-read.ts'

/** Result of the replay of one segment (one start of a process). `skipped` is the reason why it was not replayed; '' if
 *  it was. */
export interface Outcome {
  readonly segment: number
  readonly skipped: string
  readonly rows: number
  readonly decisions: number
  readonly divergence: (Divergence & { segment: number }) | null
}

/** Functions that receive the results of a replay, one at a time. */
export interface ReplayReport {
  readonly outcome: (outcome: Outcome) => void
  /** Receives each table row of the journal that contradicts the recorded inputs and decisions. */
  readonly finding: (finding: Finding) => void
  /** Receives the number of market rows that were replayed so far, and the number of all market rows. While the tables
   *  are proved, after the replay, both numbers are equal. */
  readonly progress?: RowsReport
}

/** Replays every recorded segment, and proves every table row of the journal. All strategies are loaded first. After
 *  that, only their handlers run. */
export async function replaySegments(journal: string, report: ReplayReport): Promise<void> {
  const reader = openReader(journal)
  try {
    reader.hold()
    const segments = []
    for (const segment of readableSegments(reader))
      segments.push({ segment, strategies: segment.complete ? await recordedStrategies(segment) : new Map() })
    const of = segments.reduce((sum, { segment }) => sum + segment.rows, 0)
    const read = new RowsRead(report.progress)
    for (const [index, { segment, strategies }] of segments.entries()) {
      read.expect(segments.slice(index).reduce((sum, later) => sum + later.segment.rows, 0))
      report.outcome(replayed(reader, segment, strategies, { ...report, read }))
    }
    report.progress?.(of, of)
    for (const finding of reader.findings()) report.finding(finding)
  } finally {
    reader.close()
  }
}

/** Returns the segments; an empty list if the recorded start of a segment is not valid JSON. In that case, the findings
 *  name the damaged table row, because its checksum does not match. */
export function readableSegments(reader: JournalReader): Segment[] {
  try {
    return reader.segments()
  } catch (error) {
    if (error instanceof SyntaxError) return []
    throw error
  }
}

function replayed(
  reader: JournalReader,
  segment: Segment,
  strategies: ReadonlyMap<string, Strategy> | string,
  { finding, read }: Pick<ReplayReport, 'finding'> & { readonly read: RowsRead },
): Outcome {
  const { number } = segment
  const nothing = { segment: number, rows: 0, decisions: 0, divergence: null }
  if (!segment.complete) return { ...nothing, skipped: reader.lackOf(segment) }
  if (typeof strategies === 'string') return { ...nothing, skipped: strategies }
  const mints = new Mints()
  try {
    const entries = read.items(recordedEntries(reader, segment, mints))
    const { divergence, ...counts } = verifySegment(entries, mints, strategies)
    return { ...nothing, ...counts, skipped: '', divergence: divergence && { segment: number, ...divergence } }
  } catch (error) {
    const { message } = error as Error
    finding({ table: 'segment', row: `number ${number}`, problem: `its replay ended: ${message}` })
    return { ...nothing, skipped: `its replay ended: ${message}` }
  }
}

/** Returns the strategies of a segment, by the names in its settings. If they cannot be loaded, returns the reason. */
export async function recordedStrategies({ start }: Segment): Promise<ReadonlyMap<string, Strategy> | string> {
  try {
    const names = [...new Set(start.bots.map(({ strategy }) => strategy))]
    const loaded: LoadedStrategy[] = await Promise.all(names.map((name) => loadStrategy(name)))
    if (codeHash(loaded) !== start.code)
      return 'it was recorded with other code: Sluice or a strategy has changed since'
    return new Map(loaded.map(({ name, strategy }) => [name, strategy]))
  } catch (error) {
    if (error instanceof SluiceError) return error.message
    throw error
  }
}

/** Yields the record of a segment in order, with the warm-up rows directly after the start. */
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
