import { expect, test } from 'vitest'
import { codeFrame } from '../../src/testing/dev/code-frame.ts'
import { compareReports, type VersionEvent, type VersionReport } from '../../src/testing/dev/version-report.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const folder = temporaryFolder()

test('the code excerpt in an error has two lines before and after the place, and a mark below the column', () => {
  folder.write('a.ts', ['one', 'two', 'three', 'four', 'five', 'six'].join('\n'))
  const frame = (message: string) => codeFrame(message, folder.path)
  expect(frame('a.ts:3:2: TypeError: b.ts:1:1')).toEqual([
    ...['  1 | one', '  2 | two', '> 3 | three', '    |  ^', '  4 | four', '  5 | five'],
  ])
  expect(frame(`the strategy ${folder.path}/a.ts cannot be used: a.ts:6:1: no`)).toEqual([
    ...['  4 | four', '  5 | five', '> 6 | six', '    | ^'],
  ])
  expect(frame('no place')).toEqual([])
  expect(frame('missing.ts:3:1: no')).toEqual([])
})

const event = (time: number, text: string): VersionEvent => ({
  ...{ time, text, bot: 'bot', kind: 'buy', mint: 'M', amount: '1 SOL' },
})
const reportOf = (...events: VersionEvent[]): VersionReport => ({
  ...{ rows: 1, orders: events.length, fills: 0, refused: 0, positions: 0, netSol: 0, events, ended: '' },
})

test('a comparison of two versions lists the events that only one of them has, by time, and ignores order numbers', () => {
  const before = reportOf(event(1, 'a'), event(2, 'b'), event(2, 'b'), event(5, 'after o7'))
  const now = reportOf(event(1, 'a'), event(2, 'b'), event(3, 'c'), event(5, 'after o9'))
  const { changes } = compareReports(before, now)
  expect(changes.map(({ isNew, event: { time, text } }) => [isNew, time, text])).toEqual([
    [false, 2, 'b'],
    [true, 3, 'c'],
  ])
  expect(compareReports(now, now).changes).toEqual([])
})
