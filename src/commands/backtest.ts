import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BotExtras } from '../backtest/extras.ts'
import { reportPage } from '../backtest/page/page.ts'
import type { Report } from '../backtest/report.ts'
import { extraRows, extrasOf } from '../backtest-extras.ts'
import { type Backtest, runBacktest } from '../backtest-run.ts'
import type { Config } from '../config/config.ts'
import { ExitCode, SluiceError } from '../core/errors.ts'
import type { Journal } from '../core/ports.ts'
import { lamportsToSol } from '../core/units.ts'
import { openJournal } from '../journal/journal.ts'
import type { Market } from '../journal/reader.ts'
import { openTape } from '../journal/tape-files.ts'
import { verifyCausal } from './backtest-causal.ts'
import { reportOf } from './backtest-report.ts'
import { backtestText } from './backtest-text.ts'
import type { Options } from './options.ts'
import { Progress } from './progress.ts'
import { configOf } from './run-bots.ts'

const RESULTS = 'results.db'
/** Results can be computed again: no reserve is kept for them. */
const NO_LIMITS = { tapeBytes: 0, entryBytes: 0, reserveBytes: 0 }

/** `sluice backtest FILE --journal DB...`: what the bots of a configuration would have made of a recorded market. Exit 2 where the tape does
 *  not cover what they need, unless `--partial`; exit 1 where a strategy throws. */
export async function run([file = '']: string[], options: Options): Promise<number> {
  const { journals = ['data/sluice.db'], partial = false, out, json } = options
  const config = await configOf([file])
  const tape = openTape(journals)
  try {
    const { market } = tape
    if (options.verifyCausal === true) return verifyCausal(config, market, options)
    const backtest = await intoFolder(out, (results) => {
      const progress = new Progress(process.stderr, market.rows)
      try {
        const logged = json !== true || out !== undefined
        return runBacktest(config, market, { partial, progress: (rows) => progress.at(rows), journal: results, logged })
      } finally {
        progress.end()
      }
    })
    const extras = out === undefined ? undefined : further(config, market, backtest)
    if (out !== undefined) writeReport(out, reportOf(config, market, backtest, extras ?? new Map()))
    for (const lack of json === true ? backtest.lacks : []) console.error(`sluice: the tape lacks ${lack}`)
    console.log(json === true ? JSON.stringify(countersOf(backtest)) : backtestText(backtest, extras))
  } finally {
    tape.close()
  }
  return 0
}

/** Runs with a new journal in the folder, where one is asked for. A run that fails leaves none behind. */
async function intoFolder(folder: string | undefined, run: (journal?: Journal) => Backtest): Promise<Backtest> {
  if (folder === undefined) return run()
  const path = join(folder, RESULTS)
  if (existsSync(path)) throw new SluiceError(`${path} is there already; choose another folder`, ExitCode.usage)
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

/** The further runs that a report shows. */
function further(config: Config, market: Market, backtest: Backtest): Map<string, BotExtras> {
  const progress = new Progress(process.stderr, extraRows(config, market))
  try {
    return extrasOf(config, market, backtest, { progress: (rows) => progress.at(rows) })
  } finally {
    progress.end()
  }
}

function writeReport(folder: string, report: Report): void {
  const mode = 0o600
  writeFileSync(join(folder, 'report.json'), `${JSON.stringify(report)}\n`, { mode })
  writeFileSync(join(folder, 'report.html'), reportPage(report), { mode })
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
