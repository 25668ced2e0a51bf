import { expect, test } from 'vitest'
import { readSince } from '../../src/commands/since.ts'
import { isoOf } from '../../src/runtime/time-text.ts'

const NOW = new Date(2026, 10, 22, 12, 3, 4).getTime()
const HOUR = 3_600_000

test.each<[text: string, time: number]>([
  ['90s', NOW - 90_000],
  ['15m', NOW - HOUR / 4],
  ['2h', NOW - 2 * HOUR],
  ['1.5h', NOW - 1.5 * HOUR],
  ['1d12h', NOW - 36 * HOUR],
  ['2w', NOW - 14 * 24 * HOUR],
  ['2026-11-22', new Date(2026, 10, 22).getTime()],
  ['2026-11-22T09:30', new Date(2026, 10, 22, 9, 30).getTime()],
  ['2026-11-22 09:30:05.5', new Date(2026, 10, 22, 9, 30, 5, 500).getTime()],
  ['2026-11-21T09:30Z', Date.UTC(2026, 10, 21, 9, 30)],
  ['2026-11-21T09:30+02:00', Date.UTC(2026, 10, 21, 7, 30)],
  ['1795000000000', 1_795_000_000_000],
])('--since accepts %s as a time', (text, time) => {
  expect(isoOf(readSince(text, NOW), 'ms')).toBe(isoOf(time, 'ms'))
})

test.each<[text: string, nearest: string | undefined]>([
  ['2hours', '2h'],
  ['2 h', '2h'],
  ['3 Days ago', '3d'],
  ['30min', '30m'],
  ['today', '2026-11-22'],
  ['yesterday', '2026-11-21'],
  ['9:30', '2026-11-22T09:30'],
  ['22.11.2026', '2026-11-22'],
  ['2026/11/2', '2026-11-02'],
  ['2026-1-2 12:00', '2026-01-02T12:00'],
  ['1795000000', '1795000000000'],
  ['2026-02-30', undefined],
  ['2y', undefined],
  ['noon', undefined],
  ['', undefined],
])('--since "%s" exits with code 2 and suggests the nearest time', (text, nearest) => {
  const advice = nearest === undefined ? '' : `; did you mean ${nearest}?`
  expect(() => readSince(text, NOW)).toThrow(
    expect.objectContaining({
      exitCode: 2,
      message: expect.stringContaining(`--since ${text} is not a time${advice}; expected a duration such as 2h`),
    }),
  )
})

test('--since refuses a time in the future', () => {
  expect(() => readSince('2027-01-01', NOW)).toThrow('--since 2027-01-01 is in the future')
})
