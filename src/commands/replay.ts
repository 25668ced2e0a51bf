import { ExitCode, SluiceError } from '../core/errors.ts'
import { Mints } from '../core/mints.ts'
import { type Divergence, verifySegment } from '../core/verify.ts'
import { type JournalReader, openReader } from '../journal/reader.ts'
import type { Segment } from '../journal/segment-replay.ts'
import { recordedEntries, recordedStrategies } from '../recorded-segment.ts'
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
  const strategies = await recordedStrategies(segment)
  if (typeof strategies === 'string') return { ...nothing, skipped: strategies }
  const mints = new Mints()
  const entries = recordedEntries(reader, segment, mints)
  const { rows, decisions, divergence } = verifySegment(entries, mints, strategies)
  return {
    segment: segment.number,
    skipped: '',
    rows,
    decisions,
    divergence: divergence && { segment: segment.number, ...divergence },
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
