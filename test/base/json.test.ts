import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeJson, encodeJson } from '../../src/base/json.ts'

/** Returns the encoding of `JSON.stringify` with a replacer, as the reference. */
function stringified(value: unknown): string {
  const renamed = (item: object): object =>
    Object.fromEntries(Object.entries(item).map(([key, one]) => [/^\$+bigint$/.test(key) ? `$${key}` : key, one]))
  const text = JSON.stringify(value, (_key, item: unknown) => {
    if (typeof item === 'bigint') return `bigint ${item}`
    return typeof item === 'object' && item !== null && !Array.isArray(item) ? renamed(item) : item
  })
  return text.replaceAll(/"bigint (-?\d+)"/g, '{"$bigint":"$1"}')
}

const key = fc.oneof(fc.constantFrom('$bigint', '$$bigint', 'kind', '__proto__'), fc.string({ unit: 'binary' }))
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.string({ unit: 'binary' }).filter((text) => !text.startsWith('bigint ')),
    fc.string({ unit: fc.constantFrom('a', '"', '\\', '\n', '\u0000', '\ud800', '\udfff', 'é', '😀', '\u2028') }),
    fc.double(),
    fc.constantFrom(null, true, false, -0, 1e21, Number.NaN, Number.POSITIVE_INFINITY, undefined),
    fc.bigInt({ min: -(10n ** 39n), max: 10n ** 39n }),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(key, tie('value'), { maxKeys: 5 }),
  ),
}))

test('each value is encoded as JSON.stringify encodes it, and a bigint as an object', () => {
  fc.assert(
    fc.property(fc.record({ value }), (record) => {
      expect(encodeJson(record)).toBe(stringified(record))
    }),
  )
  expect(encodeJson(new Date(0))).toBe('"1970-01-01T00:00:00.000Z"')
})

test('a decoded value is encoded to the same text again', () => {
  fc.assert(
    fc.property(fc.record({ value }), (record) => {
      const text = encodeJson(record)
      expect(encodeJson(decodeJson(text))).toBe(text)
    }),
  )
})
