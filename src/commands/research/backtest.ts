import type { Calibration } from '../../backtest/calibration.ts'
import type { Causality } from '../../backtest/causality/verify.ts'
import { tapeCoverage } from '../../backtest/coverage.ts'
import type { Report } from '../../backtest/report/report.ts'
import { reporting } from '../../backtest/rows-read.ts'
import { type Backtest, runBacktest } from '../../backtest/run.ts'
import { seenBy, TapeUnit } from '../../backtest/tape-units.ts'
import { growYoungGeneration } from '../../backtest/young-generation.ts'
import { ExitCode } from '../../base/errors.ts'
import { printable } from '../../base/text.ts'
import { lamportsToSol } from '../../base/units.ts'
import type { Config } from '../../config/config.ts'
import { overriddenNote } from '../../config/effective-exits.ts'
import type { FillModel } from '../../engine/accounting/fill-assumptions.ts'
import type { Market } from '../../journal/tape/market-tape.ts'
import { type OpenTape, openTape } from '../../journal/tape-files.ts'
import type { Journal } from '../../orders/ports.ts'
import { dateTimeOf } from '../../runtime/time-text.ts'
import { configOf } from '../configuration.ts'
import { levelOf, linePrinter } from '../log-level.ts'
import { defineCommand, flag, JSON_LINE, number, PARTIAL, SEED, TAPES, tapesOf, text, type Values } from '../options.ts'
import { marketBetween } from '../tape-window.ts'
import { withProgress, withRowsProgress } from '../terminal.ts'
import { backtestText } from './backtest-text.ts'

const OPTIONS = {
  journal: TAPES,
  from: text('<time>', 'start the tape at this UTC time (2026-11-22T09:30); earlier rows only warm up the strategies'),
  to: text('<time>', 'end the tape at this UTC time'),
  partial: PARTIAL,
  calibrate: flag("fit the fill model to the journal's real fills, and report its errors"),
  out: text('<folder>', 'write report.html, report.json and results.db to this folder'),
  runs: number(
    '<n>',
    'with --out, also vary costs and sizes, and compare each bot with n runs with random entries; 0: neither',
    { integer: true, min: 0, max: 1_000 },
    0,
  ),
  verifyCausal: flag('test for look-ahead: hide all later rows from the strategy, and verify that no decision changes'),
  seed: number('<n>', 'random seed of --verify-causal', SEED, 1),
  log: text('<level>', "print the strategies' log lines from this level on to stderr: debug, info, warn"),
  json: JSON_LINE,
}
type Options = Values<typeof OPTIONS>

/** Runs the bots of a configuration over recorded market data. Exits 2 if the tape lacks data that they need (without
 *  --partial), and 1 if a strategy throws. */
export const command = defineCommand({
  options: OPTIONS,
  async run([file = ''], options) {
    const config = await configOf([file])
    growYoungGeneration(config.bots.length)
    const overridden = overriddenNote(config.bots)
    if (overridden !== undefined) console.error(`sluice: ${overridden}`)
    const tape = openTape(tapesOf(options.journal, config))
    try {
      const market = marketBetween(tape.market, options)
      if (options.verifyCausal) return await verifyCausal(config, market, options)
      const calibration = options.calibrate ? await calibrated(config, tape) : undefined
      const tapeUnit = new TapeUnit()
      const { backtest, report } = await runAndReport(config, seenBy(tapeUnit, market), options, calibration)
      const unit = tapeUnit.verdict(config)
      for (const lack of options.json ? backtest.lacks : []) console.error(`sluice: the tape lacks ${lack}`)
      console.log(
        options.json
          ? JSON.stringify({ ...countersOf(backtest), unit })
          : backtestText(backtest, calibration?.report, report, unit),
      )
    } finally {
      tape.close()
    }
    return 0
  },
})

async function calibrated(config: Config, tape: OpenTape): Promise<Calibration> {
  const { calibrationOf } = await import('../../backtest/calibration.ts')
  return withRowsProgress((progress) => calibrationOf(config, reporting(tape.market, 1, progress), tape.executions()))
}

/**
 * Runs the backtest and prints it. With --out, writes the results to files; with --runs, plays further runs for the
 * report (other costs, other sizes, random entries).
 */
async function runAndReport(
  config: Config,
  market: Market,
  { partial, out, json, runs, log }: Options,
  calibration: Calibration | undefined,
): Promise<{ backtest: Backtest; report: Report | undefined }> {
  const model = calibration?.model ?? ((assumed: FillModel) => assumed)
  const logged = !json || out !== undefined
  const said = log === undefined ? undefined : linePrinter(levelOf('--log', log), (line) => console.error(line))
  const run = (journal?: Journal): Backtest =>
    withProgress(market.rows, (line) =>
      runBacktest(config, market, { partial, progress: (done) => line.at(done), journal, logged, model, said }),
    )
  if (out === undefined) return { backtest: run(), report: undefined }
  // A backtest without --out does not load these modules, so it starts faster.
  const { runIntoFolder, writeReport } = await import('../../backtest/results-folder.ts')
  const { extraRows, extrasOf } = await import('../../backtest/further-runs.ts')
  const { reportOf } = await import('../../backtest/report/build-report.ts')
  const backtest = await runIntoFolder(out, run)
  const extras =
    runs === 0
      ? new Map()
      : withProgress(extraRows(config, market, runs), (line) =>
          extrasOf(config, market, backtest, { progress: (done) => line.at(done), model, seeds: runs }),
        )
  const report = withRowsProgress((progress) =>
    reportOf(config, reporting(market, 1, progress), backtest, { extras, calibration: calibration?.report }),
  )
  writeReport(out, report)
  return { backtest, report }
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

/** Maximum length of the text about one decision, characters. */
const LONGEST = 600

/**
 * Checks for look-ahead: each decision and each fill may depend only on rows up to its time. Returns exit code 1 if one
 * of them depends on a later row.
 */
async function verifyCausal(config: Config, market: Market, { seed, partial, json }: Options): Promise<ExitCode> {
  tapeCoverage(config, market, partial)
  const { verifyCausality } = await import('../../backtest/causality/verify.ts')
  const found = await withRowsProgress((progress) => verifyCausality(config, market, seed, progress))
  const { cuts, compared, divergence, outside } = found
  const equal = divergence === null && outside.length === 0
  if (json) console.log(JSON.stringify({ seed, cuts, compared, equal, divergence, outside }))
  else console.log(textOf(found, market.rows, seed))
  return equal ? ExitCode.done : ExitCode.failed
}

const CAUSES = {
  memory:
    'a second run over the same tape decides differently: the strategy keeps state outside of `start`, `bot` and `token.state`, or uses random numbers or a clock',
  future: 'a decision changes if later rows are hidden: the strategy uses later rows',
}

function textOf({ cuts, compared, divergence, outside }: Causality, rows: number, seed: number): string {
  const read = outside.map((one) => printable(`  ${one}`))
  const outsideLines =
    outside.length === 0
      ? []
      : [
          'the strategy can read data outside of the tape, so runs over the tape cannot prove that it does not look ahead:',
          ...read,
        ]
  if (divergence === null)
    return [
      `no look-ahead found: the strategy decided on each of ${rows} rows without the later rows, and on tapes that end after ${cuts.length} of these rows (--seed ${seed}); all ${compared} compared decisions and fills are equal`,
      ...outsideLines,
    ].join('\n')
  const { cause, cut, whole, cutOff } = divergence
  const describe = (entry: typeof whole): string =>
    entry === null
      ? 'nothing'
      : `${dateTimeOf(entry.time)} UTC, seq ${entry.seq}: ${printable(entry.text.slice(0, LONGEST))}`
  return [
    `at row ${cut} (--seed ${seed}) ${CAUSES[cause]}`,
    `  whole  ${describe(whole)}`,
    `  ${cause === 'memory' ? 'again' : 'cut  '}  ${describe(cutOff)}`,
    ...outsideLines,
  ].join('\n')
}
