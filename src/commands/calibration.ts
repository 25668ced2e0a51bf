import type { CalibrationReport } from '../backtest/report.ts'
import { mean, quantile } from '../backtest/statistics.ts'
import type { Config } from '../config/config.ts'
import { ExitCode, SluiceError } from '../core/errors.ts'
import { Mints } from '../core/mints.ts'
import type { Market } from '../journal/reader.ts'
import { calibrated, type Execution, type Measured, measure } from '../simulation/calibration.ts'
import { FillComparison } from '../simulation/fill-comparison.ts'
import { DEFAULT_FILL_MODEL, type FillModel } from '../simulation/fill-model.ts'

export interface Calibration {
  readonly report: CalibrationReport
  readonly model: (model: FillModel) => FillModel
}

/** A fill model as real attempts have it, and how far it is from the real fills. Reads the tape once. Throws SluiceError (exit 2) where
 *  nothing real was filled. */
export function calibrationOf(config: Config, market: Market, executions: readonly Execution[]): Calibration {
  const measured = measure(executions)
  if (measured.fills === 0)
    throw new SluiceError(
      'no real fill in the journal: --calibrate needs one that live bots have written',
      ExitCode.usage,
    )
  const [bot] = config.bots
  const base = bot === undefined ? DEFAULT_FILL_MODEL : { ...DEFAULT_FILL_MODEL, ...modelPart(bot.paper) }
  const mints = new Mints()
  const comparison = new FillComparison(mints, config.service.units, calibrated(base, measured), executions)
  for (const item of market.items(mints)) if (item.kind === 'rows') comparison.rows(item.block, item.from, item.to)
  comparison.end()
  const lossFactor = mean(comparison.lossFactors) ?? 1
  const model = (before: FillModel): FillModel => calibrated(before, measured, lossFactor)
  return { report: reportOf(measured, comparison.errorPercents, lossFactor), model }
}

function modelPart({ latencyMs, serviceFeePercent }: Config['bots'][number]['paper']): Partial<FillModel> {
  return { latencyMs, serviceFeePercent }
}

function reportOf(measured: Measured, errors: readonly number[], lossFactor: number): CalibrationReport {
  const at = (share: number): number | null => quantile(errors, share) ?? null
  const flattered = errors.filter((error) => error < 0).length
  return {
    measured: { ...measured },
    lossFactor,
    compared: errors.length,
    medianErrorPercent: at(0.5),
    p10ErrorPercent: at(0.1),
    p90ErrorPercent: at(0.9),
    flatteredPercent: errors.length === 0 ? null : (flattered / errors.length) * 100,
  }
}
