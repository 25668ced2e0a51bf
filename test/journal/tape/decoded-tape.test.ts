import { expect, test } from 'vitest'
import { openReader } from '../../../src/journal/reader/reader.ts'
import { DecodedTape } from '../../../src/journal/tape/shared-tape.ts'
import type { Mints } from '../../../src/market/mints.ts'
import { journalPath } from '../../support/journal-samples.ts'
import { noisyMarket, writeTape } from '../../support/recorded-tape.ts'

const T0 = 1_780_000_000_000

test.each([
  ['a short tape is decoded once', 2 ** 22, 1],
  ['a longer tape is decoded in every pass', 0, 3],
])('%s, and all passes give equal rows', async (_, mostKept, expected) => {
  const path = journalPath()
  await writeTape(path, [{ time: T0, items: noisyMarket(2_000, 5, T0) }])
  const reader = openReader(path)
  try {
    const market = reader.market()
    let decoded = 0
    const items = (mints: Mints) => {
      decoded++
      return market.items(mints)
    }
    const tape = new DecodedTape({ items }, mostKept)
    const passes = Array.from({ length: 3 }, () => [...tape.chunks()].map(({ rows, mints }) => [rows, mints]))
    expect(passes[0]?.flat()).not.toEqual([])
    expect(passes[1]).toEqual(passes[0])
    expect(passes[2]).toEqual(passes[0])
    expect(decoded).toBe(expected)
  } finally {
    reader.close()
  }
})
