import { expect, test } from 'vitest'
import { paperFrom } from '../../src/config/convert-sections.ts'
import { changedAssumptions, writtenModel } from '../../src/config/fill-assumptions.ts'
import { botSchema, fileSchema } from '../../src/config/schema.ts'
import { DEFAULT_FILL_MODEL, FREE_FILL_MODEL } from '../../src/engine/accounting/fill-assumptions.ts'

test('without `paper`, a bot has the default fill model; a single key of `paper` overrides the named model', () => {
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

test('every key of the fill model is accepted in the section `paper`', () => {
  const paper = {
    ...{ model: 'free', latency: { p50Seconds: 0, p95Seconds: 0 }, slotSeconds: 0, lossPercent: 0, crowdPrints: 4 },
    ...{ maxLossPercent: 0, venueFeePercent: 0, serviceFeePercent: 0, baseFeeSol: 0, priorityFeeSol: 0, rentSol: 0 },
    ...{ deadAfterSeconds: 600, honeypot: { buys: 8, salesPercent: 15 }, impact: 'none', impactHalvesAfterPools: 1 },
    noisePercent: 25,
  }
  expect(fileSchema.shape.paper.safeParse(paper).error).toBeUndefined()
  expect(fileSchema.shape.paper.safeParse({ ...paper, venueFeePercent: -1 }).success).toBe(false)
})

test("a bot overrides single settings of the file's fill model, or replaces all of them with a model of its own", () => {
  const file = { balanceSol: 3, venueFeePercent: 2, slotSeconds: 1 }
  expect(paperFrom(file, 'bot', { slotSeconds: 0 })).toMatchObject({ lamports: 3e9, venueFeePercent: 2, slotMs: 0 })
  expect(paperFrom(file, 'bot', { model: 'free', rentSol: 0.002 })).toMatchObject({
    ...FREE_FILL_MODEL,
    ...{ lamports: 3e9, rentLamports: 2_000_000 },
  })
})

test('the `paper` of a bot cannot set the balance or the seed, which are settings of the whole file', () => {
  const bot = { name: 'a', strategy: 'b' }
  expect(botSchema.safeParse({ ...bot, paper: { lossPercent: 1 } }).success).toBe(true)
  expect(botSchema.safeParse({ ...bot, paper: { balanceSol: 1 } }).success).toBe(false)
  expect(botSchema.safeParse({ ...bot, paper: { seed: 1 } }).success).toBe(false)
})

test('a fill model that is written with the keys of the YAML is read back as the same model', () => {
  for (const model of [DEFAULT_FILL_MODEL, FREE_FILL_MODEL])
    expect(paperFrom(writtenModel(model), 'bot')).toMatchObject(model)
  expect(changedAssumptions(DEFAULT_FILL_MODEL)).toBe('')
  expect(changedAssumptions({ ...DEFAULT_FILL_MODEL, venueFeePercent: 0, latencyMs: { p50: 1, p95: 2 } })).toBe(
    'latency p50Seconds 0.001 and p95Seconds 0.002, venueFeePercent 0',
  )
})
