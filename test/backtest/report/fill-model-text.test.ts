import { expect, test } from 'vitest'
import { fillModelSentences } from '../../../src/backtest/report/fill-model-text.ts'
import { DEFAULT_FILL_MODEL, FREE_FILL_MODEL } from '../../../src/engine/accounting/fill-assumptions.ts'
import { stressed, withoutDelay } from '../../../src/simulation/fill-model.ts'

const textOf = (model = DEFAULT_FILL_MODEL): string => fillModelSentences([{ name: 'bot', model }]).assumed.join(' ')

test('the sentences about a fill model without costs mention no cost, no delay, no impact and no loss', () => {
  const free = textOf(FREE_FILL_MODEL)
  expect(free).toMatch(/lands at the time.*Every transaction lands.*No order moves a price.*Every token can be sold/)
  expect(free).not.toMatch(/never land|worst price|price impact|DEPTH_UNKNOWN|worth nothing|[1-9]\d* s\b/)
  expect(textOf()).toMatch(/never land.*worst price.*DEPTH_UNKNOWN.*price impact.*worth nothing/)
  expect(textOf({ ...DEFAULT_FILL_MODEL, impact: 'none' })).not.toMatch(/DEPTH_UNKNOWN|price impact/)
})

test('the fill models that `--runs` derives from a model without costs have no delay and no costs', () => {
  expect(withoutDelay(FREE_FILL_MODEL)).toEqual(FREE_FILL_MODEL)
  expect(stressed(FREE_FILL_MODEL, 4)).toEqual({ ...FREE_FILL_MODEL, networkFeeFactor: 4 })
  expect(withoutDelay(DEFAULT_FILL_MODEL).latencyMs).toEqual({ p50: 1, p95: 1 })
})

test('the text lists a bot with another fill model, with the sentences that are true only for this bot', () => {
  const slow = { ...DEFAULT_FILL_MODEL, latencyMs: { p50: 5_000, p95: 9_000 } }
  const bots = [
    { name: 'usual', model: DEFAULT_FILL_MODEL },
    { name: 'slow', model: slow },
  ]
  const { assumed } = fillModelSentences(bots)
  expect(assumed.filter((sentence) => sentence.startsWith('slow: '))).toEqual([
    'slow: Half of the orders land within 5 s of being sent, 95 % within 9 s, plus one Solana slot of 0.4 s.',
  ])
  expect(assumed).toHaveLength(fillModelSentences(bots.slice(0, 1)).assumed.length + 2)
})
