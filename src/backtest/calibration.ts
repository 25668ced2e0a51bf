import { ExitCode, SluiceError } from '../base/errors.ts'
import type { Config } from '../config/config.ts'
import { DEFAULT_FILL_MODEL, type FillModel } from '../engine/accounting/fill-assumptions.ts'
import { FIREHOSES } from '../engine/bots/subscription-router.ts'
import type { Market } from '../journal/tape/market-tape.ts'
import { Mints } from '../market/mints.ts'
import {
  calibrated,
  type Execution,
  FillComparison,
  type Measured,
  measure,
  type Unheard,
} from '../simulation/calibration.ts'
import { mean, quantile } from './metrics/statistics.ts'
import type { CalibrationReport } from './report/report.ts'

export interface Calibration {
  readonly report: CalibrationReport
  readonly model: (model: FillModel) => FillModel
}

/** Fits the fill model to the journal's real attempts and measures its error on the real fills. Reads the tape once.
 *  Throws SluiceError (exit 2) if the journal has no real fill. */
export function calibrationOf(config: Config, market: Market, executions: readonly Execution[]): Calibration {
  const measured = measure(executions)
  if (measured.fills === 0)
    throw new SluiceError('the journal has no real fill: --calibrate needs a journal of live bots', ExitCode.usage)
  const [bot] = config.bots
  const base = bot?.paper ?? DEFAULT_FILL_MODEL
  const mints = new Mints()
  const model = calibrated(base, measured)
  const comparison = new FillComparison(mints, config.service.units, model, executions, [...unheardOf(market)])
  for (const item of market.items(mints)) if (item.kind === 'rows') comparison.rows(item.block, item.from, item.to)
  comparison.end()
  const lossFactor = mean(comparison.lossFactors) ?? 1
  return {
    report: reportOf(measured, comparison, lossFactor),
    model: (before) => calibrated(before, measured, lossFactor),
  }
}

/** Yields the periods without market data: gaps, periods in which no process recorded, and all time before and after
 *  the tape. */
function* unheardOf(market: Market): Generator<Unheard, void, undefined> {
  let heardTo = Number.NEGATIVE_INFINITY
  for (const item of market.history()) {
    if (item.kind === 'began') yield { from: heardTo, to: item.stretch.from, keys: FIREHOSES }
    else if (item.kind === 'ended') heardTo = item.stretch.to
    else if (item.news.kind === 'gap') yield item.news
  }
  yield { from: heardTo, to: Number.POSITIVE_INFINITY, keys: FIREHOSES }
}

function reportOf(
  measured: Measured,
  { errorPercents: errors, unheard }: FillComparison,
  lossFactor: number,
): CalibrationReport {
  const at = (share: number): number | null => quantile(errors, share) ?? null
  const flattered = errors.filter((error) => error < 0).length
  return {
    measured: { ...measured },
    lossFactor,
    compared: errors.length,
    unheard,
    medianErrorPercent: at(0.5),
    p10ErrorPercent: at(0.1),
    p90ErrorPercent: at(0.9),
    flatteredPercent: errors.length === 0 ? null : (flattered / errors.length) * 100,
  }
}
