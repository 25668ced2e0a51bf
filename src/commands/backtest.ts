import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { reportPage } from '../backtest/page/page.ts'
import type { Report } from '../backtest/report.ts'
import { overriddenNote } from '../config/effective-exits.ts'
import { ExitCode, SluiceError } from '../core/errors.ts'
import type { Journal } from '../core/ports.ts'
import { lamportsToSol } from '../core/units.ts'
import { openJournal } from '../journal/journal.ts'
import { lockJournal } from '../journal/lock.ts'
import { openReader } from '../journal/reader.ts'
import { openTape } from '../journal/tape-files.ts'
import type { FillModel } from '../simulation/fill-model.ts'
import { extraRows, extrasOf } from '../wiring/backtest/backtest-extras.ts'
import { type Backtest, runBacktest } from '../wiring/backtest/backtest-run.ts'
import { verifyCausal } from './backtest-causal.ts'
import { reportOf } from './backtest-report.ts'
import { backtestText } from './backtest-text.ts'
import { calibrationOf } from './calibration.ts'
import { tapesOf } from './config-tape.ts'
import type { Options } from './options.ts'
import { Progress } from './progress.ts'
import { configOf } from './run-bots.ts'
import { marketBetween } from './time-window.ts'

const RESULTS = 'results.db'
/** Written when all else is there. */
const REPORT = 'report.json'
/** Results can be computed again: no reserve is kept for them. */
const NO_LIMITS = { tapeBytes: 0, entryBytes: 0, reserveBytes: 0 }

/** `sluice backtest FILE [--journal DB...]`: what the bots of a configuration would have made of a recorded market. Exit 2 where the tape does
 *  not cover what they need, unless `--partial`; exit 1 where a strategy throws. */
export async function run([file = '']: string[], options: Options): Promise<number> {
  const { partial = false, out, json, calibrate } = options
  const config = await configOf([file])
  const overridden = overriddenNote(config.bots)
  if (overridden !== undefined) console.error(`sluice: ${overridden}`)
  const tape = openTape(tapesOf(options, config))
  try {
    const market = marketBetween(tape.market, options)
    if (options.verifyCausal === true) return verifyCausal(config, market, options)
    const calibration = calibrate === true ? calibrationOf(config, tape.market, tape.executions()) : undefined
    const model = calibration?.model ?? ((assumed: FillModel) => assumed)
    const logged = json !== true || out !== undefined
    const backtest = await intoFolder(out, (journal) =>
      withProgress(market.rows, (progress) =>
        runBacktest(config, market, { partial, progress, journal, logged, model }),
      ),
    )
    const extras =
      out === undefined
        ? undefined
        : withProgress(extraRows(config, market), (progress) => extrasOf(config, market, backtest, { progress, model }))
    const report =
      out === undefined
        ? undefined
        : reportOf(config, market, backtest, { extras: extras ?? new Map(), calibration: calibration?.report })
    if (out !== undefined && report !== undefined) writeReport(out, report)
    for (const lack of json === true ? backtest.lacks : []) console.error(`sluice: the tape lacks ${lack}`)
    console.log(
      json === true ? JSON.stringify(countersOf(backtest)) : backtestText(backtest, calibration?.report, report),
    )
  } finally {
    tape.close()
  }
  return 0
}

/** Runs with a new journal in the folder, where one is asked for. A run that fails leaves none behind. */
async function intoFolder(folder: string | undefined, run: (journal?: Journal) => Backtest): Promise<Backtest> {
  if (folder === undefined) return run()
  const path = join(folder, RESULTS)
  if (existsSync(path)) clearUnfinished(folder)
  let failure: Error | undefined
  const journal = openJournal(path, { durable: false, space: NO_LIMITS, onFailure: (error) => (failure = error) })
  let backtest: Backtest | undefined
  try {
    backtest = run(journal)
  } finally {
    await journal.close()
    if (backtest === undefined) removeResults(folder)
  }
  if (failure !== undefined) throw failure
  return backtest
}

/** A run that was ended midway left no report: its results are made anew. Throws SluiceError where it did, where what lies there is something
 *  else, and where somebody is at it. */
function clearUnfinished(folder: string): void {
  const path = join(folder, RESULTS)
  if (existsSync(join(folder, REPORT)) || !isOfBacktest(path))
    throw new SluiceError(`${path} is there already; choose another folder`, ExitCode.usage)
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

function withProgress<T>(rows: number, run: (progress: (rows: number) => void) => T): T {
  const progress = new Progress(process.stderr, rows)
  try {
    return run((done) => progress.at(done))
  } finally {
    progress.end()
  }
}

function writeReport(folder: string, report: Report): void {
  const mode = 0o600
  writeFileSync(join(folder, 'report.html'), reportPage(report), { mode })
  writeFileSync(join(folder, REPORT), `${JSON.stringify(report)}\n`, { mode })
}

function removeResults(folder: string): void {
  for (const name of readdirSync(folder)) if (name.startsWith(RESULTS)) rmSync(join(folder, name))
}

function countersOf({ rows, decisions, bots }: Backtest): object {
  const sum = (of: (bot: Backtest['bots'][number]) => number): number => bots.reduce((total, bot) => total + of(bot), 0)
  return {
    events: rows,
    decisions,
    orders: sum(({ result }) => result.orders),
    fills: sum(({ result }) => result.buys + result.sells),
    positions: sum(({ result }) => result.positions.size),
    realizedSol: lamportsToSol(sum(({ result }) => result.realizedLamports)),
    feesSol: lamportsToSol(sum(({ result }) => result.feeLamports)),
    netSol: lamportsToSol(sum(({ result, valueLamports }) => result.walletLamports + valueLamports)),
  }
}
