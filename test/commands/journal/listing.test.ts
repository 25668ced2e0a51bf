import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Column, chosenColumns, csvOf, fittedTable } from '../../../src/commands/journal/listing.ts'
import { visibleWidth } from '../../../src/commands/terminal.ts'

type Row = readonly (string | number)[]

const NAMES = ['id', 'time', 'symbol', 'reason', 'netSol'] as const
const columns: readonly Column<Row>[] = NAMES.map((name, at) => ({
  ...{ name, of: (row: Row) => row[at] ?? null, rank: at },
  ...(name === 'time' && { short: (row: Row) => String(row[at]).slice(0, 4) }),
  isElastic: name === 'reason',
}))

const hostile = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('\u001b[31mred', '\u202eabc', '狗狗币', '🚀🚀🚀', 'e\u0301', '=1+1', 'a"b,c', 'two\r\nlines', ''),
)
const row = fc.tuple(hostile, hostile, hostile, hostile, fc.double({ noNaN: true }))

test('no line of a table is wider than the terminal, and none contains a control character', () => {
  fc.assert(
    fc.property(fc.array(row, { maxLength: 5 }), fc.integer({ min: 1, max: 200 }), (rows, room) => {
      const { lines, leftOut } = fittedTable(rows, columns, room)
      expect(lines).toHaveLength(rows.length + 1)
      for (const line of lines) {
        expect(visibleWidth(line)).toBeLessThanOrEqual(room)
        expect(line).not.toMatch(/\p{Cc}/u)
      }
      expect(leftOut).toEqual(NAMES.toReversed().slice(0, leftOut.length))
    }),
  )
})

const ROWS: readonly Row[] = [
  ['o1', '2026-11-22', 'PEPE', 'the average crossed the long average while the volume rose', 0.5],
  ['o2', '2026-11-22', 'X', 'stop-loss', -12.25],
]

test.each<[room: number | undefined, lines: string[]]>([
  [
    undefined,
    [
      'ID  TIME        SYMBOL  REASON                                                      NET SOL',
      'o1  2026-11-22  PEPE    the average crossed the long average while the volume rose      0.5',
      'o2  2026-11-22  X       stop-loss                                                    -12.25',
    ],
  ],
  [
    60,
    [
      'ID  TIME  SYMBOL  REASON                             NET SOL',
      'o1  2026  PEPE    the average crossed the long ave…      0.5',
      'o2  2026  X       stop-loss                           -12.25',
    ],
  ],
  [40, ['ID  TIME  SYMBOL  REASON', 'o1  2026  PEPE    the average crossed t…', 'o2  2026  X       stop-loss']],
  [16, ['ID  TIME  SYMBOL', 'o1  2026  PEPE', 'o2  2026  X']],
  [9, ['ID  TIME', 'o1  2026', 'o2  2026']],
  [1, ['…', '…', '…']],
])('a table that is fitted to %s columns of the terminal', (room, lines) => {
  expect(fittedTable(ROWS, columns, room).lines).toEqual(lines)
})

describe('CSV', () => {
  test('a reader of RFC 4180 reads every cell of the CSV with its value', () => {
    fc.assert(
      fc.property(fc.array(row, { maxLength: 5 }), (rows) => {
        const [head, ...lines] = parsed(csvOf(rows, columns))
        expect(head).toEqual([...NAMES])
        expect(lines).toHaveLength(rows.length)
        for (const cells of lines) expect(cells).toHaveLength(NAMES.length)
        for (const cell of lines.flat()) expect(cell).not.toMatch(/\p{Cc}|^[=+@]/u)
      }),
    )
  })

  test('formulas, quotes and commas are written so that a spreadsheet reads them as text', () => {
    expect(csvOf([['=1+1', 'a"b', 'c,d', '', 1.5]], columns)).toBe(
      'id,time,symbol,reason,netSol\r\n\'=1+1,"a""b","c,d","",1.5\r\n',
    )
  })
})

/** Reads CSV according to RFC 4180, character by character. */
function parsed(csv: string): string[][] {
  const lines: string[][] = []
  let cells: string[] = []
  let cell = ''
  let isQuoted = false
  for (let at = 0; at < csv.length; at++) {
    const next = csv.slice(at, at + 2)
    if (isQuoted && next === '""') cell += csv[++at]
    else if (csv[at] === '"') isQuoted = !isQuoted
    else if (!isQuoted && (csv[at] === ',' || next === '\r\n')) {
      cells.push(cell)
      cell = ''
      if (next !== '\r\n') continue
      lines.push(cells)
      cells = []
      at++
    } else cell += csv[at]
  }
  expect([cell, cells, isQuoted]).toEqual(['', [], false])
  return lines
}

describe('--columns', () => {
  test('--columns selects columns in the given order', () => {
    expect(chosenColumns(columns, 'netSol, id,id').map(({ name }) => name)).toEqual(['netSol', 'id'])
    expect(chosenColumns(columns, undefined)).toBe(columns)
  })

  test.each([
    ['id,simbol', 'column 2, "simbol", is unknown; did you mean symbol?'],
    ['price', 'column 1, "price", is unknown; the columns are id, time, symbol, reason, netSol'],
    ['id,', 'column 2, "", is unknown'],
  ])('--columns with %s exits with code 2 and names the wrong column and the nearest valid one', (names, message) => {
    expect(() => chosenColumns(columns, names)).toThrow(
      expect.objectContaining({ exitCode: 2, message: expect.stringContaining(message) }),
    )
  })
})
