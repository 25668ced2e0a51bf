import type { Config } from '../config/config.ts'
import type { Plan } from '../engine/settings.ts'
import type { Market } from '../journal/tape/market-tape.ts'
import { termsOf } from '../venues/terms.ts'
import { type PlanUse, planUseOf } from './metrics/plan-use.ts'
import { type RowsReport, reporting } from './rows-read.ts'
import { type Backtest, runBacktest } from './run.ts'

/** A plan with more requests than any real plan, so that no request waits. */
const UNLIMITED = { name: 'unlimited', requestsPerMinute: 100_000 }

/** Result of the backtest under one plan. */
export interface PlanRun {
  readonly plan: Plan
  readonly use: PlanUse
  readonly orders: number
  readonly netLamports: number
  /** Net result that is lost compared with the same run without a request limit. */
  readonly lostLamports: number
}

export interface PlanAdvice {
  /** Results by plan, cheapest plan first, including the configured plan. */
  readonly runs: readonly PlanRun[]
  /** The cheapest plan under which no exit waits; undefined if exits wait under every plan. */
  readonly advised: PlanRun | undefined
  /** Largest number of requests in any minute of the run without a request limit. */
  readonly peakPerMinute: number
}

/** Plays a tape under each request plan. As in live trading, all bots of the configuration share the requests of the
 *  plan. The result shows how many orders wait or are refused under each plan, and how much profit this costs.
 *  `partial` and the errors are those of `runBacktest`. */
export function advisePlan(config: Config, market: Market, partial: boolean, progress?: RowsReport): PlanAdvice {
  const { plan: configured } = config.service
  const { published } = termsOf(config.service).plans
  const plans = [...published, ...(typeof configured === 'object' ? [configured] : [])]
  plans.sort((one, other) => one.requestsPerMinute - other.requestsPerMinute)
  const oneBudget = config.bots.map(({ name }) => name)
  const counted = reporting(market, plans.length + 1, progress)
  const run = (plan: Plan): Backtest =>
    runBacktest({ ...config, service: { ...config.service, plan } }, counted, { partial, logged: true, oneBudget })
  const free = run({ ...(published.at(-1) as Plan), ...UNLIMITED })
  const runs = plans.map((plan): PlanRun => {
    const backtest = run(plan)
    const netLamports = netOf(backtest)
    return {
      plan,
      use: useOf(backtest),
      orders: ordersOf(backtest),
      netLamports,
      lostLamports: netOf(free) - netLamports,
    }
  })
  return { runs, advised: runs.find(({ use }) => use.lateExits === 0), peakPerMinute: useOf(free).peakPerMinute }
}

/** Use of the plan by all bots together. */
function useOf({ bots, plan }: Backtest): PlanUse {
  const logs = bots.flatMap(({ result }) => result.log ?? [])
  const orders = new Map(logs.flatMap((log) => [...log.orders]))
  const requestTimes = logs.flatMap((log) => log.requestTimes).sort((one, other) => one - other)
  return planUseOf({ orders, requestTimes }, plan.requestsPerMinute)
}

function netOf({ bots }: Backtest): number {
  return bots.reduce((sum, { result, valueLamports }) => sum + result.walletLamports + valueLamports, 0)
}

function ordersOf({ bots }: Backtest): number {
  return bots.reduce((sum, { result }) => sum + result.orders, 0)
}
