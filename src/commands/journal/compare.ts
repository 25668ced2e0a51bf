import { existsSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import {
  type Comparison,
  compareRuns,
  factsOfJournal,
  factsOfReport,
  firstDifference,
  type RunFacts,
} from '../../backtest/report/comparison.ts'
import { readReport } from '../../backtest/report/report.ts'
import { REPORT, RESULTS } from '../../backtest/results-folder.ts'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import { counted, printable } from '../../base/text.ts'
import type { Decision } from '../../engine/replay/compare-decisions.ts'
import { type JournalReader, openReader } from '../../journal/reader/reader.ts'
import { dateTimeOf } from '../../runtime/time-text.ts'
import { defineCommand, JSON_LINE } from '../options.ts'
import { type Progress, table, withProgress } from '../terminal.ts'

type Decisions = ReturnType<typeof firstDifference> | null

/** Compares inputs, results and decisions of two runs. Each is a folder of `backtest --out`, a report.json or a
 *  journal. */
export const command = defineCommand({
  options: { json: JSON_LINE },
  async run([a = '', b = ''], { json }) {
    const [one, other] = [open(a), open(b)]
    try {
      const comparison = compareRuns(one.facts, other.facts)
      const decisions =
        one.journal === undefined || other.journal === undefined ? null : differenceOf(one.journal, other.journal)
      console.log(json ? JSON.stringify({ ...comparison, decisions }) : textOf(comparison, decisions))
    } finally {
      one.journal?.close()
      other.journal?.close()
    }
    return 0
  },
})

function differenceOf(one: JournalReader, other: JournalReader): Decisions {
  const most = Math.min(one.decisionCount(), other.decisionCount())
  return withProgress(most, (line) => firstDifference(counting(one.decisions(), line), other.decisions()), 'decisions')
}

const REPORT_DECISIONS = 1_000

function* counting(decisions: Iterable<Decision>, line: Progress): Generator<Decision, void, undefined> {
  let count = 0
  for (const decision of decisions) {
    if (count++ % REPORT_DECISIONS === 0) line.at(count)
    yield decision
  }
}

interface OpenRun {
  readonly facts: RunFacts
  /** Journal with the decisions of the run; undefined if only a report exists. */
  readonly journal: JournalReader | undefined
}

function open(path: string): OpenRun {
  if (!existsSync(path)) throw new SluiceError(`${path} does not exist`, ExitCode.usage)
  if (statSync(path).isDirectory()) return openReport(join(path, REPORT))
  if (path.endsWith('.json')) return openReport(path)
  // The report next to results.db is from the same run, and has more results than results.db.
  if (basename(path) === RESULTS && existsSync(join(dirname(path), REPORT)))
    return openReport(join(dirname(path), REPORT))
  const journal = openReader(path)
  const [first] = journal.segments()
  if (first !== undefined)
    return { journal, facts: factsOfJournal({ start: first.start, orders: journal.orders(), fills: journal.fills() }) }
  journal.close()
  throw new SluiceError(`${path} holds no run`, ExitCode.usage)
}

function openReport(path: string): OpenRun {
  const results = join(dirname(path), RESULTS)
  return { facts: factsOfReport(readReport(path)), journal: existsSync(results) ? openReader(results) : undefined }
}

function textOf({ differences, notes, bots }: Comparison, decisions: Decisions): string {
  const compared = ['configuration', 'code', ...(notes.length === 0 ? ['tape'] : []), 'plan'].join(', ')
  return [
    differences.length === 0 ? `same inputs: ${compared}` : 'different inputs:',
    ...table(differences.map(({ what, a, b }) => [`  ${what}`, a ?? '-', b ?? '-'].map(printable))),
    ...notes,
    ...bots.flatMap(({ bot, results }) => ['', `${bot}:`, ...resultLines(results)]),
    '',
    ...decisionLines(decisions),
  ].join('\n')
}

/**
 * Lines with the values that both runs have. A journal has fewer values than a report, so a last line counts the values
 * that only one of the runs has.
 */
function resultLines(results: Comparison['bots'][number]['results']): string[] {
  const both = results.flatMap(({ what, a, b }) => (a === null || b === null ? [] : [{ what, a, b }]))
  const left = results.length - both.length
  return [
    ...table([
      ['', 'A', 'B', 'B - A'],
      ...both.map(({ what, a, b }) => [`  ${printable(what)}`, shown(a), shown(b), shown(b - a)]),
    ]),
    ...(left > 0 ? [`  not shown: ${counted(left, 'value')} that only one of the runs has; --json prints them`] : []),
  ]
}

function decisionLines(decisions: Decisions): string[] {
  if (decisions === null)
    return ['decisions: not compared, because one of the runs has neither a journal nor a results.db']
  const { equal, a, b } = decisions
  if (a === null && b === null) return [`decisions: all ${equal} are equal`]
  return [`decisions: the first ${equal} are equal; the next ones differ`, `  A ${lineOf(a)}`, `  B ${lineOf(b)}`]
}

function lineOf(decision: Decision | null): string {
  if (decision === null) return 'no further decision'
  const { time, kind, bot, mint, code, reason } = decision
  return printable([`${dateTimeOf(time)} UTC`, bot, kind, mint, code, reason].filter((part) => part !== '').join(' '))
}

function shown(value: number): string {
  return String(Number(value.toPrecision(6)))
}
