import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CSV_HEADER, csvLine, csvLinesOf } from '../../../src/venues/token-service/capture.ts'
import { keyOf } from '../../support/journal-values.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const folder = temporaryFolder()

function read(text: string): unknown[] {
  const path = folder.write('capture.csv', text)
  return [...csvLinesOf(path)].map(({ number, data, bad }) => [number, bad ?? JSON.parse(data.toString())])
}

const text = fc.oneof(
  fc.string({ unit: 'binary' }).filter((one) => !one.includes('\ufeff') && Buffer.from(one).toString() === one),
  fc.constantFrom('', '"', '""', "'", "''", '=1+1', "'=1", '-2', '+', '@x', '\t', '\r', '\n', 'a\r\nb,c"d', ',', ' x '),
)
const finite = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0) // JSON has no -0
const number = fc.oneof(finite, fc.constantFrom(0, 1e308, 5e-324))

test('every captured message is unchanged after it was written to CSV and read back', () => {
  const message = fc.oneof(
    fc.record({
      type: fc.constant('trade'),
      receivedAt: fc.nat(),
      mint: text,
      side: text,
      price: number,
      trader: text,
    }),
    fc.record({
      ...{ type: fc.constant('newToken'), mint: text, symbol: text, name: text, initialLiquidity: number },
      metadata: fc.record({ description: text, image: text, website: text, twitter: text }),
    }),
    fc.record({ type: fc.constant('gap'), from: fc.nat(), to: fc.nat(), keys: fc.constant(['trades', keyOf(1)]) }),
  )
  fc.assert(
    fc.property(fc.array(message, { maxLength: 8 }), (messages) => {
      const lines = [CSV_HEADER, ...messages.map((one) => csvLine(one as Record<string, unknown>))]
      expect(read(`${lines.join('\n')}\n`).map((one) => (one as unknown[])[1])).toEqual(messages)
    }),
    { numRuns: 150 },
  )
})

test('in the CSV of captured messages, no cell can be a formula for a spreadsheet', () => {
  const cells = csvLine({ type: 'newToken', name: '=cmd()', symbol: '@a', mint: '-1+1', metadata: { image: '\tx' } })
  expect(cells.split(',').filter((cell) => /^"?[=+\-@\t]/.test(cell))).toEqual([])
})

describe('a CSV file from another tool', () => {
  const header = 'when,type,mint,price,timestamp'
  test.each<[string, string, unknown[]]>([
    ['unknown columns are ignored', `${header}\r\nnow,trade,m,1e-7,5\r\n`, [[2, trade(1e-7, 5)]]],
    ['a byte order mark is ignored', `\ufeff${header}\nnow,trade,m,2,5`, [[2, trade(2, 5)]]],
    ['empty lines are ignored', `${header}\n\n,trade,m,1,5\n\n`, [[3, trade(1, 5)]]],
    ['missing cells are omitted from the message', `${header}\nx,trade`, [[2, { type: 'trade' }]]],
    ['extra cells make the line invalid', `${header}\n1,trade,m,1,5,6`, [[2, 'more cells than columns']]],
    ['an invalid number makes the line invalid', `${header}\n,trade,m,cheap,5`, [[2, 'price']]],
    [
      'a quote inside an unquoted cell makes the line invalid',
      `${header}\n,tr"a"de,m,1,5\n,"trade"s,m,1,5`,
      [
        [2, 'unpaired or misplaced quotes'],
        [3, 'unpaired or misplaced quotes'],
      ],
    ],
    [
      'an unclosed quote makes only one line invalid',
      `${header}\n,"trade,m,1,5\n,trade,m,1,6`,
      [
        [2, 'unpaired or misplaced quotes'],
        [3, trade(1, 6)],
      ],
    ],
  ])('reading a CSV file from another tool: %s', (_name, file, expected) => {
    expect(read(file)).toEqual(expected)
  })

  test('the error about a CSV file of messages names the missing columns', () => {
    expect(() => read('type,price\ntrade,1')).toThrow(/capture.csv:1: .* missing: mint, timestamp$/)
    expect(() => read('"type,mint')).toThrow('missing: type, mint, timestamp')
  })

  test('an unclosed quote in a long CSV file does not hide the rest of the file', () => {
    const rows = Array.from({ length: 3_000 }, (_, n) => `,trade,m,1,${n}`)
    const found = read([header, ',"trade,m,1,5', ...rows].join('\n'))
    expect(found[0]).toEqual([2, 'unpaired or misplaced quotes'])
    expect(found.slice(1)).toHaveLength(3_000)
  })

  function trade(price: number, timestamp: number): object {
    return { type: 'trade', mint: 'm', price, timestamp }
  }
})
