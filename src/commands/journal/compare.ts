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
import { ExitCode, SluiceError } from '../../base/errors.ts'
import { printable } from '../../base/text.ts'
import type { Decision } from '../../engine/replay/verify.ts'
import { type JournalReader, openReader } from '../../journal/reader/reader.ts'
import { dateTimeOf } from '../../runtime/time-text.ts'
import type { Options } from '../options.ts'

const REPORT = 'report.json'
const RESULTS = 'results.db'

type Decisions = ReturnType<typeof firstDifference> | null

/** `sluice compare A B`: two runs side by side, each a folder of `backtest --out`, its report.json, or a journal. What
 *  they were made of and what differs in it, their results, and the first decision that is not the same. */
export async function run([a = '', b = '']: string[], { json }: Options): Promise<number> {
  const [one, other] = [open(a), open(b)]
  try {
    const comparison = compareRuns(one.facts, other.facts)
    const decisions =
      one.journal === undefined || other.journal === undefined
        ? null
        : firstDifference(one.journal.decisions(), other.journal.decisions())
    console.log(json === true ? JSON.stringify({ ...comparison, decisions }) : textOf(comparison, decisions))
  } finally {
    one.journal?.close()
    other.journal?.close()
  }
  return 0
}

interface OpenRun {
  readonly facts: RunFacts
  /** Where its decisions are. */
  readonly journal: JournalReader | undefined
}

function open(path: string): OpenRun {
  if (!existsSync(path)) throw new SluiceError(`there is no ${path}`, ExitCode.usage)
  if (statSync(path).isDirectory()) return openReport(join(path, REPORT))
  if (path.endsWith('.json')) return openReport(path)
  // The report beside it tells more of the same run.
  if (basename(path) === RESULTS && existsSync(join(dirname(path), REPORT)))
    return openReport(join(dirname(path), REPORT))
  const journal = openReader(path)
  const [first] = journal.segments()
  if (first !== undefined)
    return { journal, facts: factsOfJournal({ start: first.start, orders: journal.orders(), fills: journal.fills() }) }
  journal.close()
  throw new SluiceError(`${path} holds no run: nothing was decided in it`, ExitCode.usage)
}

function openReport(path: string): OpenRun {
  const results = join(dirname(path), RESULTS)
  return { facts: factsOfReport(readReport(path)), journal: existsSync(results) ? openReader(results) : undefined }
}

function textOf({ differences, bots }: Comparison, decisions: Decisions): string {
  return [
    ...(differences.length === 0 ? ['made of the same: configuration, code, tape, plan'] : ['not the same:']),
    ...table(differences.map(({ what, a, b }) => [`  ${what}`, a ?? '-', b ?? '-'])),
    ...bots.flatMap(({ bot, results }) => ['', `${bot}:`, ...resultLines(results)]),
    '',
    ...decisionLines(decisions),
  ].join('\n')
}

/** What both have; a journal knows less than a report. */
function resultLines(results: Comparison['bots'][number]['results']): string[] {
  const both = results.flatMap(({ what, a, b }) => (a === null || b === null ? [] : [{ what, a, b }]))
  const left = results.length - both.length
  return [
    ...table([
      ['', 'A', 'B', 'B - A'],
      ...both.map(({ what, a, b }) => [`  ${what}`, shown(a), shown(b), shown(b - a)]),
    ]),
    ...(left > 0 ? [`  ${left} more ${left === 1 ? 'figure' : 'figures'} that only one of them has: --json`] : []),
  ]
}

function decisionLines(decisions: Decisions): string[] {
  if (decisions === null) return ['decisions: not compared, only results.db and journals hold them']
  const { equal, a, b } = decisions
  if (a === null && b === null) return [`decisions: ${equal}, all the same`]
  return [`decisions: ${equal} the same, then`, `  A ${lineOf(a)}`, `  B ${lineOf(b)}`]
}

function lineOf(decision: Decision | null): string {
  if (decision === null) return 'no more'
  const { time, kind, bot, mint, code, reason } = decision
  return printable([`${dateTimeOf(time)} UTC`, bot, kind, mint, code, reason].filter((part) => part !== '').join(' '))
}

function shown(value: number): string {
  return String(Number(value.toPrecision(6)))
}

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => printable(row[column] ?? '').length)))
  return rows.map((row) =>
    row
      .map((cell, column) => {
        const width = widths[column] as number
        return column === 0 ? printable(cell).padEnd(width) : printable(cell).padStart(width)
      })
      .join('  ')
      .trimEnd(),
  )
}
