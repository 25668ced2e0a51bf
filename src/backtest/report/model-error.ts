import { DEFAULT_FILL_MODEL, type FillModel } from '../../engine/accounting/fill-assumptions.ts'
import { EXACT_POOLS } from './exact-pools.ts'
import type { CalibrationReport, ExactPools } from './report.ts'

/** Text about the error of the fill model, measured on the exact pools, and on real fills if the user calibrated the
 *  model with a journal. */
export function modelErrorLine(models: readonly FillModel[], calibration: CalibrationReport | undefined): string {
  return `${exactPoolsText(EXACT_POOLS)}${settingsText(models)} ${realFillsText(calibration)}`
}

export function exactPoolsText(measured: ExactPools): string {
  const {
    date,
    seeds,
    bots,
    fills,
    flattered,
    upperPercent,
    upperBot,
    randomPessimismPercent,
    refusedBot,
    refusedSol,
  } = measured
  const ground = `On exact pools (${date}: ${bots} bots, ${seeds} seeds, ${fills} fills)`
  const random = `the profit of random entries is too low by ${randomPessimismPercent.toFixed(1)} % of the SOL traded`
  const upper = `${Math.abs(upperPercent).toFixed(1)} % of the SOL traded (${upperBot}, upper end of the 95 % interval)`
  const refused =
    refusedSol < 0
      ? ` Buys that the model refuses because of slippage, but that the pool fills, would have lost up to ${(-refusedSol).toFixed(1)} SOL per seed (${refusedBot}).`
      : ''
  return flattered.length === 0
    ? `${ground}, the simulated profit was below the exact profit for every bot, by at least ${upper}, and ${random}.${refused}`
    : `${ground}, the simulated profit of ${flattered.length} bots may be too high, by up to ${upper}, and ${random}.${refused}`
}

/** Text that lists the settings of these bots that differ from the defaults, because the error was measured for the
 *  defaults only; '' if there are none. */
function settingsText(models: readonly FillModel[]): string {
  const defaults = Object.entries(DEFAULT_FILL_MODEL)
  const others = defaults.flatMap(([key, value]) =>
    models.some((model) => JSON.stringify(model[key as keyof FillModel]) !== JSON.stringify(value)) ? [key] : [],
  )
  return others.length === 0
    ? ''
    : ` The error was not measured for the settings that these bots changed: ${others.join(', ')}.`
}

function realFillsText(calibration: CalibrationReport | undefined): string {
  if (calibration === undefined) return 'No real fill was compared (see --calibrate).'
  const { compared, medianErrorPercent, flatteredPercent } = calibration
  if (medianErrorPercent === null || flatteredPercent === null) return 'None of the real fills could be compared.'
  const side = medianErrorPercent < 0 ? 'worse' : 'better'
  const median = `${Math.abs(medianErrorPercent).toFixed(2)} % ${side} than predicted`
  return `In the median of ${compared} fills, the real fill was ${median}; ${flatteredPercent.toFixed(0)} % of the real fills were worse.`
}
