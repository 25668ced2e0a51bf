import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeJson, encodeJson, plainJson } from '../../src/base/json.ts'
import { baseUnits, formatSol, lamports, lamportsToSol, solToLamports, wholeTokens } from '../../src/base/units.ts'

describe('amounts', () => {
  it.each([
    [0, '0'],
    [1, '0.000000001'],
    [-1, '-0.000000001'],
    [1_000_000_000, '1'],
    [1_500_000_000, '1.5'],
    [-12_345_678_901, '-12.345678901'],
    [100_000_000, '0.1'],
    [Number.MAX_SAFE_INTEGER, '9007199.254740991'],
  ])('%d lamports are written as %s SOL', (value, text) => {
    expect(formatSol(value)).toBe(text)
  })

  it('an amount is written without exponent and reads back unchanged', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (value) => {
        const text = formatSol(value)
        expect(text).toMatch(/^-?\d+(\.\d{0,8}[1-9])?$/)
        const [whole = '', fraction = ''] = text.replace('-', '').split('.')
        const digits = BigInt(whole + fraction.padEnd(9, '0')) * (value < 0 ? -1n : 1n)
        expect(digits).toBe(BigInt(value))
      }),
    )
  })

  it.each([
    [0.1, 100_000_000],
    [0.1 + 0.2, 300_000_000],
    [0.000_000_001_4, 1],
    [0.000_000_001_5, 2],
    [1.005, 1_005_000_000],
  ])('%d SOL are %d lamports', (sol, value) => {
    expect(solToLamports(sol)).toBe(value)
    expect(solToLamports(lamportsToSol(value))).toBe(value)
  })

  it.each([Number.NaN, Number.POSITIVE_INFINITY, 0.5, 2 ** 53])('%d is refused as a number of lamports', (value) => {
    expect(() => lamports(value)).toThrow(RangeError)
  })

  it('a number of tokens is rounded down, so a sale never exceeds the request', () => {
    expect(baseUnits(1.999_999_9, 6)).toBe(1_999_999n)
    expect(baseUnits(0.000_000_9, 6)).toBe(0n)
    expect(baseUnits(1e12, 9)).toBe(10n ** 21n)
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n }), fc.nat(9), (tokens, decimals) => {
        const back = baseUnits(wholeTokens(tokens, decimals), decimals)
        const off = back > tokens ? back - tokens : tokens - back
        expect(off).toBeLessThanOrEqual(1n + (tokens >> 51n))
      }),
    )
  })
})

describe('JSON', () => {
  const value: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.bigInt({ min: -(2n ** 127n), max: 2n ** 127n }),
      fc.string({ unit: 'binary' }),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('$bigint', '$$bigint', '$', '__proto__')), tie('value'), {
        maxKeys: 4,
        noNullPrototype: true,
      }),
      fc.record({ $bigint: fc.bigInt({ min: 0n, max: 2n ** 64n }).map(String) }),
    ),
  })).value

  it('encoding and decoding preserve bigints and keys that look like encoded bigints', () => {
    fc.assert(
      fc.property(value, (one) => {
        expect(decodeJson(encodeJson(one))).toEqual(withoutMinusZero(one))
      }),
      { numRuns: 500 },
    )
  })

  /** Replaces -0 by 0, because JSON writes -0 as 0. */
  function withoutMinusZero(one: unknown): unknown {
    if (typeof one === 'number') return one === 0 ? 0 : one
    if (Array.isArray(one)) return one.map(withoutMinusZero)
    if (typeof one !== 'object' || one === null) return one
    return Object.fromEntries(Object.entries(one).map(([key, item]) => [key, withoutMinusZero(item)]))
  }

  it('a plain copy equals the value, is frozen, and shares no object with it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (one) => {
        const copy = plainJson(one, 'it')
        expect(encodeJson(copy)).toBe(encodeJson(one))
        expect(Object.isFrozen(copy)).toBe(true)
        if (typeof one === 'object' && one !== null) expect(copy).not.toBe(one)
      }),
    )
  })

  it.each([
    ['undefined', undefined],
    ['a hole', Object.assign([1], { 2: 2 })],
    ['a symbol', Symbol('x')],
    ['a Set', new Set()],
    ['a typed array', new Uint8Array(2)],
    ['minus infinity', Number.NEGATIVE_INFINITY],
    ['a class', new (class Money {})()],
  ])('making a plain copy of %s throws an error', (_name, one) => {
    expect(() => plainJson({ deep: [one] }, 'it')).toThrow(/^it\.deep\[0\]/)
  })

  it('making a plain copy of a cyclic or too deep value throws an error', () => {
    const knot: unknown[] = []
    knot.push(knot, knot)
    expect(() => plainJson(knot, 'it')).toThrow('cyclic or too large')
    let deep: unknown = 1
    for (let level = 0; level < 500; level++) deep = [deep]
    expect(() => plainJson(deep, 'it')).toThrow('cyclic or too large')
  })
})
