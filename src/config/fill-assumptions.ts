import { isDeepStrictEqual } from 'node:util'
import { type Lamports, lamportsToSol, type Millis, solToLamports } from '../base/units.ts'
import { DEFAULT_FILL_MODEL, type FillModel, FREE_FILL_MODEL } from '../engine/accounting/fill-assumptions.ts'
import type { BotInput } from './schema.ts'

type Written = NonNullable<BotInput['paper']>

/** Fill model of a section. Each of its keys takes precedence over the value in the model that `model` names. */
export function fillModelFrom(given: Written): FillModel {
  const base = given.model === 'free' ? FREE_FILL_MODEL : DEFAULT_FILL_MODEL
  const sol = (value: number | undefined, otherwise: Lamports): Lamports =>
    value === undefined ? otherwise : solToLamports(value)
  const { latency, slotSeconds, deadAfterSeconds } = given
  return {
    latencyMs: latency ? { p50: millis(latency.p50Seconds), p95: millis(latency.p95Seconds) } : base.latencyMs,
    slotMs: slotSeconds === undefined ? base.slotMs : millis(slotSeconds),
    landingFailurePercent: given.lossPercent ?? base.landingFailurePercent,
    crowdPrints: given.crowdPrints ?? base.crowdPrints,
    maxLossPercent: given.maxLossPercent ?? base.maxLossPercent,
    venueFeePercent: given.venueFeePercent ?? base.venueFeePercent,
    serviceFeePercent: given.serviceFeePercent ?? base.serviceFeePercent,
    baseFeeLamports: sol(given.baseFeeSol, base.baseFeeLamports),
    autoPriorityFeeLamports: sol(given.priorityFeeSol, base.autoPriorityFeeLamports),
    networkFeeFactor: 1,
    rentLamports: sol(given.rentSol, base.rentLamports),
    deadAfterMs: deadAfterSeconds === undefined ? base.deadAfterMs : millis(deadAfterSeconds),
    honeypot: given.honeypot ?? base.honeypot,
    impact: given.impact ?? base.impact,
    impactHalvesAfterPools: given.impactHalvesAfterPools ?? base.impactHalvesAfterPools,
    noisePercent: given.noisePercent ?? base.noisePercent,
  }
}

/** Returns a fill model with the keys and units of the YAML. */
export function writtenModel(model: FillModel): Required<Omit<Written, 'model'>> {
  return {
    latency: { p50Seconds: model.latencyMs.p50 / 1000, p95Seconds: model.latencyMs.p95 / 1000 },
    slotSeconds: model.slotMs / 1000,
    lossPercent: model.landingFailurePercent,
    crowdPrints: model.crowdPrints,
    maxLossPercent: model.maxLossPercent,
    venueFeePercent: model.venueFeePercent,
    serviceFeePercent: model.serviceFeePercent,
    baseFeeSol: lamportsToSol(model.baseFeeLamports),
    priorityFeeSol: lamportsToSol(model.autoPriorityFeeLamports),
    rentSol: lamportsToSol(model.rentLamports),
    deadAfterSeconds: model.deadAfterMs / 1000,
    honeypot: model.honeypot,
    impact: model.impact,
    impactHalvesAfterPools: model.impactHalvesAfterPools,
    noisePercent: model.noisePercent,
  }
}

/** Returns the assumptions that differ from the default model, for people: `venueFeePercent 0, ...`; '' if none
 *  does. */
export function changedAssumptions(model: FillModel): string {
  const usual: Readonly<Record<string, unknown>> = writtenModel(DEFAULT_FILL_MODEL)
  return Object.entries(writtenModel(model))
    .filter(([key, value]) => !isDeepStrictEqual(value, usual[key]))
    .map(([key, value]) => `${key} ${typeof value === 'object' ? shownParts(value) : value}`)
    .join(', ')
}

function shownParts(parts: object): string {
  return Object.entries(parts)
    .map(([name, value]) => `${name} ${value}`)
    .join(' and ')
}

function millis(seconds: number): Millis {
  return Math.round(seconds * 1000)
}
