import { Worker } from 'node:worker_threads'
import { type Outcome, replaySegments } from '../../backtest/replay/segments.ts'
import type { FromReplayThread } from '../../backtest/replay/segments-thread.ts'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import { openReader } from '../../journal/reader/reader.ts'
import type { Options } from '../options.ts'

/** `sluice replay --journal DB`: repeats every recorded segment and compares every decision, with or without
 *  `--verify`. Exit 1 on a divergence, and where no segment could be verified. */
export async function run(_args: string[], { journal = 'data/sluice.db', json }: Options): Promise<number> {
  const outcomes: Outcome[] = []
  await replay(journal, (outcome) => {
    outcomes.push(outcome)
    if (json !== true) console.log(textOf(outcome))
  })
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
}

/** In a thread where the strategies had one, so that it ends whatever they leave behind. */
async function replay(journal: string, say: (outcome: Outcome) => void): Promise<void> {
  if (!isIsolated(journal)) return replaySegments(journal, say)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const thread = new Worker(new URL('../../backtest/replay/segments-thread.ts', import.meta.url), {
    workerData: journal,
  })
  thread.on('error', reject)
  thread.on('exit', () => reject(new Error('the replay ended before its time')))
  thread.on('message', (message: FromReplayThread) => {
    if (message.kind === 'outcome') say(message.outcome)
    else if (message.kind === 'done') resolve()
    else
      reject(
        message.exitCode === null ? new Error(message.message) : new SluiceError(message.message, message.exitCode),
      )
  })
  try {
    await promise
  } finally {
    await thread.terminate()
  }
}

function isIsolated(journal: string): boolean {
  const reader = openReader(journal)
  try {
    return reader.segments().some(({ start }) => start.isolated === true)
  } finally {
    reader.close()
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
