import { expect, test } from 'vitest'
import { meantWidth, parseWidth } from '../../src/market/bar-width.ts'

const NEVER = Number.POSITIVE_INFINITY

test.each([
  ['1s', { everyMs: 1_000 }],
  ['15s', { everyMs: 15_000 }],
  ['1m', { everyMs: 60_000 }],
  ['4h', { everyMs: 14_400_000 }],
  ['1d', { everyMs: 86_400_000 }],
  ['1 trade', { trades: 1 }],
  ['500 trades', { trades: 500 }],
  ['20 SOL', { volumeSol: 20 }],
  ['0.5 SOL', { volumeSol: 0.5 }],
])('%s is a valid width of a bar', (text, size) => {
  const none = { everyMs: NEVER, trades: NEVER, volumeSol: NEVER }
  expect(parseWidth(text)).toEqual({ name: text, ...none, ...size })
})

test.each([
  ['1min', '1m'],
  ['15 sec', '15s'],
  ['1 hour', '1h'],
  ['M1', '1m'],
  ['h4', '4h'],
  ['1M', '1m'],
  ['500trades', '500 trades'],
  ['500 ticks', '500 trades'],
  ['1 trades', '1 trade'],
  ['500 trade', '500 trades'],
  ['20sol', '20 SOL'],
  ['60', undefined],
  ['', undefined],
  ['0m', undefined],
  ['01m', '1m'],
  ['1.5m', undefined],
  ['2d', undefined],
  ['0 SOL', undefined],
  ['-1m', undefined],
  ['2000000 trades', undefined],
  ['NaN SOL', undefined],
])('"%s" is refused as the width of a bar, and the message suggests %s', (text, meant) => {
  expect(parseWidth(text)).toBeUndefined()
  expect(meantWidth(text)).toBe(meant)
})
