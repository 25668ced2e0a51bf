import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { type Lamports, lamportsToSol, type Millis, solToLamports } from '../base/units.ts'
import { DEFAULT_FILL_MODEL, type FillModel, FREE_FILL_MODEL } from '../engine/accounting/fill-assumptions.ts'
import { described, key } from '../engine/key-text.ts'

const MODEL: Readonly<Record<string, unknown>> = writtenModel(DEFAULT_FILL_MODEL)

const honeypot = z.strictObject({
  buys: described(z.int().min(1).max(Number.MAX_SAFE_INTEGER), {
    about:
      'A token with fewer buys than this never counts as a honeypot. Only trades above the minimum size of a print are counted.',
    unit: 'count',
  }),
  salesPercent: described(z.number().min(0).max(1_000), {
    about: 'A token with two or more sales, and at least this many sales in percent of its buys, is no honeypot.',
    unit: 'percent',
  }),
})

const latency = z
  .strictObject({
    p50Seconds: described(z.number().min(0).max(86_400), { about: 'Median of the latency.', unit: 'seconds' }),
    p95Seconds: described(z.number().min(0).max(86_400), {
      about: 'Latency that 5 % of the transactions exceed.',
      unit: 'seconds',
    }),
  })
  .refine(({ p50Seconds, p95Seconds }) => p50Seconds > 0 || p95Seconds === 0, {
    path: ['p50Seconds'],
    error: 'expected more than 0, unless p95Seconds is also 0',
  })
  .refine(({ p50Seconds, p95Seconds }) => p95Seconds >= p50Seconds, {
    path: ['p95Seconds'],
    error: 'expected at least p50Seconds: p95Seconds is the 95th percentile of the latency, and p50Seconds the median',
  })

/** Assumptions of the fill model. */
export const assumptions = z.strictObject({
  model: key(
    z.enum(['pessimistic', 'free']),
    'Set of defaults for the other keys of this section; `free` has no cost, no delay and no price impact.',
    {
      default: 'pessimistic',
    },
  ),
  slotSeconds: key(
    z.number().min(0).max(60),
    'Length of a Solana slot. An order may be filled at any moment of its slot.',
    {
      unit: 'seconds',
      default: MODEL.slotSeconds,
    },
  ),
  lossPercent: key(z.number().min(0).max(100), 'Share of transactions that never land if there is no competition.', {
    unit: 'percent',
    default: MODEL.lossPercent,
  }),
  crowdPrints: key(
    z.number().min(0.01).max(1e6),
    'Number of prints of a token per Solana slot at which competition doubles `lossPercent`.',
    {
      unit: 'prints',
      default: MODEL.crowdPrints,
    },
  ),
  maxLossPercent: key(
    z.number().min(0).max(100),
    'Upper limit of the share of transactions that never land, however strong the competition is.',
    {
      unit: 'percent',
      default: MODEL.maxLossPercent,
    },
  ),
  venueFeePercent: key(z.number().min(0).max(50), 'Fee that the venue charges for each buy and each sale.', {
    unit: 'percent',
    default: MODEL.venueFeePercent,
  }),
  serviceFeePercent: key(
    z.number().min(0).max(10),
    'Fee that the trading service charges for each buy and each sale.',
    {
      unit: 'percent',
      default: MODEL.serviceFeePercent,
    },
  ),
  baseFeeSol: key(z.number().min(0).max(1), 'Base fee of a transaction.', { unit: 'SOL', default: MODEL.baseFeeSol }),
  priorityFeeSol: key(z.number().min(0).max(1), 'Priority fee of an order with `priorityFeeSol: auto`.', {
    unit: 'SOL',
    default: MODEL.priorityFeeSol,
  }),
  rentSol: key(
    z.number().min(0).max(1),
    'Rent of a token account. The sale of all tokens of the account returns the rent.',
    {
      unit: 'SOL',
      default: MODEL.rentSol,
    },
  ),
  deadAfterSeconds: key(
    z.number().min(1).max(3_153_600_000),
    'A token counts as worthless if it has no print above the minimum size for this time.',
    { unit: 'seconds', default: MODEL.deadAfterSeconds },
  ),
  honeypot: key(honeypot, 'Rule by which a token counts as a honeypot: a token that can be bought, but not sold.', {
    default: MODEL.honeypot,
  }),
  impact: key(
    z.enum(['full', 'none']),
    '`full`: an order moves the price, because the pool has a finite depth. `none`: an order does not move the price.',
    {
      default: MODEL.impact,
    },
  ),
  impactHalvesAfterPools: key(
    z.number().min(0.01).max(1e6),
    'The impact of an order on later orders halves each time that the volume of other traders reaches this many times the SOL in the pool.',
    { unit: 'pools', default: MODEL.impactHalvesAfterPools },
  ),
  noisePercent: key(
    z.number().min(0).max(1e12),
    'If the price at the beginning of a trade differs from the price at the end of the previous trade by more than this, later prints must confirm the new price.',
    { unit: 'percent', default: MODEL.noisePercent },
  ),
  latency: key(
    latency,
    'Time from the sending of a transaction to its landing: a lognormal distribution with the given median and 95th percentile.',
    { default: MODEL.latency },
  ),
})

type Written = z.output<typeof assumptions>

/** Returns the fill model that a section of the configuration describes. The key `model` of the section selects a
 *  predefined model, and each other key of the section replaces one value of this model. */
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

/** Returns the assumptions that differ from the default model, as text for a person: `venueFeePercent 0, ...`; '' if
 *  none differs. */
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
