import fc from 'fast-check'
import { expect, test } from 'vitest'
import { printable } from '../../src/base/text.ts'

test.each([
  ['plain text, Ünïcödé, 漢字, 🚀', 'plain text, Ünïcödé, 漢字, 🚀'],
  ['two\r\nlines', 'two\\u000d\\u000alines'],
  ['\u001b[2J\u001b]0;owned\u0007', '\\u001b[2J\\u001b]0;owned\\u0007'],
  ['\u009b31m', '\\u009b31m'],
  ['evil\u202egnp.exe', 'evil\\u202egnp.exe'],
  ['a\u200bb\u2066c\ufeff\u2028', 'a\\u200bb\\u2066c\\ufeff\\u2028'],
  ['lone \ud800 surrogate', 'lone \\ud800 surrogate'],
  ['tag \u{e0041}', 'tag \\udb40\\udc41'],
])('%j is printed without hidden characters', (text, shown) => {
  expect(printable(text)).toBe(shown)
})

test('a printable line of JSON has the same value and no control characters', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string({ unit: 'binary' }), (value, text) => {
      const line = JSON.stringify({ value, text })
      expect(JSON.parse(printable(line))).toEqual(JSON.parse(line))
      expect(printable(text)).not.toMatch(/\p{Cc}|\p{Bidi_Control}/u)
    }),
  )
})
