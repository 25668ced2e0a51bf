import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { eventOf, NO_DETAILS, RowKind, type TokenDetails } from '../../src/market/block.ts'
import { LiveBlock } from '../../src/market/live-block.ts'

const numbers = { price: 1, amount: 2, size: 3, marketCap: 4, extra: 5, extra2: 6 }
const details: TokenDetails = {
  symbol: 'DOGE',
  name: 'Ünïcödé 漢字 🚀',
  metadata: { description: '"quotes"\n', image: '', website: '', twitter: '' },
}
const bytesOf = (text: string): number => new TextEncoder().encode(text).length

/** Random texts as a message of the feed may contain them: well-formed, at most 255 bytes. */
const text = fc
  .tuple(fc.constantFrom('', '', '\ufeff'), fc.string({ unit: 'binary', maxLength: 252 }))
  .map(([mark, rest]) => mark + rest)
  .filter((one) => bytesOf(one) <= 255)

describe('a live block', () => {
  it('a live block returns every row unchanged', () => {
    const row = fc.record({
      time: fc.nat(),
      kind: fc.constantFrom(RowKind.buy, RowKind.sell, RowKind.newToken, RowKind.priceUpdate),
      token: fc.nat(3),
      price: fc.double(),
      signature: text,
      trader: text,
    })
    fc.assert(
      fc.property(fc.array(row, { maxLength: 20 }), (rows) => {
        const block = new LiveBlock(['a', 'b', 'c', 'd'], 64)
        for (const { time, kind, token, price, signature, trader } of rows)
          expect(block.append(time, time, kind, token, { ...numbers, price }, signature, trader)).toBe(true)
        expect(block.length).toBe(rows.length)
        rows.forEach(({ time, kind, token, price, signature, trader }, at) => {
          expect([block.time[at], block.kind[at], block.token[at], block.price[at]]).toEqual([time, kind, token, price])
          expect([block.texts.signature(at), block.texts.trader(at)]).toEqual([signature, trader])
          expect(block.texts.details(at)).toBe(NO_DETAILS)
        })
      }),
    )
  })

  it('a live block copies the bytes of a message unchanged', () => {
    fc.assert(
      fc.property(text, text, text, (before, signature, trader) => {
        const bytes = new TextEncoder().encode(before + signature + trader)
        const [signatureStart, traderStart] = [bytesOf(before), bytesOf(before) + bytesOf(signature)]
        const source = {
          ...{ bytes, view: new DataView(bytes.buffer), signatureStart, signatureEnd: traderStart },
          ...{ traderStart, traderEnd: bytes.length },
        }
        const block = new LiveBlock(['a'], 64)
        for (let row = 0; row < 3; row++) expect(block.appendBytes(1, 1, 0, 0, numbers, source)).toBe(true)
        expect([block.texts.signature(2), block.texts.trader(2)]).toEqual([signature, trader])
      }),
    )
  })

  it.each([
    ['255 bytes', 'x'.repeat(255), true],
    ['256 bytes', 'x'.repeat(256), false],
    ['63 characters of four bytes', `${'🚀'.repeat(63)}xyz`, true],
    ['128 characters of two bytes', 'ü'.repeat(128), false],
  ])('a live block stores a text of %s', (_name, one, fits) => {
    const block = new LiveBlock(['a'], 64)
    expect(block.append(1, 1, 0, 0, numbers, one, '')).toBe(fits)
    expect(block.append(1, 1, 0, 0, numbers, '', one)).toBe(fits)
    expect(block.length).toBe(fits ? 2 : 0)
    // A refused row leaves no text in the block, so this row fits.
    expect(block.append(1, 1, 0, 0, numbers, 'signature', 'trader')).toBe(true)
    expect(block.texts.trader(block.length - 1)).toBe('trader')
  })

  it('a live block is full when there is no space for another row or another text', () => {
    const rows = new LiveBlock(['a'], 2)
    expect([1, 2, 3].map(() => rows.append(1, 1, 0, 0, numbers, '', ''))).toEqual([true, true, false])
    const texts = new LiveBlock(['a'], 8)
    const long = 'x'.repeat(250)
    const fitted = Array.from({ length: 8 }, () => texts.append(1, 1, 0, 0, numbers, long, long)).filter(Boolean).length
    expect(fitted).toBeGreaterThan(0)
    expect(fitted).toBeLessThan(8)
    expect(texts.length).toBe(fitted)
    expect(texts.texts.trader(fitted - 1)).toBe(long)
    const token = new LiveBlock(['a'], 4)
    expect(token.append(1, 1, RowKind.newToken, 0, numbers, '', '', { ...details, name: 'x'.repeat(100_000) })).toBe(
      false,
    )
    expect(token.length).toBe(0)
    const roomy = new LiveBlock(['a'], 1_000)
    expect(roomy.append(1, 1, RowKind.newToken, 0, numbers, '', '', { ...details, name: 'x'.repeat(65_537) })).toBe(
      false,
    )
    expect(roomy.append(1, 1, RowKind.newToken, 0, numbers, '', '', { ...details, name: '\0€'.repeat(9_000) })).toBe(
      true,
    )
    expect(roomy.texts.details(0).name).toBe('\0€'.repeat(9_000))
    expect(roomy.texts.details(0).metadata).toEqual(details.metadata)
  })

  it('a live block stores the texts of a new token', () => {
    const block = new LiveBlock(['mint'], 8)
    block.append(7, 6, RowKind.newToken, 0, numbers, '', 'creator', details)
    const event = eventOf(block, 0)
    expect(JSON.parse(JSON.stringify(event))).toEqual({
      ...{ type: 'newToken', mint: 'mint', symbol: 'DOGE', name: details.name, creator: 'creator' },
      ...{ initialLiquidity: 2, marketCap: 4, timestamp: 6, metadata: details.metadata },
    })
  })

  it('another thread can read a live block in the same memory', () => {
    const block = new LiveBlock(['mint'], 8)
    block.append(7, 6, RowKind.sell, 0, numbers, 'signature', 'trader')
    const other = new LiveBlock(['mint'], 8, block.buffer)
    expect([other.texts.signature(0), other.texts.trader(0), other.price[0]]).toEqual(['signature', 'trader', 1])
  })
})
