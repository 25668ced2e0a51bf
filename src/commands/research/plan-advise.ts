import { advisePlan, type PlanAdvice, type PlanRun } from '../../backtest/plan-advice.ts'
import { formatSol, lamportsToSol } from '../../base/units.ts'
import { openTape } from '../../journal/tape-files.ts'
import { configOf } from '../configuration.ts'
import { defineCommand, JSON_LINE, PARTIAL, TAPES, tapesOf } from '../options.ts'
import { table, withRowsProgress } from '../terminal.ts'

const SECOND_MS = 1_000

/** Repeats a backtest under each plan of the service, and names the cheapest plan under which no exit waits. */
export const command = defineCommand({
  options: { journal: TAPES, partial: PARTIAL, json: JSON_LINE },
  async run([file = ''], { journal, partial, json }) {
    const config = await configOf([file])
    const tape = openTape(tapesOf(journal, config))
    try {
      const advice = withRowsProgress((progress) => advisePlan(config, tape.market, partial, progress))
      console.log(json ? JSON.stringify(jsonOf(advice)) : textOf(advice))
    } finally {
      tape.close()
    }
    return 0
  },
})

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
  const verdict =
    advised === undefined
      ? `Exits wait under every plan. Without a limit the bots would send up to ${peakPerMinute} requests a minute: use fewer bots or positions, or the Enterprise plan.`
      : `${advised.plan.name} is the cheapest plan under which no exit waits. Without a limit the bots would send up to ${peakPerMinute} requests a minute.`
  return [
    ...table([heads, ...runs.map(cellsOf)], () => true),
    '',
    verdict,
    'In these backtests, all bots of the file share the requests of one plan, as in live trading. Requests of other programs with the same key are not included.',
  ].join('\n')
}

function cellsOf({ plan, use, orders, netLamports, lostLamports }: PlanRun): string[] {
  const longest = `${((use.longestDelayMs ?? 0) / SECOND_MS).toFixed(1)} s`
  return [
    ...[plan.name, String(plan.requestsPerMinute), String(orders), String(use.delayed), String(use.lateExits)],
    ...[longest, String(use.refused), formatSol(netLamports), formatSol(lostLamports)],
  ]
}
