import { replayJournal } from '../../backtest/replay/replay-journal.ts'
import type { Outcome } from '../../backtest/replay/segments.ts'
import { ExitCode } from '../../base/errors.ts'
import { counted } from '../../base/text.ts'
import { WALL_CLOCK } from '../../journal/proof/coverage.ts'
import type { Finding } from '../../journal/proof/finding.ts'
import { defineCommand, flag, JOURNAL, JSON_LINE } from '../options.ts'
import { Progress } from '../terminal.ts'

/** Maximum number of findings that are printed, because one changed row may contradict many others. */
const MOST_FINDINGS = 20
const MOST_FINDINGS_JSON = 1000

const VERIFY = `accepted for compatibility, without effect: a replay always compares every decision and every row. A replay cannot compute ${WALL_CLOCK.join(', ')} again, because they come from the wall clock; the checksum of the row proves them`

/**
 * Repeats every recorded segment, compares every decision, and checks the rows of the journal against each other. Exits
 * 1 if there is a difference or if no segment could be verified.
 */
export const command = defineCommand({
  options: {
    journal: JOURNAL,
    verify: flag(VERIFY),
    strict: flag('exit with 1 if a segment is skipped'),
    json: JSON_LINE,
  },
  async run(_args, { journal, strict, json }) {
    const outcomes: Outcome[] = []
    const findings: Finding[] = []
    let found = 0
    let line: Progress | undefined
    const print = (text: string): void => {
      line?.end()
      if (!json) console.log(text)
    }
    await replayJournal(journal, {
      outcome: (outcome) => {
        outcomes.push(outcome)
        print(textOf(outcome))
      },
      finding: (finding) => {
        if (++found <= MOST_FINDINGS_JSON) findings.push(finding)
        if (found <= MOST_FINDINGS) print(findingText(finding))
      },
      progress: (rows, of) => {
        line ??= new Progress(process.stderr, of)
        if (rows < of) line.at(rows)
        else line.note('proving every row')
      },
    }).finally(() => line?.end())
    const verified = outcomes.filter(({ skipped }) => skipped === '')
    const skipped = outcomes.filter((outcome) => outcome.skipped !== '')
    const divergence = verified.find((outcome) => outcome.divergence !== null)?.divergence ?? null
    const equal = divergence === null && found === 0 && verified.length > 0
    const isDone = equal && !(strict && skipped.length > 0)
    if (json)
      console.log(JSON.stringify({ ...totalsOf(verified), equal, divergence, skipped: skippedOf(skipped), findings }))
    else for (const line of conclusion(outcomes, verified.length, found, strict)) console.error(`sluice: ${line}`)
    return isDone ? ExitCode.done : ExitCode.failed
  },
})

function totalsOf(verified: readonly Outcome[]): object {
  const sum = (of: (outcome: Outcome) => number): number => verified.reduce((total, outcome) => total + of(outcome), 0)
  return { segments: verified.length, rows: sum(({ rows }) => rows), decisions: sum(({ decisions }) => decisions) }
}

function skippedOf(outcomes: readonly Outcome[]): object[] {
  return outcomes.map(({ segment, skipped: reason }) => ({ segment, reason }))
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

function findingText({ table, row, problem }: Finding): string {
  return `table ${table}, ${row}: ${problem}`
}

function conclusion(outcomes: readonly Outcome[], verified: number, found: number, strict: boolean): string[] {
  const skipped = outcomes.length - verified
  return [
    ...(found > MOST_FINDINGS ? [`${found - MOST_FINDINGS} more findings are not shown`] : []),
    ...(found > 0
      ? [`${counted(found, 'finding')}: rows of the journal contradict the recorded inputs and decisions`]
      : []),
    ...(verified === 0 ? ['no segment could be verified'] : []),
    ...(verified > 0 && skipped > 0
      ? [`${counted(skipped, 'segment')} skipped${strict ? ', which --strict refuses' : ''}`]
      : []),
  ]
}
