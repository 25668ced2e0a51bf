import { paramOf, type SetResult } from '../backtest/set-result.ts'
import type { Sweep } from '../backtest/sweep.ts'
import { sweepVerdict } from '../backtest/sweep-verdict.ts'
import { printable } from '../core/printable.ts'
import { formatSol } from '../core/units.ts'

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
