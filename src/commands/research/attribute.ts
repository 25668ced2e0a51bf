import { join } from 'node:path'
import type { Apart } from '../../backtest/replay/attempt-matches.ts'
import { type Attribution, attribute, type Difference } from '../../backtest/replay/attribution.ts'
import { readReport } from '../../backtest/report/report.ts'
import { ExitCode, SluiceError } from '../../base/errors.ts'
import { printable } from '../../base/text.ts'
import { lamportsToSol } from '../../base/units.ts'
import { openReader } from '../../journal/reader/reader.ts'
import { dateTimeOf } from '../../runtime/time-text.ts'
import { defineCommand, JSON_LINE } from '../options.ts'
import { signedSol, table, withRowsProgress } from '../terminal.ts'

/** Explains the difference in profit between a live or paper run (its journal) and its backtest (its folder). */
export const command = defineCommand({
  options: { json: JSON_LINE },
  async run([live = '', folder = ''], { json }) {
    const report = readReport(join(folder, 'report.json'))
    const results = openReader(join(folder, 'results.db'))
    const journal = openReader(live)
    try {
      const [made] = results.segments()
      if (made === undefined) throw new SluiceError(`${folder} holds no backtest`, ExitCode.usage)
      if (!journal.segments().some(({ start }) => start.bots.length > 0))
        throw new SluiceError(`${live}: no bot ran with this journal, so there is no run to explain`, ExitCode.usage)
      const { start } = made
      const found = await withRowsProgress((progress) => attribute(journal, { report, start }, progress))
      console.log(json ? JSON.stringify(jsonOf(found)) : textOf(found))
    } finally {
      results.close()
      journal.close()
    }
    return 0
  },
})

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
    'run minus backtest',
    ...found.factors.map(({ name }) => `  ${name}`),
    '  not explained',
  ]
  const lines = names.map((name, at) => [name, ...columns.map((column) => signedSol(column[at] ?? 0))])
  const run = starts > 1 ? `the run and its ${starts} starts` : 'the run'
  return [
    ...table([heads, ...lines]),
    '',
    `The last replay used all measured values. It repeated ${matched} of the ${attempts} transactions of ${run}. For each,`,
    'it uses the recorded result: whether and when the transaction landed, the swapped amounts (with the fees of venue',
    'and service), the network fees and the rent.',
    ...bots.flatMap(({ bot, apart }) => (apart === null ? [] : [apartLine(bot, apart)])),
    ...notes.map((note) => `cause that was not measured: ${note}`),
  ].join('\n')
}

function apartLine(bot: string, { of, time, side, mint }: Apart): string {
  const sender = of === 'run' ? 'the run' : 'the replay'
  return printable(
    `${bot}: run and replay are equal until ${dateTimeOf(time)} UTC, when only ${sender} sent a ${side} of ${mint}`,
  )
}

/** Amounts of an attribution in lamports, in the order of the printed lines. */
function amountsOf({ liveLamports, backtestLamports, factors, residualLamports }: Difference): number[] {
  const gap = liveLamports - backtestLamports
  return [liveLamports, backtestLamports, gap, ...factors.map(({ lamports }) => lamports), residualLamports]
}
