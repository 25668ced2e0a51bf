import { join } from 'node:path'
import type { Apart } from '../../backtest/replay/attempt-matches.ts'
import { type Attribution, attribute, type Difference } from '../../backtest/replay/attribution.ts'
import { readReport } from '../../backtest/report/report.ts'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import { printable } from '../../base/text.ts'
import { formatSol, lamportsToSol } from '../../base/units.ts'
import { openReader } from '../../journal/reader/reader.ts'
import { dateTimeOf } from '../../runtime/time-text.ts'
import type { Options } from '../options.ts'

/** `sluice attribute LIVE BACKTEST`: LIVE is the journal of a live or paper run, BACKTEST the folder of `backtest
 *  --out`. Why they made different money. */
export async function run([live = '', folder = '']: string[], { json }: Options): Promise<number> {
  const report = readReport(join(folder, 'report.json'))
  const results = openReader(join(folder, 'results.db'))
  const journal = openReader(live)
  try {
    const [made] = results.segments()
    if (made === undefined) throw new SluiceError(`${folder} holds no backtest`, ExitCode.usage)
    if (!journal.segments().some(({ start }) => start.bots.length > 0))
      throw new SluiceError(`${live} holds no run: no bot was started in it`, ExitCode.usage)
    const found = await attribute(journal, { report, start: made.start })
    console.log(json === true ? JSON.stringify(jsonOf(found)) : textOf(found))
  } finally {
    results.close()
    journal.close()
  }
  return 0
}

function jsonOf({ bots, starts, attempts, matched, notes, ...all }: Attribution): object {
  return {
    ...inSol(all),
    bots: bots.map(({ bot, mode, apart, ...own }) => ({ bot, mode, ...inSol(own), apart })),
    ...{ starts, attempts, matched, notes },
  }
}

function inSol({ liveLamports, backtestLamports, factors, residualLamports }: Difference): object {
  return {
    liveSol: lamportsToSol(liveLamports),
    backtestSol: lamportsToSol(backtestLamports),
    gapSol: lamportsToSol(liveLamports - backtestLamports),
    factors: factors.map(({ name, lamports }) => ({ name, sol: lamportsToSol(lamports) })),
    residualSol: lamportsToSol(residualLamports),
  }
}

function textOf(found: Attribution): string {
  const { bots, starts, attempts, matched, notes } = found
  const columns = [found, ...(bots.length > 1 ? bots : [])].map(amountsOf)
  const heads = ['', ...(bots.length > 1 ? ['all', ...bots.map(({ bot }) => printable(bot))] : ['SOL'])]
  const names = [
    'run',
    'backtest',
    'run less backtest',
    ...found.factors.map(({ name }) => `  ${name}`),
    '  not explained',
  ]
  const rows = names.map((name, at) => [name, ...columns.map((column) => signed(column[at] ?? 0))])
  const widths = heads.map((_, column) => Math.max(...[heads, ...rows].map((row) => (row[column] ?? '').length)))
  const line = (row: readonly string[]): string =>
    row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))).join('  ')
  return [
    ...[heads, ...rows].map(line),
    '',
    `${matched} of ${attempts} transactions of the run${starts > 1 ? ` and its ${starts} starts` : ''} were made in the last replay too; it takes over when they landed, whether,`,
    'what they swapped (the fees of venue and service inside), and what they paid for landing and rent.',
    ...bots.flatMap(({ bot, apart }) => (apart === null ? [] : [apartLine(bot, apart)])),
    ...notes.map((note) => `not exchanged: ${note}`),
  ].join('\n')
}

function apartLine(bot: string, { of, time, side, mint }: Apart): string {
  const who = of === 'run' ? 'the run' : 'the replay'
  return printable(`${bot}: the same until ${dateTimeOf(time)} UTC, when only ${who} sent a ${side} of ${mint}`)
}

/** In the order of the lines. */
function amountsOf({ liveLamports, backtestLamports, factors, residualLamports }: Difference): number[] {
  const gap = liveLamports - backtestLamports
  return [liveLamports, backtestLamports, gap, ...factors.map(({ lamports }) => lamports), residualLamports]
}

function signed(value: number): string {
  return `${value > 0 ? '+' : ''}${formatSol(value)}`
}
