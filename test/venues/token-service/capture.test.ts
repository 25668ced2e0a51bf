import { describe, expect, test } from 'vitest'
import { CaptureReader, linesOf } from '../../../src/venues/token-service/capture.ts'
import { keyOf } from '../../support/journal-values.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const folder = temporaryFolder()
const MINT = keyOf(1)

function read(text: string): object {
  const data = Buffer.from(`before\n${text}\nbehind "receivedAt":1`)
  const start = 7
  return new CaptureReader().read({ number: 2, data, start, end: start + Buffer.byteLength(text) })
}

const trade = { type: 'trade', mint: MINT, amount: 1, tokensTraded: 5, price: 0.2, timestamp: 1_000, side: 'buy' }

describe('a line of captured messages', () => {
  test.each<[string, string | object, object]>([
    ['a trade', trade, { kind: 'row', key: 'trades', time: 1_000 }],
    ['a trade with its arrival time', { receivedAt: 1_234.5, ...trade }, { kind: 'row', key: 'trades', time: 1_234 }],
    ['a new token', { type: 'newToken', mint: MINT, timestamp: 7 }, { kind: 'row', key: 'newTokens', time: 7 }],
    [
      'a new token whose name looks like a field',
      { type: 'newToken', mint: MINT, name: '"receivedAt":9', timestamp: 7 },
      { kind: 'row', time: 7 },
    ],
    [
      'a price update',
      { type: 'priceUpdate', mint: MINT, price: 1, timestamp: 7 },
      { kind: 'row', key: 'priceUpdates' },
    ],
    ['a gap', { type: 'gap', from: 3, to: 9, keys: ['trades'] }, { kind: 'gap', from: 3, time: 9, keys: ['trades'] }],
    ['a gap of all keys', { type: 'gap', from: 3, to: 9 }, { kind: 'gap', from: 3, time: 9, keys: undefined }],
    ['an empty line', '', { kind: 'nothing' }],
    ['only white space', ' \t\r', { kind: 'nothing' }],
    ['a control message', { type: 'subscribed', keys: ['trades'] }, { kind: 'nothing' }],
    ['half a message', '{"type":"trade","mi', { kind: 'bad', why: 'not JSON' }],
    ['a list', '[]', { kind: 'bad', why: 'not an object' }],
    ['another type', { type: 'candle' }, { kind: 'bad', why: 'unknown type' }],
    ['a price of 0', { ...trade, price: 0 }, { kind: 'bad', why: 'price' }],
    ['an infinite price', '{"type":"trade","side":"buy","price":1e999}', { kind: 'bad' }],
    ['a price of 1e308', { ...trade, price: 1e308 }, { kind: 'row' }],
    ['a mint that is not a key', { ...trade, mint: '1'.repeat(40) }, { kind: 'bad', why: 'mint' }],
    ['a time that is not a number', { ...trade, timestamp: 'now' }, { kind: 'bad', why: 'timestamp' }],
    ['an invalid arrival time', { ...trade, receivedAt: 'now' }, { kind: 'bad', why: 'receivedAt' }],
    ['a gap that ends before it begins', { type: 'gap', from: 9, to: 3 }, { kind: 'bad', why: 'from, to' }],
    ['a gap without an end', { type: 'gap', from: 9 }, { kind: 'bad', why: 'from, to' }],
    ['a gap with invalid keys', { type: 'gap', from: 1, to: 3, keys: 'all' }, { kind: 'bad', why: 'keys' }],
  ])('reading a line of captured messages: %s', (_name, line, expected) => {
    expect(read(typeof line === 'string' ? line : JSON.stringify(line))).toMatchObject(expected)
  })
})

describe('the lines of a file', () => {
  // The reader reuses the memory of a line for the next line, so each line is copied immediately. Long lines are
  // represented by their length.
  const lines = (text: string) =>
    Array.from(linesOf(folder.write('lines', text)), ({ number, data, start, end }) => [
      number,
      end - start > 9 ? end - start : data.toString('utf8', start, end),
    ])

  test.each<[string, string, [number, string | number][]]>([
    ['no line', '', []],
    ['one line', 'a\n', [[1, 'a']]],
    [
      'a last line without a line end',
      'a\n\nb',
      [
        [1, 'a'],
        [2, ''],
        [3, 'b'],
      ],
    ],
    [
      'more lines than one read returns',
      `${'x'.repeat(700_000)}\n${'y'.repeat(700_000)}\nz\n`,
      [
        [1, 700_000],
        [2, 700_000],
        [3, 'z'],
      ],
    ],
    [
      'a line longer than one read',
      `${'x'.repeat(3_000_000)}\nz`,
      [
        [1, 3_000_000],
        [2, 'z'],
      ],
    ],
  ])('the lines of a file of captured messages: %s', (_name, text, expected) => {
    expect(lines(text)).toEqual(expected)
  })

  test('an endless line of a file is truncated, and later lines keep their numbers', () => {
    const [first, second] = lines(`${'x'.repeat(20_000_000)}\nz\n`) as [[number, number], [number, string]]
    expect(first[1]).toBeGreaterThan(1_048_576) // longer than any message
    expect(second).toEqual([2, 'z'])
  })

  test('reading a missing file of captured messages is an error', () => {
    expect(() => [...linesOf('/nowhere/x.ndjson')]).toThrow('/nowhere/x.ndjson cannot be read: ENOENT')
  })
})
