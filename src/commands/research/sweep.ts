import '../../runtime/failpoint.ts'
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { tapeCoverage } from '../../backtest/coverage.ts'
import { sweepPage } from '../../backtest/sweep/page.ts'
import { paramsOf, runSets, SETS_AN_ENGINE, type SweepGround } from '../../backtest/sweep/run-sets.ts'
import { drawnFrom, gridOf, type Point, type Range, rangesOf } from '../../backtest/sweep/space.ts'
import { SweepStore } from '../../backtest/sweep/store.ts'
import type { Sweep } from '../../backtest/sweep/sweep.ts'
import { paramOf, rankCorrelation, ranked, type SetResult, type SweepSet } from '../../backtest/sweep/sweep.ts'
import { SweepThreads } from '../../backtest/sweep/threads.ts'
import { sweepVerdict } from '../../backtest/sweep/verdict.ts'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import { failpoint } from '../../base/failpoint.ts'
import { printable } from '../../base/text.ts'
import { formatSol, lamportsToSol } from '../../base/units.ts'
import type { BotConfig, Config } from '../../config/config.ts'
import { codeHash } from '../../config/hashes.ts'
import { paramBounds } from '../../config/strategies.ts'
import type { Market } from '../../journal/tape/market-tape.ts'
import { openTape } from '../../journal/tape-files.ts'
import type { Options } from '../options.ts'
import { Progress } from '../terminal.ts'
import { configOf } from '../trade/run-bots.ts'
import { tapesOf } from './config-tape.ts'

const STORE = 'sweep.db'
const REPORT = 'sweep.html'
const HOLD_OUT_PERCENT = 30

/** `sluice sweep FILE --journal DB`: many backtests of one bot over ranges of its params. Exit 2 where the tape does
 *  not cover what the bot needs, unless `--partial`, and where there is nothing to sweep. */
export async function run([file = '']: string[], options: Options): Promise<number> {
  const { partial = false, out, json, bot: name } = options
  const config = await configOf([file])
  const bot = botOf(config, name)
  const ranges = rangesOf(options.range ?? [], paramBounds(bot.strategy.strategy))
  const { sets, refused } = setsOf(bot, pointsOf(ranges, options))
  const journals = tapesOf(options, config)
  const tape = openTape(journals)
  try {
    const { market } = tape
    const { lacks } = tapeCoverage({ ...config, bots: [bot] }, market, partial)
    const holdOutPercent = options.holdOut ?? HOLD_OUT_PERCENT
    const splitRow = holdOutPercent > 0 ? Math.floor(market.rows * (1 - holdOutPercent / 100)) : undefined
    const ground: SweepGround = { config, bot, splitRow }
    const store = out === undefined ? undefined : new SweepStore(join(out, STORE), identityOf(ground, sets, market))
    try {
      const ended = (): string => endedText(sets.length, store?.results().length, out)
      const results = await runAll(ground, sets, { paths: journals, market }, { jobs: options.jobs, store, ended })
      const strategy = bot.strategy.name
      const sweep = { bot: bot.name, strategy, ranges, refused, rows: market.rows, holdOutPercent, lacks, results }
      if (out !== undefined) writeFileSync(join(out, REPORT), sweepPage(sweep), { mode: 0o600 })
      for (const lack of json === true ? lacks : []) console.error(`sluice: the tape lacks ${lack}`)
      console.log(json === true ? JSON.stringify(jsonOf(sweep)) : sweepText(sweep))
      return results.every(({ threw }) => threw !== '') ? ExitCode.failed : ExitCode.done
    } finally {
      store?.close()
    }
  } finally {
    tape.close()
  }
}

function botOf({ bots }: Config, name: string | undefined): BotConfig {
  const names = bots.map((bot) => bot.name).join(', ')
  const found = name === undefined && bots.length === 1 ? bots[0] : bots.find((bot) => bot.name === name)
  if (found !== undefined) return found
  const message =
    name === undefined ? `which bot? --bot NAME (${names || 'there is none'})` : `no bot ${name} (${names})`
  throw new SluiceError(message, ExitCode.usage)
}

function pointsOf(ranges: readonly Range[], { random, seed = 1 }: Options): Point[] {
  return random === undefined ? gridOf(ranges) : drawnFrom(ranges, random, seed)
}

function setsOf(bot: BotConfig, points: readonly Point[]): { sets: SweepSet[]; refused: number } {
  const taken = points.flatMap((point) => paramsOf(bot, point) ?? [])
  if (taken.length === 0) throw new SluiceError(`${bot.strategy.name} takes none of these params`, ExitCode.usage)
  return { sets: taken.map((params, index) => ({ set: index + 1, params })), refused: points.length - taken.length }
}

/** Everything that the results are a function of. */
function identityOf({ config, bot, splitRow }: SweepGround, sets: readonly SweepSet[], market: Market): string {
  const { rows, stretches } = market
  const parts = [config.hash, codeHash([bot.strategy]), bot.name, splitRow, sets, rows, stretches]
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}

interface RunOptions {
  readonly jobs: number | undefined
  readonly store: SweepStore | undefined
  /** What is said when the sweep is ended by hand. */
  readonly ended: () => string
}

/** Throws at Ctrl-C (or SIGTERM), with what `text` says then. */
function whenInterrupted(text: () => string): { promise: Promise<never>; release: () => void } {
  const { promise, reject } = Promise.withResolvers<never>()
  promise.catch(() => {}) // nobody may be waiting yet, or any more
  const interrupt = (): void => reject(new SluiceError(text(), ExitCode.interrupted))
  const signals = ['SIGINT', 'SIGTERM'] as const
  for (const signal of signals) process.once(signal, interrupt)
  return {
    promise,
    release: () => {
      for (const signal of signals) process.off(signal, interrupt)
    },
  }
}

function endedText(sets: number, kept: number | undefined, out: string | undefined): string {
  if (kept === undefined || out === undefined)
    return 'ended before it was done; nothing is kept. With --out DIR the same command goes on where it was ended'
  return `ended before it was done; ${kept} of ${sets} sets are kept in ${join(out, STORE)}, and the same command goes on with the others`
}

/** What is in the store already is not computed again; each pass over the tape is stored when it is over. */
async function runAll(
  ground: SweepGround,
  sets: readonly SweepSet[],
  tape: { readonly paths: readonly string[]; readonly market: Market },
  { jobs = availableParallelism(), store, ended }: RunOptions,
): Promise<SetResult[]> {
  const results = store?.results() ?? []
  const known = new Set(results.map(({ set }) => set))
  const left = sets.filter(({ set }) => !known.has(set))
  const { rows } = tape.market
  const passes = Math.ceil(left.length / (jobs * SETS_AN_ENGINE))
  const progress = new Progress(process.stderr, rows * passes)
  const hands = Math.min(jobs, left.length)
  if (known.size > 0)
    process.stderr.write(`${known.size} of ${sets.length} sets were kept: they are not computed again\n`)
  // While sets run in this thread it hears nothing, Ctrl-C neither: then the system ends it, and there is nothing to be
  // kept.
  const threads = hands > 1 || passes > 1 ? new SweepThreads(ground, tape, hands) : undefined
  const interrupted = threads && whenInterrupted(ended)
  try {
    for (let pass = 0; pass < passes; pass++) {
      const some = left.slice((pass * left.length) / passes, ((pass + 1) * left.length) / passes)
      const at = (done: number): void => progress.at(pass * rows + done)
      const found =
        threads === undefined || interrupted === undefined
          ? runSets(ground, some, tape.market, at)
          : await Promise.race([interrupted.promise, threads.run(dealt(some, Math.min(hands, some.length)), at)])
      store?.add(found)
      failpoint('sweep-pass')
      results.push(...found)
    }
  } finally {
    interrupted?.release()
    progress.end()
    await threads?.end()
  }
  return ranked(results)
}

/** Neighbours trade alike: dealt out like cards, every thread has about the same to do. */
function dealt<T>(items: readonly T[], hands: number): T[][] {
  return Array.from({ length: hands }, (_, hand) => items.filter((_item, index) => index % hands === hand))
}

function jsonOf({ bot, strategy, refused, rows, holdOutPercent, results }: Sweep): object {
  return {
    ...{ bot, strategy, events: rows, sets: results.length, refused, holdOutPercent },
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

/** A sweep for a person: the best sets of the sample beside what they made of the time that they were not chosen on. */
export function sweepText(sweep: Sweep): string {
  const { results, lacks, refused } = sweep
  const valid = results.filter(({ threw }) => threw === '')
  const thrown = results.filter(({ threw }) => threw !== '')
  return [
    ...headLines(sweep),
    ...(lacks.length > 0 ? ['', 'The tape does not cover what the bot needs, so this is a part of the truth:'] : []),
    ...lacks.map((lack) => `  ${lack}`),
    '',
    ...tableOf(sweep, valid.slice(0, SHOWN)),
    ...(valid.length > SHOWN ? [`and ${valid.length - SHOWN} more (--json has all, --out DIR keeps them)`] : []),
    ...(refused > 0 ? [`${refused} combinations are not taken by the strategy's schema`] : []),
    ...(thrown.length > 0
      ? [`${thrown.length} sets have no result, their strategy threw: ${printable(thrown[0]?.threw ?? '')}`]
      : []),
    '',
    ...sweepVerdict(sweep, valid),
  ].join('\n')
}

function headLines({ bot, strategy, ranges, rows, holdOutPercent, results }: Sweep): string[] {
  const swept = ranges.map(({ name, from, to }) => `${name} ${from} to ${to}`).join(', ')
  const heldOut = holdOutPercent > 0 ? `the last ${holdOutPercent} % held out` : 'nothing held out'
  return [`${bot} (${printable(strategy)}): ${results.length} sets over ${swept}`, `${rows} market rows, ${heldOut}`]
}

function tableOf({ ranges, holdOutPercent }: Sweep, results: readonly SetResult[]): string[] {
  const sol = (lamports: number): string => `${lamports > 0 ? '+' : ''}${formatSol(lamports)}`
  const heldOut: Column = ['hold-out', ({ netLamports, sampleLamports }) => sol(netLamports - sampleLamports)]
  const columns: Column[] = [
    ['set', ({ set }) => String(set)],
    ...ranges.map(({ name }): Column => [name, (result) => String(paramOf(result, name))]),
    ['in sample', ({ sampleLamports }) => sol(sampleLamports)],
    ...(holdOutPercent > 0 ? [heldOut] : []),
    ['orders', ({ orders }) => String(orders)],
    ['fills', ({ buys, sells }) => String(buys + sells)],
    ['fees', ({ feeLamports }) => formatSol(feeLamports)],
  ]
  const cells = [columns.map(([head]) => head), ...results.map((one) => columns.map(([, of]) => of(one)))]
  const widths = columns.map((_, column) => Math.max(...cells.map((row) => (row[column] as string).length)))
  return cells.map((row) => row.map((cell, column) => cell.padStart(widths[column] as number)).join('  '))
}
