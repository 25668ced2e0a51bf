import { codeHash } from '../config/code-hash.ts'
import { type LoadedStrategy, loadStrategy } from '../config/strategies.ts'
import { ExitCode, SluiceError } from '../core/errors.ts'
import { Mints } from '../core/mints.ts'
import { type Divergence, type Entry, verifySegment } from '../core/verify.ts'
import { type JournalReader, openReader } from '../journal/reader.ts'
import type { Segment } from '../journal/segment-replay.ts'
import type { Options } from './options.ts'

/** What came of one segment: verified, or why it could not be. */
interface Outcome {
  readonly segment: number
  readonly skipped: string
  readonly rows: number
  readonly decisions: number
  readonly divergence: (Divergence & { segment: number }) | null
}

/** `sluice replay --journal DB --verify`: repeats every recorded segment and compares every decision. Exit 1 on a divergence, and where
 *  no segment could be verified. */
export async function run(_args: string[], { journal = 'data/sluice.db', verify, json }: Options): Promise<number> {
  if (verify !== true)
    throw new SluiceError('replay needs --verify: it repeats what was recorded and compares', ExitCode.usage)
  const reader = openReader(journal)
  try {
    const outcomes: Outcome[] = []
    for (const segment of reader.segments()) {
      const outcome = await repeat(reader, segment)
      outcomes.push(outcome)
      if (json !== true) console.log(textOf(outcome))
    }
    const verified = outcomes.filter(({ skipped }) => skipped === '')
    const divergence = verified.find((outcome) => outcome.divergence !== null)?.divergence ?? null
    const equal = divergence === null && verified.length > 0
    if (json === true) {
      const sum = (of: (outcome: Outcome) => number): number =>
        verified.reduce((total, outcome) => total + of(outcome), 0)
      console.log(
        JSON.stringify({
          segments: verified.length,
          rows: sum(({ rows }) => rows),
          decisions: sum(({ decisions }) => decisions),
          equal,
          divergence,
        }),
      )
    } else if (verified.length === 0) console.error('sluice: no segment could be verified')
    return equal ? ExitCode.done : ExitCode.failed
  } finally {
    reader.close()
  }
}

async function repeat(reader: JournalReader, segment: Segment): Promise<Outcome> {
  const nothing = { segment: segment.number, rows: 0, decisions: 0, divergence: null }
  if (!segment.complete) return { ...nothing, skipped: 'its tape is not there any more' }
  const strategies = await strategiesOf(segment)
  if (typeof strategies === 'string') return { ...nothing, skipped: strategies }
  const mints = new Mints()
  const { rows, decisions, divergence } = verifySegment(
    entriesOf(reader, segment, mints),
    mints,
    new Map(strategies.map((one) => [one.name, one.strategy])),
  )
  return {
    segment: segment.number,
    skipped: '',
    rows,
    decisions,
    divergence: divergence && { segment: segment.number, ...divergence },
  }
}

/** The strategies of a segment, or why they are not those that it was recorded with. */
async function strategiesOf({ start }: Segment): Promise<LoadedStrategy[] | string> {
  try {
    const strategies = await Promise.all(
      [...new Set(start.bots.map(({ strategy }) => strategy))].map((name) => loadStrategy(name)),
    )
    return codeHash(strategies) === start.code
      ? strategies
      : 'it was recorded by other code: Sluice or a strategy has changed since'
  } catch (error) {
    if (error instanceof SluiceError) return error.message
    throw error
  }
}

/** The record in order, with the rows that the strategies were shown before the start right behind it. */
function* entriesOf(reader: JournalReader, segment: Segment, mints: Mints): Generator<Entry, void, undefined> {
  let warmed = false
  for (const item of reader.replay(segment, mints)) {
    const isStart = item.kind !== 'rows' && item.seq === segment.firstSeq
    if (!isStart && !warmed) {
      warmed = true
      for (const block of reader.blocks(mints, segment.start.warm))
        yield { kind: 'warm', block, from: 0, to: block.length }
    }
    yield item
  }
}

function textOf({ segment, skipped, rows, decisions, divergence }: Outcome): string {
  if (skipped !== '') return `segment ${segment}: skipped, ${skipped}`
  if (divergence === null) return `segment ${segment}: ${rows} rows, ${decisions} decisions, all equal`
  const { seq, field, expected, got } = divergence
  return [
    `segment ${segment}: decided something else at seq ${seq}${field === '' ? '' : `, field ${field}`}`,
    `  recorded ${expected || 'nothing'}`,
    `  repeated ${got || 'nothing'}`,
  ].join('\n')
}
