import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { tapeCoverage } from '../../backtest/coverage.ts'
import { SWEEP_PAGE, SWEEP_STORE } from '../../backtest/results-folder.ts'
import { sweepPage } from '../../backtest/sweep/page.ts'
import type { SweepGround } from '../../backtest/sweep/run-sets.ts'
import { runSweep, setsOf, sweepIdentity } from '../../backtest/sweep/run-sweep.ts'
import { drawnFrom, gridOf, rangesOf } from '../../backtest/sweep/space.ts'
import { SweepStore } from '../../backtest/sweep/store.ts'
import { paramOf, rankCorrelation, type SetResult, type Sweep } from '../../backtest/sweep/sweep.ts'
import { sweepVerdict } from '../../backtest/sweep/verdict.ts'
import { seenBy, TapeUnit } from '../../backtest/tape-units.ts'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import { counted, printable } from '../../base/text.ts'
import { formatSol, lamportsToSol } from '../../base/units.ts'
import type { BotConfig, Config } from '../../config/config.ts'
import { paramBounds } from '../../config/strategies.ts'
import { settingBounds } from '../../config/varied-bot.ts'
import { openTape } from '../../journal/tape-files.ts'
import { configOf } from '../configuration.ts'
import { defineCommand, JSON_LINE, number, PARTIAL, SEED, TAPES, tapesOf, text, texts } from '../options.ts'
import { Progress, signedSol, table } from '../terminal.ts'

/**
 * Backtests one bot with many sets of params. Exits 2 if the tape lacks data that the bot needs (without --partial) or
 * if there is nothing to sweep, and 1 if the strategy throws with every set.
 */
export const command = defineCommand({
  options: {
    journal: TAPES,
    bot: text('<name>', 'vary the params of this bot'),
    range: texts(
      '<name=from:to[:step]>',
      'vary this param, or a setting such as exits.stopLossPercent; name=a,b,c lists the values; repeat to vary several',
    ),
    random: number('<n>', 'test n random param sets instead of the whole grid', { integer: true, min: 1, max: 100000 }),
    seed: number('<n>', 'random seed of --random', SEED, 1),
    holdOut: number(
      '<percent>',
      'percentage of the tape, at its end, on which only the best param sets are tested',
      { min: 0, max: 90 },
      30,
    ),
    jobs: number('<n>', 'number of threads (default: one per core)', { integer: true, min: 1, max: 256 }),
    partial: PARTIAL,
    out: text(
      '<folder>',
      'write sweep.html to this folder and keep the finished param sets, so that an interrupted sweep can continue',
    ),
    json: JSON_LINE,
  },
  async run([file = ''], options) {
    const { partial, out, json, holdOut: holdOutPercent, jobs = availableParallelism() } = options
    const config = await configOf([file])
    const bot = botOf(config, options.bot)
    const ranges = rangesOf(options.range, paramBounds(bot.strategy.strategy), settingBounds())
    const points = options.random === undefined ? gridOf(ranges) : drawnFrom(ranges, options.random, options.seed)
    const { sets, refused, varied } = await setsOf({ config, bot }, points)
    const paths = tapesOf(options.journal, config)
    const tape = openTape(paths)
    try {
      const witness = new TapeUnit()
      const market = seenBy(witness, tape.market)
      const { lacks } = tapeCoverage({ ...config, bots: [bot] }, market, partial)
      const splitRow = holdOutPercent > 0 ? Math.floor(market.rows * (1 - holdOutPercent / 100)) : undefined
      const ground: SweepGround = { config, bot, splitRow }
      const store =
        out === undefined ? undefined : new SweepStore(join(out, SWEEP_STORE), sweepIdentity(ground, sets, market))
      try {
        const results = await runSweep(
          ground,
          sets,
          { paths, market },
          { jobs, varied, store, ...terminal(sets.length, store, out) },
        )
        const strategy = bot.strategy.name
        const unit = witness.verdict(config)
        const sweep = {
          bot: bot.name,
          strategy,
          ranges,
          refused,
          rows: market.rows,
          unit,
          holdOutPercent,
          lacks,
          results,
        }
        if (out !== undefined) writeFileSync(join(out, SWEEP_PAGE), sweepPage(sweep), { mode: 0o600 })
        for (const lack of json ? lacks : []) console.error(`sluice: the tape lacks ${lack}`)
        console.log(json ? JSON.stringify(jsonOf(sweep)) : sweepText(sweep))
        return results.every(({ threw }) => threw !== '') ? ExitCode.failed : ExitCode.done
      } finally {
        store?.close()
      }
    } finally {
      tape.close()
    }
  },
})

function botOf({ bots }: Config, name: string | undefined): BotConfig {
  const names = bots.map((bot) => bot.name).join(', ')
  const found = name === undefined && bots.length === 1 ? bots[0] : bots.find((bot) => bot.name === name)
  if (found !== undefined) return found
  if (bots.length === 0) throw new SluiceError('the configuration has no bots', ExitCode.usage)
  throw new SluiceError(
    name === undefined ? `--bot is required: one of ${names}` : `--bot ${name}: expected one of ${names}`,
    ExitCode.usage,
  )
}

/**
 * Returns a function that shows the progress on stderr and a function that ends the sweep at Ctrl-C or SIGTERM. First
 * prints how many param sets an earlier, interrupted sweep has finished.
 */
function terminal(sets: number, store: SweepStore | undefined, out: string | undefined) {
  const kept = store?.results().length ?? 0
  if (kept > 0) process.stderr.write(`${kept} of ${sets} param sets are already finished and are not computed again\n`)
  return {
    showProgress: (rows: number) => new Progress(process.stderr, rows),
    watchInterrupt: () => rejectOnInterrupt(() => interruptedText(sets, store?.results().length, out)),
  }
}

function rejectOnInterrupt(message: () => string): { promise: Promise<never>; release: () => void } {
  const { promise, reject } = Promise.withResolvers<never>()
  promise.catch(() => {}) // avoids an unhandled rejection if the signal comes early
  const interrupt = (): void => reject(new SluiceError(message(), ExitCode.interrupted))
  const signals = ['SIGINT', 'SIGTERM'] as const
  for (const signal of signals) process.once(signal, interrupt)
  return {
    promise,
    release: () => {
      for (const signal of signals) process.off(signal, interrupt)
    },
  }
}

function interruptedText(sets: number, kept: number | undefined, out: string | undefined): string {
  if (kept === undefined || out === undefined)
    return 'interrupted; the results are lost. With --out FOLDER, the same command would continue the sweep'
  return `interrupted; ${kept} of ${sets} param sets are kept in ${join(out, SWEEP_STORE)}, and the same command computes the others`
}

function jsonOf({ bot, strategy, refused, rows, unit, holdOutPercent, results }: Sweep): object {
  return {
    ...{ bot, strategy, events: rows, unit, sets: results.length, refused, holdOutPercent },
    failed: results.filter(({ threw }) => threw !== '').length,
    rankCorrelation: (holdOutPercent > 0 ? rankCorrelation(results) : undefined) ?? null,
    results: results.map((result) => ({
      ...{ set: result.set, params: result.params, netSol: lamportsToSol(result.netLamports) },
      inSampleSol: lamportsToSol(result.sampleLamports),
      holdOutSol: holdOutPercent > 0 ? lamportsToSol(result.netLamports - result.sampleLamports) : null,
      ...{ orders: result.orders, fills: result.buys + result.sells, positions: result.open },
      realizedSol: lamportsToSol(result.realizedLamports),
      feesSol: lamportsToSol(result.feeLamports),
      ...(result.threw !== '' && { threw: result.threw }),
    })),
  }
}

const SHOWN = 20
type Column = readonly [head: string, of: (result: SetResult) => string]

/** Text of the param sets with the best results in the in-sample part, with their results in the hold-out part. */
export function sweepText(sweep: Sweep): string {
  const { results, lacks, refused } = sweep
  const valid = results.filter(({ threw }) => threw === '')
  const thrown = results.filter(({ threw }) => threw !== '')
  return [
    ...headLines(sweep),
    ...(lacks.length > 0 ? ['', 'The tape lacks data that the bot needs, so these results are incomplete:'] : []),
    ...lacks.map((lack) => `  ${lack}`),
    '',
    ...tableOf(sweep, valid.slice(0, SHOWN)),
    ...(valid.length > SHOWN
      ? [`and ${valid.length - SHOWN} more (--json prints all, --out FOLDER writes them to a page)`]
      : []),
    ...(refused > 0
      ? [
          `${counted(refused, 'param set')} not tested, because the schema or the checks of the configuration refused them`,
        ]
      : []),
    ...(thrown.length > 0
      ? [
          `${counted(thrown.length, 'param set')} without a result, because the strategy threw: ${printable(thrown[0]?.threw ?? '')}`,
        ]
      : []),
    '',
    ...sweepVerdict(sweep, valid),
  ].join('\n')
}

function headLines({ bot, strategy, ranges, rows, unit, holdOutPercent, results }: Sweep): string[] {
  const swept = ranges
    .map(({ name, from, to, values }) => `${name} ${values?.join(', ') ?? `${from} to ${to}`}`)
    .join('; ')
  const heldOut = holdOutPercent > 0 ? `hold-out: the last ${holdOutPercent} % of the tape` : 'no hold-out'
  return [
    `${bot} (${printable(strategy)}): ${results.length} param sets over ${swept}`,
    `${rows} market rows, ${heldOut}`,
    unit.text,
  ]
}

function tableOf({ ranges, holdOutPercent }: Sweep, results: readonly SetResult[]): string[] {
  const heldOut: Column = ['hold-out', ({ netLamports, sampleLamports }) => signedSol(netLamports - sampleLamports)]
  const columns: Column[] = [
    ['set', ({ set }) => String(set)],
    ...ranges.map(({ name }): Column => [name, (result) => String(paramOf(result, name))]),
    ['in sample', ({ sampleLamports }) => signedSol(sampleLamports)],
    ...(holdOutPercent > 0 ? [heldOut] : []),
    ['orders', ({ orders }) => String(orders)],
    ['fills', ({ buys, sells }) => String(buys + sells)],
    ['fees', ({ feeLamports }) => formatSol(feeLamports)],
  ]
  const cells = [columns.map(([head]) => head), ...results.map((one) => columns.map(([, of]) => of(one)))]
  return table(cells, () => true)
}
