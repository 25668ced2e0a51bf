import { expect, test } from 'vitest'
import {
  ageText,
  bytesText,
  countText,
  exitName,
  percentText,
  priceText,
  shortKey,
  signedPercent,
  signedSol,
  solText,
  tokenText,
  toneOf,
  wordsOf,
} from '../../../src/desk/page/format.ts'

test.each([
  [signedSol(0.01234), '+0.0123'],
  [signedSol(-0.01234), '−0.0123'],
  [signedSol(0), '0.0000'],
  [signedSol(-0.00000001), '0.0000'],
  [signedSol(null), '–'],
  [solText(1.5), '1.5000'],
  [solText(-1.5), '−1.5000'],
  [signedPercent(12.34), '+12.3 %'],
  [signedPercent(-0.04), '0.0 %'],
  [percentText(41.6), '42 %'],
  [percentText(null), '–'],
  [priceText(2.8123e-8), '0.00000002812'],
  [priceText(1234.5), '1235'],
  [priceText(0.5), '0.5000'],
  [priceText(-1e-22), '0.000000000000000000'],
  [priceText(0), '0'],
  [priceText(Number.NaN), '–'],
  [priceText(1e-30), '0.000000000000000000'],
  [bytesText(999), '999 B'],
  [bytesText(412_300_000), '412 MB'],
  [bytesText(1_200), '1.2 kB'],
  [countText(1_203_882), '1 203 882'],
  [countText(-120_388), '-120 388'],
  [countText(999), '999'],
  [ageText(-5), '0 s'],
  [ageText(99_900), '99 s'],
  [ageText(185_000), '3m'],
  [ageText(3_725_000), '1h02m'],
  [wordsOf('LOSING_STREAK'), 'losing streak'],
  [exitName('stopLossPercent'), 'stop loss'],
  [exitName('maxHoldSeconds'), 'max hold'],
  [wordsOf('takeProfitByAge'), 'take profit by age'],
])('%s', (text, expected) => {
  expect(text).toBe(expected)
})

test.each([
  ['', 'So11111111111111111111111111111111111111112', 'So11…1112'],
  ['CAT', 'x', 'CAT'],
  ['  \u202eTAC', 'x', '\\u202eTAC'],
  ['a very long name of a token', 'x', 'a very long nam…'],
  ['🐱🐱🐱🐱🐱🐱🐱🐱🐱🐱🐱🐱🐱🐱🐱🐱🐱', 'x', `${'🐱'.repeat(15)}…`],
])('a token with the symbol %j is shown in at most 16 safe characters', (symbol, mint, expected) => {
  expect(tokenText(symbol, mint)).toBe(expected)
})

test('a key with few characters is not shortened', () => {
  expect(shortKey('o123')).toBe('o123')
})

test('only gains and losses have a colour', () => {
  expect([1, -1, 0, null, undefined, Number.NaN].map(toneOf)).toEqual(['gain', 'loss', '', '', '', ''])
})
