import { expect, test } from 'vitest'
import { editDistance, nearest } from '../../../src/config/yaml/wording.ts'

test.each([
  ['', '', 0],
  ['abc', 'abc', 0],
  ['', 'abc', 3],
  ['abc', 'abd', 1],
  ['abc', 'ab', 1],
  ['abc', 'acb', 1],
  ['kitten', 'sitting', 3],
  ['premuim', 'premium', 1],
])('the edit distance between "%s" and "%s" is %i', (a, b, distance) => {
  expect(editDistance(a, b)).toBe(distance)
  expect(editDistance(b, a)).toBe(distance)
})

const keys = ['stopLossPercent', 'takeProfitPercent', 'trailingPercent', 'maxHoldSeconds']

test.each([
  ['stoplosspercent', 'stopLossPercent'],
  ['stop_loss_percent', 'stopLossPercent'],
  ['stopLoss', 'stopLossPercent'],
  ['takeProft', 'takeProfitPercent'],
  ['maxHold', 'maxHoldSeconds'],
  ['trailPercent', 'trailingPercent'],
  ['sizeSol', undefined],
  ['x', undefined],
])('the key that is suggested for "%s" is %s', (word, meant) => {
  expect(nearest(word, keys)).toBe(meant)
})
