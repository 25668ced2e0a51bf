import { expect, test } from 'vitest'
import { paperFrom } from '../../src/config/defaults.ts'
import { fileSchema } from '../../src/config/schema.ts'
import { DEFAULT_FILL_MODEL, FREE_FILL_MODEL } from '../../src/engine/accounting/fill-assumptions.ts'

test('without keys a bot has the default fill model, and a key takes precedence over the named model', () => {
  expect(paperFrom(undefined, 'bot')).toMatchObject(DEFAULT_FILL_MODEL)
  expect(paperFrom({ model: 'free' }, 'bot')).toMatchObject(FREE_FILL_MODEL)
  const given = {
    model: 'free',
    slotSeconds: 0.4,
    lossPercent: 7,
    rentSol: 0.002,
    honeypot: { buys: 20, salesPercent: 5 },
  } as const
  expect(paperFrom(given, 'bot')).toMatchObject({
    ...FREE_FILL_MODEL,
    ...{ slotMs: 400, landingFailurePercent: 7, rentLamports: 2_000_000, honeypot: { buys: 20, salesPercent: 5 } },
  })
})

test('every key of the fill model is accepted under paper', () => {
  const paper = {
    ...{ model: 'free', latency: { p50Seconds: 0, p95Seconds: 0 }, slotSeconds: 0, lossPercent: 0, crowdPrints: 4 },
    ...{ maxLossPercent: 0, venueFeePercent: 0, serviceFeePercent: 0, baseFeeSol: 0, priorityFeeSol: 0, rentSol: 0 },
    ...{ deadAfterSeconds: 600, honeypot: { buys: 8, salesPercent: 15 }, impact: 'none', impactHalvesAfterPools: 1 },
    noisePercent: 25,
  }
  expect(fileSchema.shape.paper.safeParse(paper).error).toBeUndefined()
  expect(fileSchema.shape.paper.safeParse({ ...paper, venueFeePercent: -1 }).success).toBe(false)
})
