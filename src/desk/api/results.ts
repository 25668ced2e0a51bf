import { existsSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { compareRuns, factsOfJournal, factsOfReport, firstDifference } from '../../backtest/report/comparison.ts'
import { readReport } from '../../backtest/report/report.ts'
import { REPORT, REPORT_PAGE, RESULTS, resultFolders, SWEEP_PAGE, SWEEP_STORE } from '../../backtest/results-folder.ts'
import { bestNetOf } from '../../backtest/sweep/store.ts'
import { SluiceError } from '../../base/errors.ts'
import { lamportsToSol, type Millis } from '../../base/units.ts'
import type { Decision } from '../../engine/replay/compare-decisions.ts'
import { type JournalReader, openReader } from '../../journal/reader/reader.ts'
import { Refusal } from '../refusal.ts'
import type { DeskJournal } from './desk-journal.ts'
import { invalid, type Parameters } from './parameters.ts'
import type { Answers, ResultRun } from './types.ts'

/** Maximum number of runs in the list of results. */
const MOST_RUNS = 200
/** Maximum number of decisions of each run that are compared. */
const MOST_DECISIONS = 100_000

interface KnownRun {
  readonly changed: Millis
  readonly run: ResultRun
}

/** Folders of backtests and sweeps: the given folders, and the folders directly inside of them. */
export class Results {
  readonly #folders: readonly string[]
  /** Runs that were read, by folder. A folder is read again when the file with its results has changed. */
  readonly #known = new Map<string, KnownRun>()

  constructor(folders: readonly string[]) {
    this.#folders = folders
  }

  answer(): Answers['results'] {
    return { runs: this.#runs() }
  }

  /** Path of the HTML report of a run; undefined if there is no run of this name or if it has no report. */
  pageOf(name: string): string | undefined {
    const run = this.#runs().find((one) => one.name === name)
    if (run === undefined || run.page === null) return undefined
    return join(run.path, run.kind === 'sweep' ? SWEEP_PAGE : REPORT_PAGE)
  }

  /** Compares the journal with the backtest that the parameter `run` names. */
  compare({ reader }: DeskJournal, parameters: Parameters): Answers['compare'] {
    const name = parameters.text('run')
    if (name === undefined) throw invalid('run is missing; expected the name of a backtest that /api/results lists')
    const run = this.#runs().find((one) => one.name === name && one.kind === 'backtest')
    if (run === undefined) throw new Refusal(404, 'NOT_FOUND', 'there is no backtest of this name')
    const start = reader.lastStart()
    if (start === undefined) throw new Refusal(404, 'NOT_FOUND', 'no bot ran in this journal')
    const facts = factsOfJournal({ start, orders: reader.orders(), fills: reader.fills() })
    const comparison = compareRuns(facts, factsOfReport(readReport(join(run.path, REPORT))))
    return { run: name, ...comparison, decisions: decisionsOf(reader, join(run.path, RESULTS)) }
  }

  #runs(): ResultRun[] {
    const found = this.#folders.flatMap(resultFolders)
    const runs = found.flatMap((folder) => this.#read(folder) ?? []).sort((one, other) => other.time - one.time)
    const names = new Map<string, number>()
    return runs.slice(0, MOST_RUNS).map((run) => {
      const count = (names.get(run.name) ?? 0) + 1
      names.set(run.name, count)
      const name = count === 1 ? run.name : `${run.name}-${count}`
      return { ...run, name, page: run.page === null ? null : `/results/${encodeURIComponent(name)}/` }
    })
  }

  /** Reads a folder; undefined if it holds neither a complete backtest nor a sweep. */
  #read(folder: string): ResultRun | undefined {
    const kind = existsSync(join(folder, REPORT)) ? 'backtest' : 'sweep'
    const file = join(folder, kind === 'backtest' ? REPORT : SWEEP_STORE)
    const changed = statSync(file, { throwIfNoEntry: false })?.mtimeMs
    if (changed === undefined) return undefined
    const known = this.#known.get(folder)
    if (known?.changed === changed) return known.run
    const net = netOf(kind, file)
    if (net === undefined) return undefined
    const page = existsSync(join(folder, kind === 'sweep' ? SWEEP_PAGE : REPORT_PAGE)) ? '' : null
    const run = { name: basename(folder), path: folder, kind, time: Math.floor(changed), netSol: net, page } as const
    this.#known.set(folder, { changed, run })
    return run
  }
}

/** Net result of a backtest, or of the best param set of a sweep, SOL; null if no param set has a result; undefined if
 *  the file cannot be read. */
function netOf(kind: ResultRun['kind'], file: string): number | null | undefined {
  try {
    if (kind === 'backtest') return readReport(file).bots.reduce((sum, { netSol }) => sum + netSol, 0)
    const best = bestNetOf(file)
    return best === null ? null : lamportsToSol(best)
  } catch (error) {
    if (error instanceof SluiceError) return undefined
    throw error
  }
}

function decisionsOf(reader: JournalReader, results: string): Answers['compare']['decisions'] {
  if (!existsSync(results)) return null
  const run = openReader(results)
  try {
    return firstDifference(first(reader.decisions()), first(run.decisions()))
  } finally {
    run.close()
  }
}

function* first(decisions: Iterable<Decision>): Generator<Decision, void, undefined> {
  let count = 0
  for (const decision of decisions) {
    if (count++ === MOST_DECISIONS) return
    yield decision
  }
}
