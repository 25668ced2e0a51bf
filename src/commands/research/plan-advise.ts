import { advisePlan, type PlanAdvice, type PlanRun } from '../../backtest/plan-advice.ts'
import { formatSol, lamportsToSol } from '../../base/units.ts'
import { openTape } from '../../journal/tape-files.ts'
import type { Options } from '../options.ts'
import { configOf } from '../trade/run-bots.ts'
import { tapesOf } from './config-tape.ts'

const SECOND_MS = 1_000

/** `sluice plan-advise FILE --journal DB`: the same backtest under each plan of the service, and the cheapest under
 *  which no exit waits. */
export async function run([file = '']: string[], options: Options): Promise<number> {
  const { partial = false, json } = options
  const config = await configOf([file])
  const tape = openTape(tapesOf(options, config))
  try {
    const advice = advisePlan(config, tape.market, partial)
    console.log(json === true ? JSON.stringify(jsonOf(advice)) : textOf(advice))
  } finally {
    tape.close()
  }
  return 0
}

function jsonOf({ runs, advised, peakPerMinute }: PlanAdvice): object {
  return {
    plans: runs.map(({ plan, use, orders, netLamports, lostLamports }) => ({
      plan: plan.name,
      requestsPerMinute: plan.requestsPerMinute,
      orders,
      delayed: use.delayed,
      lateExits: use.lateExits,
      refused: use.refused,
      longestDelaySeconds: (use.longestDelayMs ?? 0) / SECOND_MS,
      netSol: lamportsToSol(netLamports),
      lostSol: lamportsToSol(lostLamports),
    })),
    advised: advised?.plan.name ?? null,
    peakPerMinute,
  }
}

function textOf({ runs, advised, peakPerMinute }: PlanAdvice): string {
  const heads = ['plan', 'a minute', 'orders', 'delayed', 'late exits', 'longest', 'refused', 'net SOL', 'lost SOL']
  const cells = [heads, ...runs.map(cellsOf)]
  const widths = heads.map((_, column) => Math.max(...cells.map((row) => (row[column] as string).length)))
  const verdict =
    advised === undefined
      ? `Under none of them every exit is in time: at most ${peakPerMinute} requests a minute would be used. Fewer bots or positions, or Enterprise.`
      : `${advised.plan.name} is the cheapest plan under which no exit waits; without limits at most ${peakPerMinute} requests a minute would be used.`
  return [
    ...cells.map((row) => row.map((cell, column) => cell.padStart(widths[column] as number)).join('  ')),
    '',
    verdict,
    'All bots of the file share one budget, as they do live. What else uses the key (doctor, another program) is not in it.',
  ].join('\n')
}

function cellsOf({ plan, use, orders, netLamports, lostLamports }: PlanRun): string[] {
  const longest = `${((use.longestDelayMs ?? 0) / SECOND_MS).toFixed(1)} s`
  return [
    ...[plan.name, String(plan.requestsPerMinute), String(orders), String(use.delayed), String(use.lateExits)],
    ...[longest, String(use.refused), formatSol(netLamports), formatSol(lostLamports)],
  ]
}
