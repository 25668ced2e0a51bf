import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { ExitCode, SluiceError } from '../base/errors.ts'
import { lockJournal } from '../journal/lock.ts'
import { openReader } from '../journal/reader/reader.ts'
import { openJournal } from '../journal/writer/journal.ts'
import type { Journal } from '../orders/ports.ts'
import { FinalRecords } from './final-records.ts'
import { reportPage } from './report/page.ts'
import type { Report } from './report/report.ts'

/** Names of the files of a backtest. */
export const RESULTS = 'results.db'
export const REPORT_PAGE = 'report.html'
/** The report is written last. If it exists, the run is complete. */
export const REPORT = 'report.json'
/** Names of the files of a sweep. */
export const SWEEP_STORE = 'sweep.db'
export const SWEEP_PAGE = 'sweep.html'
/** Maximum number of folders that `resultFolders` examines. */
const MOST_FOLDERS = 2_000
/** Space limits of 0, because no disk space needs to be reserved for results that can be computed again. */
const NO_LIMITS = { tapeBytes: 0, entryBytes: 0, reserveBytes: 0 }

/** Calls `run` with a new journal in the folder. If the run fails, its results are deleted. */
export async function runIntoFolder<T>(folder: string, run: (journal: Journal) => T): Promise<T> {
  const path = join(folder, RESULTS)
  if (existsSync(path)) clearUnfinished(folder)
  let failure: Error | undefined
  const journal = openJournal(path, { durable: false, space: NO_LIMITS, onFailure: (error) => (failure = error) })
  let result: T | undefined
  try {
    const records = new FinalRecords(journal)
    result = run(records)
    records.end()
  } finally {
    await journal.close()
    if (result === undefined) removeResults(folder)
  }
  if (failure !== undefined) throw failure
  return result
}

export function writeReport(folder: string, report: Report): void {
  const mode = 0o600
  writeFileSync(join(folder, REPORT_PAGE), reportPage(report), { mode })
  writeFileSync(join(folder, REPORT), `${JSON.stringify(report)}\n`, { mode })
}

/** Symbols and names of the tokens that the bots of a backtest traded most, from the report next to its journal. Empty
 *  for any other journal, and if the report cannot be read, because a page without symbols is better than no page. */
export function reportedNames(journal: string): ReadonlyMap<string, Report['names'][string]> {
  const path = join(dirname(journal), REPORT)
  if (basename(journal) !== RESULTS || !existsSync(path)) return new Map()
  try {
    const { names = {} } = JSON.parse(readFileSync(path, 'utf8')) as Partial<Report>
    return new Map(Object.entries(names))
  } catch {
    return new Map()
  }
}

/** Returns the folders of complete backtests and of sweeps: the given folder, or the folders directly inside of it. */
export function resultFolders(given: string): string[] {
  const folder = resolve(given)
  const isResult = (path: string): boolean => existsSync(join(path, REPORT)) || existsSync(join(path, SWEEP_STORE))
  if (isResult(folder)) return [folder]
  if (!existsSync(folder) || !statSync(folder).isDirectory()) return []
  const inside = readdirSync(folder, { withFileTypes: true }).slice(0, MOST_FOLDERS)
  return inside.flatMap((entry) => (entry.isDirectory() ? [join(folder, entry.name)] : [])).filter(isResult)
}

/** Removes the results of an interrupted run, which have no report. Throws SluiceError if the run is complete or still
 *  writing, or if the results are not those of a backtest. */
function clearUnfinished(folder: string): void {
  const path = join(folder, RESULTS)
  if (existsSync(join(folder, REPORT)) || !isOfBacktest(path))
    throw new SluiceError(`${path} already exists; choose another folder`, ExitCode.usage)
  lockJournal(path).release()
  removeResults(folder)
}

function isOfBacktest(path: string): boolean {
  try {
    const reader = openReader(path)
    try {
      return reader.recover().money.accounts.every(({ account }) => account.startsWith('backtest|'))
    } finally {
      reader.close()
    }
  } catch (error) {
    if (error instanceof SluiceError) return false
    throw error
  }
}

function removeResults(folder: string): void {
  for (const name of readdirSync(folder)) if (name.startsWith(RESULTS)) rmSync(join(folder, name))
}
