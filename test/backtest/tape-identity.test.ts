import { describe, expect, test } from 'vitest'
import { compareRuns, factsOfReport } from '../../src/backtest/report/comparison.ts'
import type { Report } from '../../src/backtest/report/report.ts'
import { TapeIdentity } from '../../src/backtest/tape-identity.ts'
import { openReader } from '../../src/journal/reader/reader.ts'
import type { MarketItem } from '../../src/journal/tape/market-tape.ts'
import { partOf } from '../../src/journal/tape/tape-block.ts'
import { openJournal } from '../../src/journal/writer/journal.ts'
import { type Block, type Columns, NO_DETAILS, RowKind, type TokenDetails } from '../../src/market/block.ts'
import { LiveBlock } from '../../src/market/live-block.ts'
import { Mints } from '../../src/market/mints.ts'
import { journalPath, NO_LIMITS } from '../support/journal-samples.ts'
import { start } from '../support/journal-values.ts'

const T0 = 1_780_000_000_000

interface Row {
  readonly time: number
  readonly stamp: number
  readonly kind: RowKind
  readonly mint: string
  readonly numbers: Record<'price' | 'amount' | 'size' | 'marketCap' | 'extra' | 'extra2', number>
  readonly signature: string
  readonly trader: string
  readonly details: TokenDetails
}

const metadata = { description: 'd', image: 'i', website: 'w', twitter: 't' }
const rows: Row[] = Array.from({ length: 60 }, (_, at) => ({
  ...{ time: T0 + at, stamp: T0 + at - 5, mint: `mint${at % 7}`, signature: `sig${at}`, trader: `trader${at % 3}` },
  kind: at % 10 === 0 ? RowKind.newToken : at % 2 === 0 ? RowKind.buy : RowKind.sell,
  numbers: { price: at, amount: at + 1, size: at + 2, marketCap: at + 3, extra: at + 4, extra2: Number.NaN },
  details: at % 10 === 0 ? { symbol: `S${at}`, name: `Name ${at}`, metadata } : NO_DETAILS,
}))

function blockOf(some: readonly Row[], mints: Mints): Block {
  const block = new LiveBlock(mints.list, Math.max(1, some.length))
  for (const { time, stamp, kind, mint, numbers, signature, trader, details } of some)
    block.append(time, stamp, kind, mints.intern(mint), numbers, signature, trader, details)
  return block
}

/**
 * Returns the hash of rows in blocks that begin at the row numbers `cuts`. `told`: market items that are not rows, such
 * as gaps, by the number of the row before which they come.
 */
function hashOf(some: readonly Row[], cuts = [0], told: Record<number, MarketItem> = {}, mints = new Mints()): string {
  const identity = new TapeIdentity()
  for (const [at, from] of cuts.entries()) {
    const item = told[from]
    if (item !== undefined) identity.take(item)
    const block = blockOf(some.slice(from, cuts[at + 1]), mints)
    identity.take({ kind: 'rows', block, from: 0, to: block.length })
  }
  return identity.digest()
}

const gap = (from: number, keys = ['trades']): MarketItem => ({
  kind: 'news',
  time: from + 9,
  news: { kind: 'gap', from, to: from + 9, keys },
})
const whole = hashOf(rows)

test('the identity (hash) of a tape depends neither on its blocks nor on the numbers of its mints', () => {
  expect(hashOf(rows, [0, 1, 13, 40])).toBe(whole)
  const mints = new Mints()
  for (const mint of ['other', 'mint5', 'mint1']) mints.intern(mint)
  expect(hashOf(rows, [0, 30], {}, mints)).toBe(whole)
})

test.each<[string, (row: Row, at: number) => Partial<Row>]>([
  ['the rows have few traders and different signatures', () => ({})],
  [
    'the rows have few signatures and different traders',
    (_row, at) => ({ signature: `s${at % 4}`, trader: `trader${at}` }),
  ],
  ['the rows have no signatures and one trader', () => ({ signature: '', trader: 'one' })],
])('rows from a journal have the same identity as the same rows in memory: %s', async (_what, change) => {
  const some = rows.map((row, at) => ({ ...row, ...change(row, at) }))
  const path = journalPath()
  const onFailure = (error: Error): never => expect.fail(error.message)
  const journal = openJournal(path, { space: NO_LIMITS, onFailure })
  journal.input(1, T0, start(1))
  const block = blockOf(some, new Mints())
  journal.rows(block, 0, block.length, 2)
  await journal.close()
  const reader = openReader(path)
  const [stored, ...more] = [...reader.blocks(new Mints())]
  expect(more).toEqual([])
  const parts = new TapeIdentity()
  for (const part of [partOf(stored as Block, 0, 21), partOf(stored as Block, 21, 60)]) parts.rows(part, 0, part.length)
  expect(parts.digest()).toBe(hashOf(some))
  const identity = new TapeIdentity()
  for (const [from, to] of [
    [0, 13],
    [13, 60],
  ] as const)
    identity.rows(stored as Block, from, to)
  expect(identity.digest()).toBe(hashOf(some))
  reader.close()
})

const changed = (at: number, change: Partial<Row>): Row[] =>
  rows.map((row, index) => (index === at ? { ...row, ...change } : row))
const launch = rows[20] as Row
const trade = rows[21] as Row
const NUMBERS = ['price', 'amount', 'size', 'marketCap', 'extra', 'extra2'] as const satisfies (keyof Columns)[]

describe('the identity changes with everything that a strategy can read', () => {
  test.each<[string, readonly Row[]]>([
    ['the arrival time of a row', changed(59, { time: T0 + 60 })],
    ['the timestamp of the service', changed(21, { stamp: 1 })],
    ['the side of a trade', changed(21, { kind: RowKind.buy })],
    ['the mint of a trade', changed(21, { mint: 'mint6' })],
    ['the name of every mint', rows.map((row) => ({ ...row, mint: `${row.mint}x` }))],
    ...NUMBERS.map((name): [string, Row[]] => [
      `the column ${name} of a trade`,
      changed(21, { numbers: { ...trade.numbers, [name]: 77 } }),
    ]),
    ['the market cap of a launch', changed(20, { numbers: { ...launch.numbers, marketCap: 77 } })],
    ['the signature of a trade', changed(21, { signature: 'another' })],
    [
      'a signature that takes over the first character of the trader',
      changed(21, { signature: 'sig21t', trader: 'rader0' }),
    ],
    ['a signature that is not base58', changed(21, { signature: 'ä'.repeat(120) })],
    ['the trader of a trade', changed(21, { trader: 'another' })],
    ['the creator of a token', changed(20, { trader: 'another' })],
    ['the symbol of a token', changed(20, { details: { ...launch.details, symbol: 'X' } })],
    ['the name of a token', changed(20, { details: { ...launch.details, name: 'X' } })],
    ...Object.keys(metadata).map((key): [string, Row[]] => [
      `the metadata field ${key}`,
      changed(20, { details: { ...launch.details, metadata: { ...metadata, [key]: 'X' } } }),
    ]),
    ['the removal of the last row', rows.slice(0, -1)],
  ])('the identity (hash) of a tape changes with %s', (_name, some) => {
    expect(hashOf(some)).not.toBe(whole)
  })

  test('the identity (hash) of a tape changes with the time, the place and the keys of a gap', () => {
    const hashes = [
      whole,
      hashOf(rows, [0, 30], { 30: gap(T0 + 5) }),
      hashOf(rows, [0, 31], { 31: gap(T0 + 5) }),
      hashOf(rows, [0, 30], { 30: gap(T0 + 6) }),
      hashOf(rows, [0, 30], { 30: gap(T0 + 5, ['newTokens']) }),
    ]
    expect(new Set(hashes).size).toBe(hashes.length)
    expect(hashOf(rows, [0, 30, 40], { 30: gap(T0 + 5), 40: gap(T0 + 5) })).toBe(hashes[1])
  })
})

describe('a comparison of two reports', () => {
  const facts = (tape: string, tapeIdentity?: number) =>
    factsOfReport({
      hashes: { tape, config: 'c', sluice: 's', code: 'd', strategies: {}, ...(tapeIdentity && { tapeIdentity }) },
      ...{ sluice: '0', tape: {}, plan: {}, fillModel: { numbers: {} }, bots: [] },
    } as unknown as Report)

  test.each<[string, ReturnType<typeof facts>, ReturnType<typeof facts>, string[], RegExp | null]>([
    ['the same tape hash', facts('a', 3), facts('a', 3), [], null],
    ['different tape hashes', facts('a', 3), facts('b', 3), ['tape'], null],
    [
      'tape hashes that different versions of the hash function made',
      facts('a', 2),
      facts('b', 3),
      [],
      /^tape: A contains an earlier version/,
    ],
    [
      'equal hashes of two tapes, computed by an earlier version of the hash function',
      facts('a'),
      facts('a'),
      [],
      /^tape: A and B contain an earlier version/,
    ],
    ['different tape hashes that an earlier version of the hash function made', facts('a'), facts('b'), ['tape'], null],
  ])('a comparison of two reports that have %s', (_name, a, b, differences, note) => {
    const found = compareRuns(a, b)
    expect(found.differences.map(({ what }) => what)).toEqual(differences)
    if (note === null) expect(found.notes).toEqual([])
    else expect(found.notes).toEqual([expect.stringMatching(note)])
  })
})
