import fc from 'fast-check'
import { expect, test } from 'vitest'
import { KEY_BYTES, packText, SIGNATURE_BYTES, unpackInto, unpackText } from '../../../src/journal/tape/packed-text.ts'

const BASE58 = [...'123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz']

test.each([
  ['key', KEY_BYTES],
  ['signature', SIGNATURE_BYTES],
])('a packed %s is restored as a text and as bytes', (_name, bytes) => {
  const longest = (bytes / 3) * 4
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...BASE58), { maxLength: longest }), (digits) => {
      const text = digits.join('')
      const packed = new Uint8Array(bytes + 3)
      expect(packText(Buffer.from(text), text.length, packed, 3, bytes)).toBe(true)
      expect(unpackText(packed, 3, bytes)).toBe(text)
      const restored = new Uint8Array(longest)
      expect(unpackInto(packed, 3, bytes, restored)).toBe(text.length)
      expect(Buffer.from(restored.subarray(0, text.length)).toString()).toBe(text)
    }),
    { seed: 7, numRuns: 300 },
  )
})
