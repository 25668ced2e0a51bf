import { replayJournal } from '../../backtest/replay/replay-journal.ts'
import type { Outcome } from '../../backtest/replay/segments.ts'
import { ExitCode } from '../../base/errors.ts'
import { defineCommand, flag, JOURNAL, JSON_LINE } from '../options.ts'

/** Repeats every recorded segment and compares every decision. Exits 1 on a divergence, and if no segment could be
 *  verified. */
export const command = defineCommand({
  options: { journal: JOURNAL, verify: flag('compare the decisions, which replay always does'), json: JSON_LINE },
  async run(_args, { journal, json }) {
    const outcomes: Outcome[] = []
    await replayJournal(journal, (outcome) => {
      outcomes.push(outcome)
      if (!json) console.log(textOf(outcome))
    })
    const verified = outcomes.filter(({ skipped }) => skipped === '')
    const divergence = verified.find((outcome) => outcome.divergence !== null)?.divergence ?? null
    const equal = divergence === null && verified.length > 0
    if (json) console.log(JSON.stringify({ ...totalsOf(verified), equal, divergence }))
    else if (verified.length === 0) console.error('sluice: no segment could be verified')
    return equal ? ExitCode.done : ExitCode.failed
  },
})

function totalsOf(verified: readonly Outcome[]): object {
  const sum = (of: (outcome: Outcome) => number): number => verified.reduce((total, outcome) => total + of(outcome), 0)
  return { segments: verified.length, rows: sum(({ rows }) => rows), decisions: sum(({ decisions }) => decisions) }
}

function textOf({ segment, skipped, rows, decisions, divergence }: Outcome): string {
  if (skipped !== '') return `segment ${segment}: skipped, ${skipped}`
  if (divergence === null) return `segment ${segment}: ${rows} rows, ${decisions} decisions, all equal`
  const { seq, field, expected, got } = divergence
  return [
    `segment ${segment}: first different decision at seq ${seq}${field === '' ? '' : `, field ${field}`}`,
    `  recorded ${expected || 'nothing'}`,
    `  repeated ${got || 'nothing'}`,
  ].join('\n')
}
