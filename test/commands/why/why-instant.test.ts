import { describe, expect, test } from 'vitest'
import { SluiceError } from '../../../src/base/errors.ts'
import { readInstant } from '../../../src/commands/why/parse-time.ts'
import { clockOf, durationOf, spanOf, stampOf } from '../../../src/runtime/time-text.ts'

process.env.TZ = 'Europe/Berlin'

const FIRST = Date.parse('2026-11-20T09:30:00+01:00')
const LAST = Date.parse('2026-11-22T13:00:00+01:00')
const at = (text: string): number => Date.parse(text)
/** True for times at which a process ran: from 2026-11-22 on. */
const ran = ({ from }: { from: number }): boolean => from >= at('2026-11-22T00:00:00+01:00')

describe('a time', () => {
  test.each<[text: string, from: string, ms: number]>([
    ['13:00', '2026-11-22T13:00:00+01:00', 60_000], // occurs on three days, but a process ran only on one
    ['9:05', '2026-11-22T09:05:00+01:00', 60_000],
    ['12:03:10', '2026-11-22T12:03:10+01:00', 1000],
    ['12:03:10.5', '2026-11-22T12:03:10.500+01:00', 100],
    ['2026-11-21T12:03', '2026-11-21T12:03:00+01:00', 60_000],
    ['2026-11-21 12:03:10', '2026-11-21T12:03:10+01:00', 1000],
    ['2026-11-21T12:03:10.250Z', '2026-11-21T12:03:10.250Z', 1],
    ['2026-11-21T12:03-05:00', '2026-11-21T12:03:00-05:00', 60_000],
    [String(at('2026-11-21T12:03:10Z')), '2026-11-21T12:03:10Z', 1],
  ])('`why --at` reads the time %s', (text, from, ms) => {
    expect(readInstant(text, FIRST, LAST, ran)).toEqual({ from: at(from), to: at(from) + ms - 1 })
  })
  test.each<[text: string, message: string]>([
    ['noon', '--at noon is not a time; expected 12:03, 12:03:10, 2026-11-22T12:03'],
    ['24:00', 'is not a time'],
    ['12:60', 'is not a time'],
    ['12', 'is not a time'],
    ['', 'is not a time'],
    ['-5', 'is not a time'],
    ['1795000000', 'looks like seconds since 1970; in milliseconds it is 1795000000000'],
    ['2026-02-30T12:00', 'is not a time'],
    ['2026-11-21', 'is a date: add a time, such as 2026-11-21T12:03'],
    ['2026-11-25T12:00', 'is outside of this journal, which covers 2026-11-20 09:30:00.000 +01:00 to'],
    ['1234567890123', 'is outside of this journal'],
  ])('`why --at` refuses the time %j with advice', (text, message) => {
    const read = (): unknown => readInstant(text, FIRST, LAST, ran)
    expect(read).toThrow(message)
    expect(read).toThrow(SluiceError)
  })
  test('`why --at` refuses a time of day that occurs on several days', () => {
    expect(() => readInstant('12:03', FIRST, LAST, () => true)).toThrow(
      '12:03 occurs on 3 days of this journal: write 2026-11-20T12:03:00 or 2026-11-21T12:03:00 or 2026-11-22T12:03:00',
    )
  })
  test('`why --at` refuses a time of day outside of the journal', () => {
    const morning = at('2026-11-20T10:00:00+01:00')
    expect(() => readInstant('12:03', FIRST, morning, ran)).toThrow('is outside of this journal')
  })
})

test('the formats in which `why` prints times and durations', () => {
  const time = at('2026-11-22T12:03:04.120+01:00')
  expect([clockOf(time), stampOf(time)]).toEqual(['12:03:04.120', '2026-11-22 12:03:04.120 +01:00'])
  expect([0, 999.4, 1240, 99_900, 245_000, 8_040_000, 273_600_000].map(durationOf)).toEqual([
    ...['0 ms', '999 ms', '1.24 s', '99.9 s', '4m05s', '2h14m', '3d04h'],
  ])
  expect([spanOf(-5), spanOf(5)]).toEqual(['-5 ms', '+5 ms'])
})
