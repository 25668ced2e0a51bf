import { join } from 'node:path'
import { type Attribution, attribute } from '../attribution.ts'
import { ExitCode, SluiceError } from '../core/errors.ts'
import { formatSol, lamportsToSol } from '../core/units.ts'
import { openReader } from '../journal/reader.ts'
import type { Options } from './options.ts'
import { readReport } from './read-report.ts'

/** `sluice attribute LIVE BACKTEST`: LIVE is the journal of a live or paper run, BACKTEST the folder of `backtest --out`. Why they made
 *  different money. */
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

function jsonOf({ liveLamports, backtestLamports, factors, residualLamports, ...rest }: Attribution): object {
  return {
    liveSol: lamportsToSol(liveLamports),
    backtestSol: lamportsToSol(backtestLamports),
    gapSol: lamportsToSol(liveLamports - backtestLamports),
    factors: factors.map(({ name, lamports }) => ({ name, sol: lamportsToSol(lamports) })),
    residualSol: lamportsToSol(residualLamports),
    ...rest,
  }
}

function textOf(found: Attribution): string {
  const { liveLamports, backtestLamports, factors, residualLamports, attempts, matched, notes } = found
  const rows: [string, number][] = [
    ['run', liveLamports],
    ['backtest', backtestLamports],
    ['run less backtest', liveLamports - backtestLamports],
    ...factors.map(({ name, lamports }): [string, number] => [`  ${name}`, lamports]),
    ['  not explained', residualLamports],
  ]
  const shown = rows.map(([name, value]) => [name, `${value > 0 ? '+' : ''}${formatSol(value)} SOL`] as const)
  const width = Math.max(...shown.map(([, value]) => value.length))
  return [
    ...shown.map(([name, value]) => `${name.padEnd(24)}${value.padStart(width)}`),
    '',
    `${matched} of ${attempts} transactions of the run were made in the last replay too; it takes over when they landed, whether,`,
    'what they swapped (the fees of venue and service inside), and what they paid for landing and rent.',
    ...notes.map((note) => `not exchanged: ${note}`),
  ].join('\n')
}
