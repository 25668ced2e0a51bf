import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { calibrationOf } from '../../backtest/calibration.ts'
import { type Causality, verifyCausality } from '../../backtest/causality.ts'
import { tapeCoverage } from '../../backtest/coverage.ts'
import { extraRows, extrasOf } from '../../backtest/further-runs.ts'
import { reportOf } from '../../backtest/report/build-report.ts'
import { reportPage } from '../../backtest/report/page.ts'
import type { Report } from '../../backtest/report/report.ts'
import { type Backtest, runBacktest } from '../../backtest/run.ts'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import { printable } from '../../base/text.ts'
import { lamportsToSol, type Millis } from '../../base/units.ts'
import type { Config } from '../../config/config.ts'
import { overriddenNote } from '../../config/effective-exits.ts'
import { lockJournal } from '../../journal/lock.ts'
import { openReader } from '../../journal/reader/reader.ts'
import { type Market, windowOf } from '../../journal/tape/market-tape.ts'
import { openTape } from '../../journal/tape-files.ts'
import { openJournal } from '../../journal/writer/journal.ts'
import type { Journal } from '../../orders/ports.ts'
import { dateTimeOf } from '../../runtime/time-text.ts'
import type { FillModel } from '../../simulation/fill-model.ts'
import type { Options } from '../options.ts'
import { Progress } from '../terminal.ts'
import { configOf } from '../trade/run-bots.ts'
import { backtestText } from './backtest-text.ts'
import { tapesOf } from './config-tape.ts'

const RESULTS = 'results.db'
/** Written when all else is there. */
const REPORT = 'report.json'
/** Results can be computed again: no reserve is kept for them. */
const NO_LIMITS = { tapeBytes: 0, entryBytes: 0, reserveBytes: 0 }

/** `sluice backtest FILE [--journal DB...]`: what the bots of a configuration would have made of a recorded market.
 *  Exit 2 where the tape does not cover what they need, unless `--partial`; exit 1 where a strategy throws. */
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

/** A run that was ended midway left no report: its results are made anew. Throws SluiceError where it did, where what
 *  lies there is something else, and where somebody is at it. */
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

const LONGEST = 600

/** `sluice backtest FILE --journal DB --verify-causal`: exit 1 where something was decided, or filled, that hangs on
 *  what came after it. */
export function verifyCausal(config: Config, market: Market, { seed = 1, partial = false, json }: Options): ExitCode {
  tapeCoverage(config, market, partial)
  const found = verifyCausality(config, market, seed)
  const { cuts, compared, divergence } = found
  if (json === true) console.log(JSON.stringify({ seed, cuts, compared, equal: divergence === null, divergence }))
  else console.log(textOf(found, seed))
  return divergence === null ? ExitCode.done : ExitCode.failed
}

function textOf({ cuts, compared, divergence }: Causality, seed: number): string {
  const where = `cut after rows ${cuts.join(', ')} (--seed ${seed})`
  if (divergence === null) return `${where}: ${compared} decisions and fills, all equal`
  const { cut, whole, cutOff } = divergence
  const told = (entry: typeof whole): string =>
    entry === null
      ? 'nothing'
      : `${dateTimeOf(entry.time)} UTC, seq ${entry.seq}: ${printable(entry.text.slice(0, LONGEST))}`
  return [
    `${where}: not the same without the rows after ${cut}. It has seen the future, or hangs on something beside its market`,
    `  whole  ${told(whole)}`,
    `  cut    ${told(cutOff)}`,
  ].join('\n')
}

const TIME = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)?Z?$/

/** The tape, or what lies between `--from` and `--to` of it. Throws SluiceError (exit 2) for what is no time. */
export function marketBetween(market: Market, { from, to }: Options): Market {
  if (from === undefined && to === undefined) return market
  const [first, last] = [
    timeOf('--from', from) ?? Number.NEGATIVE_INFINITY,
    timeOf('--to', to) ?? Number.POSITIVE_INFINITY,
  ]
  if (first > last) throw new SluiceError(`--from ${from} is after --to ${to}`, ExitCode.usage)
  const window = windowOf(market, first, last)
  if (window.rows > 0 || market.rows === 0) return window
  throw new SluiceError('the tape has no market row between --from and --to', ExitCode.usage)
}

function timeOf(option: string, text: string | undefined): Millis | undefined {
  if (text === undefined) return undefined
  const time = TIME.test(text) ? Date.parse(withZone(text.replace(' ', 'T'))) : Number.NaN
  if (Number.isFinite(time)) return time
  throw new SluiceError(`${option} ${text} is no time: 2026-11-22 or 2026-11-22T09:30:00, in UTC`, ExitCode.usage)
}

/** A date alone is UTC already. */
function withZone(text: string): string {
  return text.includes('T') && !text.endsWith('Z') ? `${text}Z` : text
}
