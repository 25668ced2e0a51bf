import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { eventOf } from '../../../../src/market/block.ts'
import { Mints } from '../../../../src/market/mints.ts'
import { Intake } from '../../../../src/venues/token-service/intake.ts'
import { Decoder } from '../../../../src/venues/token-service/wire/decode.ts'
import { Frame, fillFrame } from '../../../../src/venues/token-service/wire/frame.ts'
import { Row } from '../../../../src/venues/token-service/wire/row.ts'
import { Scanner } from '../../../../src/venues/token-service/wire/scan.ts'
import { runs } from '../../../support/runs.ts'
import { anyNewToken, anyPriceUpdate, anyTrade, MINT, NEW_TOKEN, PRICE_UPDATE, signatureOf, TRADE } from './samples.ts'

const decoder = new Decoder()
const decode = (value: unknown) =>
  decoder.decode(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)), false)
const why = (value: unknown) => {
  const decoded = decode(value)
  return decoded.kind === 'misfit' ? decoded.why : decoded.kind
}

/** Writes a record to a block, and returns the record that is read back. */
function throughColumns(value: unknown): unknown {
  const intake = new Intake(
    new Mints(),
    () => false,
    (_block, _from, to) => to,
  )
  expect(decode(value)).toEqual({ kind: 'row' })
  expect(intake.add(decoder.row, 5, 0)).toBe('row')
  return JSON.parse(JSON.stringify(eventOf(intake.block, 0)))
}

describe('a record is unchanged after it was stored in the columns of a block', () => {
  test.each([[TRADE], [{ ...TRADE, side: 'sell' }], [NEW_TOKEN], [PRICE_UPDATE]])(
    'the record %o is unchanged after it was stored in the columns of a block',
    (record) => {
      expect(throughColumns(record)).toEqual(record)
    },
  )
  test('any documented record is unchanged after it was stored in the columns of a block', () => {
    fc.assert(
      fc.property(fc.oneof(anyTrade, anyPriceUpdate, anyNewToken), (record) => {
        // JSON.stringify writes -0 as 0 and replaces half a surrogate pair.
        const expected = JSON.parse(JSON.stringify(record), (_key, item) =>
          typeof item === 'string' ? item.toWellFormed() : item,
        )
        expect(throughColumns(record)).toEqual(expected)
      }),
      { numRuns: runs(150) },
    )
  })
  test('the decoder reads a record with spaces, escapes, or another order of fields', () => {
    const spaced = JSON.stringify(Object.fromEntries(Object.entries(TRADE).reverse()), null, 1).replaceAll('\n', ' ')
    expect(throughColumns(spaced)).toEqual(TRADE)
    expect(throughColumns(JSON.stringify(TRADE).replace('"buy"', '"b\\u0075y"'))).toEqual(TRADE)
  })
})

const without = (record: object, field: string): object =>
  Object.fromEntries(Object.entries(record).filter(([name]) => name !== field))

describe('required and optional fields', () => {
  test.each(['mint', 'price', 'amount', 'tokensTraded', 'timestamp', 'side'])(
    'the decoder rejects a trade without %s',
    (field) => {
      expect(why(without(TRADE, field))).toBe(field)
    },
  )
  test.each(['marketCap', 'slippage', 'priorityFee'])(
    'the decoder accepts a trade without %s, with the value NaN',
    (field) => {
      expect(throughColumns(without(TRADE, field))).toEqual({ ...TRADE, [field]: null })
      expect(throughColumns({ ...TRADE, [field]: null })).toEqual({ ...TRADE, [field]: null })
    },
  )
  test.each(['signature', 'trader'])('the decoder accepts a trade without %s, with empty text', (field) => {
    expect(throughColumns(without(TRADE, field))).toEqual({ ...TRADE, [field]: '' })
    expect(throughColumns({ ...TRADE, [field]: null })).toEqual({ ...TRADE, [field]: '' })
  })
  test('the decoder accepts a new token with only its mint and its time', () => {
    expect(throughColumns({ type: 'newToken', mint: MINT, timestamp: 1 })).toMatchObject({
      name: '',
      creator: '',
      marketCap: null,
    })
    expect(why(without(NEW_TOKEN, 'timestamp'))).toBe('timestamp')
  })
})

test.each([
  ['invalid JSON', '{"type":"trade"', 'not JSON'],
  ['NaN as a number', JSON.stringify(TRADE).replace('0.25', 'NaN'), 'not JSON'],
  ['an empty message', '', 'not JSON'],
  ['bytes after the record', `${JSON.stringify(TRADE)}x`, 'not JSON'],
  ['an array', '[1]', 'not an object'],
  ['the value null', 'null', 'not an object'],
  ['no type', '{}', 'no type'],
  ['a type that is not text', '{"type":1}', 'no type'],
  ['a type inside the field `__proto__`', '{"__proto__":{"type":"pong"}}', 'no type'],
  ['an unknown type', '{"type":"candle"}', 'unknown type'],
  ['an unknown type with all fields of a trade', { ...TRADE, type: 'swap' }, 'unknown type'],
  ['a message `subscribed` without keys', '{"type":"subscribed"}', 'no keys'],
  ['Infinity as a price', JSON.stringify(TRADE).replace('2.5e-7', '1e999'), 'price'],
  ['a price of 0', { ...TRADE, price: 0 }, 'price'],
  ['a price below zero', { ...TRADE, price: -1 }, 'price'],
  ['a price as text', { ...TRADE, price: '1' }, 'price'],
  ['an amount below zero', { ...TRADE, amount: -1 }, 'amount'],
  ['an unknown side', { ...TRADE, side: 'BUY' }, 'side'],
  ['a mint that is too short', { ...TRADE, mint: 'abc' }, 'mint'],
  ['a mint that is too long', { ...TRADE, mint: signatureOf(1) }, 'mint'],
  ['a mint that is a number', { ...TRADE, mint: 5 }, 'mint'],
  ['a time below zero', { ...TRADE, timestamp: -1 }, 'timestamp'],
  ['a time beyond the range of dates', { ...TRADE, timestamp: 1e300 }, 'timestamp'],
  ['a signature of 100,000 characters', { ...TRADE, signature: 'A'.repeat(100_000) }, 'text too long'],
  ['a trader of 45 characters', { ...TRADE, trader: 'A'.repeat(45) }, 'text too long'],
  ['a message of 10 MB', { ...NEW_TOKEN, name: 'A'.repeat(10_000_000) }, 'too long'],
  ['900 KB of brackets', '['.repeat(900_000), 'not JSON'],
])('the decoder rejects %s', (_name, value, expected) => {
  expect(why(value)).toBe(expected)
})

test('the decoder rejects a binary frame', () => {
  expect(decoder.decode(Buffer.from(JSON.stringify(TRADE)), true)).toEqual({ kind: 'misfit', why: 'binary' })
})

test('the decoder truncates texts to a maximum length', () => {
  const long = 'x'.repeat(50_000)
  const token = {
    ...NEW_TOKEN,
    name: long,
    symbol: long,
    metadata: { description: long, image: long, website: long, twitter: long },
  }
  expect(JSON.stringify(throughColumns(token)).length).toBeLessThan(4_000)
})

test('the decoder tolerates and counts deep nesting and unknown or dangerous fields', () => {
  const nested = JSON.parse('['.repeat(500) + ']'.repeat(500))
  const record = `{"__proto__":{"price":1},"constructor":1,${JSON.stringify({ ...TRADE, extra: nested }).slice(1)}`
  expect(throughColumns(record)).toEqual(TRADE)
  expect(decoder.unknownFields).toBe(3)
  expect(throughColumns(JSON.stringify(TRADE).replace('{', '{"new":-1.5e3,"newer":"text",'))).toEqual(TRADE)
  expect(decoder.unknownFields).toBe(2)
})

test('a text that has the length of a key but is not a key is rejected when it is first read', () => {
  const intake = new Intake(
    new Mints(),
    () => false,
    (_block, _from, to) => to,
  )
  expect(decode({ ...TRADE, mint: '0'.repeat(44) }).kind).toBe('row')
  expect(intake.add(decoder.row, 1, 0)).toBe('bad mint')
  expect(intake.block.length).toBe(0)
})

test.each([
  [{ type: 'pong' }, { kind: 'pong' }],
  [
    { type: 'authenticated', userId: 'u', plan: 'Premium' },
    { kind: 'authenticated', userId: 'u', plan: 'Premium' },
  ],
  [{ type: 'authenticated' }, { kind: 'authenticated', userId: '', plan: '' }],
  [
    { type: 'subscribed', keys: ['trades', 5, MINT] },
    { kind: 'subscribed', keys: ['trades', MINT] },
  ],
  [
    { type: 'error', code: 'connection_limit', message: 'm' },
    { kind: 'error', code: 'CONNECTION_LIMIT', message: 'm' },
  ],
  [{ type: 'error' }, { kind: 'error', code: '', message: '' }],
])('the decoder reads the control message %o', (message, expected) => {
  expect(decode(message)).toEqual(expected)
})

test('no input makes the decoder throw, and it accepts no row without amounts', () => {
  const intake = new Intake(
    new Mints(),
    () => false,
    (_block, _from, to) => to,
  )
  const field = fc.constantFrom(...Object.keys({ ...TRADE, ...NEW_TOKEN, ...PRICE_UPDATE }))
  const broken = fc
    .tuple(fc.constantFrom<object>(TRADE, NEW_TOKEN, PRICE_UPDATE), field, fc.jsonValue())
    .map(([record, name, value]) => JSON.stringify({ ...record, [name]: value }))
  const cut = fc.tuple(broken, fc.nat(400)).map(([text, at]) => text.slice(0, at))
  fc.assert(
    fc.property(fc.oneof(broken, cut, fc.json(), fc.string({ unit: 'binary' })), (text) => {
      if (decode(text).kind !== 'row' || intake.add(decoder.row, 1, 0) !== 'row') return
      const { block } = intake
      const row = block.length - 1
      expect(Number.isFinite(block.stamp[row])).toBe(true)
      if ((block.kind[row] as number) < 2)
        expect((block.amount[row] as number) >= 0 && (block.size[row] as number) >= 0).toBe(true)
      if (block.kind[row] !== 2) expect(block.price[row]).toBeGreaterThan(0)
    }),
    { numRuns: runs(500) },
  )
})

const scanAll = (json: string, frame: Frame): boolean => {
  const bytes = Buffer.from(json)
  return new Scanner().scan(bytes, 0, bytes.length, frame)
}

describe('the scanner agrees with JSON.parse', () => {
  /** Returns the values that a row reads from a message. */
  const seen = (row: Row) => {
    const { kind, stamp, numbers, texts, mintStart, mintEnd } = row
    const text = (start: number, end: number) => Buffer.from(texts.bytes.slice(start, end)).toString()
    const { signatureStart, signatureEnd, traderStart, traderEnd } = texts
    return {
      kind,
      stamp,
      ...numbers,
      mint: text(mintStart, mintEnd),
      signature: text(signatureStart, signatureEnd),
      trader: text(traderStart, traderEnd),
    }
  }
  const compare = (json: string): boolean => {
    const [scanned, parsed] = [new Frame(), new Frame()]
    // The message is in the middle of a buffer, so that no result depends on the bytes around it.
    const buffer = Buffer.from(`"}${json}"}`)
    if (!new Scanner().scan(buffer, 2, buffer.length - 2, scanned)) return false
    expect(fillFrame(JSON.parse(json), parsed)).toBe(true)
    const [left, right] = [new Row(), new Row()]
    const verdict = left.read(scanned)
    expect(verdict).toBe(right.read(parsed))
    if (verdict === '') expect(seen(left)).toEqual(seen(right))
    expect([...scanned.numbers]).toEqual([...parsed.numbers])
    return true
  }

  test('the scanner agrees with JSON.parse on any trade and price update, and accepts all of them', () => {
    fc.assert(
      fc.property(fc.oneof(anyTrade, anyPriceUpdate), (record) => {
        expect(compare(JSON.stringify(record))).toBe(true)
      }),
      { numRuns: runs(500) },
    )
  })

  test('the scanner agrees with JSON.parse on nulls, and on duplicate and unknown fields', () => {
    const name = fc.constantFrom(...Object.keys({ ...TRADE, ...PRICE_UPDATE }), 'new', 'slot')
    const value = fc.constantFrom('null', '1', '-0', '"x"', '1.5e300', '1e999')
    const more = fc.array(fc.tuple(name, value), { maxLength: 4 })
    fc.assert(
      fc.property(fc.oneof(anyTrade, anyPriceUpdate), more, (record, fields) => {
        const added = fields.map(([field, json]) => `,"${field}":${json}`).join('')
        compare(JSON.stringify(record).replace(/}$/, `${added}}`))
      }),
      { numRuns: runs(500) },
    )
    expect(compare('{"type":"trade","price":1,"price":null,"mint":"x","mint":null,"slot":null}')).toBe(true)
  })

  test('the scanner agrees with JSON.parse on numbers in every notation, correctly rounded', () => {
    const digits = (length: number) =>
      fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: length })
    const numeral = fc
      .tuple(
        fc.constantFrom('', '-', '+'),
        digits(20),
        fc.option(digits(25)),
        fc.option(fc.tuple(fc.constantFrom('e', 'E', 'e-', 'e+'), digits(3))),
      )
      .map(
        ([sign, whole, fraction, exponent]) =>
          `${sign}${whole}${fraction === null ? '' : `.${fraction}`}${exponent?.join('') ?? ''}`,
      )
    fc.assert(
      fc.property(fc.oneof(numeral, fc.double().map(String)), (text) => {
        const json = `{"type":"trade","price":${text}}`
        let expected: number | undefined
        try {
          expected = JSON.parse(text)
        } catch {}
        const frame = new Frame()
        const isTaken = scanAll(json, frame)
        if (expected === undefined) expect(isTaken).toBe(false)
        else if (isTaken) expect(compare(json)).toBe(true)
      }),
      { numRuns: runs(5_000) },
    )
  })

  test('the scanner agrees with JSON.parse on records with arbitrary changes of their text', () => {
    const mutation = fc.tuple(
      fc.nat(500),
      fc.nat(3),
      fc.string({ unit: fc.constantFrom(...'{}[]":,\\ .-0e1tnéa\u0001'), maxLength: 3 }),
    )
    fc.assert(
      fc.property(fc.oneof(anyTrade, anyPriceUpdate), fc.array(mutation, { maxLength: 2 }), (record, mutations) => {
        let json = JSON.stringify(record)
        for (const [at, removed, added] of mutations) json = json.slice(0, at) + added + json.slice(at + removed)
        let isJson = true
        try {
          JSON.parse(json)
        } catch {
          isJson = false
        }
        if (isJson) compare(json)
        else expect(scanAll(json, new Frame())).toBe(false)
      }),
      { numRuns: runs(1_250) },
    )
  })
})
