import { expect, test } from 'vitest'
import { upTo, type Veil, VeiledBlock, veiled } from '../../../src/backtest/causality/veiled-block.ts'
import type { MarketItem } from '../../../src/journal/tape/market-tape.ts'
import { type Block, NO_DETAILS, RowKind } from '../../../src/market/block.ts'
import { LiveBlock } from '../../../src/market/live-block.ts'

const T0 = 1_780_000_000_000
const details = { symbol: 'S', name: 'N', metadata: { description: '', image: '', website: '', twitter: '' } }

function blockOf(rows: number): Block {
  const block = new LiveBlock(['A', 'B', 'C'], rows)
  for (let row = 0; row < rows; row++) {
    const numbers = { price: row, amount: row + 1, size: row + 2, marketCap: row + 3, extra: row + 4, extra2: row + 5 }
    const kind = row % 5 === 0 ? RowKind.newToken : RowKind.sell
    block.append(T0 + row, T0 + row, kind, row % 3, numbers, `s${row}`, `t${row}`, row % 5 === 0 ? details : undefined)
  }
  return block
}

function rowOf(block: Block, row: number) {
  const { time, stamp, price, amount, size, marketCap, extra, extra2, kind, token, texts } = block
  const numbers = [time, stamp, price, amount, size, marketCap, extra, extra2, kind, token].map((column) => column[row])
  return [...numbers, texts.signature(row), texts.trader(row), texts.details(row)]
}

test.each<[Veil, number]>([
  ['nothing', 20],
  [0.37, 20],
  [0.71, 20],
  [0.37, 2],
  [0.71, 1],
])('a block whose later rows are hidden (replacement: %s) shows only its %i released rows', (veil, rows) => {
  const source = blockOf(rows + 4)
  const [from, to] = [2, 2 + rows]
  const block = new VeiledBlock(source, from, to, veil)
  expect(block.length).toBe(rows)
  for (let shown = 0; shown < rows; shown++) {
    for (let row = shown; row < rows && rows > 1; row++)
      expect(rowOf(block, row), `the values of row ${row} while ${shown} rows are visible`).not.toEqual(
        rowOf(source, from + row),
      )
    if (veil === 'nothing') expect(block.texts.details(shown)).toEqual(NO_DETAILS)
    expect(block.show()).toBe(shown)
    for (let row = 0; row <= shown; row++) expect(rowOf(block, row)).toEqual(rowOf(source, from + row))
  }
})

test('tape items with hidden rows give the same rows as their source, one at a time', () => {
  const source = blockOf(9)
  const items: MarketItem[] = [
    { kind: 'rows', block: source, from: 0, to: 4 },
    { kind: 'news', time: T0 + 4, news: { kind: 'gap', from: T0, to: T0 + 4, keys: [] } },
    { kind: 'rows', block: source, from: 4, to: 9 },
  ]
  const rows: unknown[] = []
  let news = 0
  for (const item of veiled(items, 0.5)) {
    if (item.kind !== 'rows') news = rows.length
    else rows.push(rowOf(item.block, item.from))
  }
  expect(rows).toEqual(Array.from({ length: 9 }, (_, row) => rowOf(source, row)))
  expect(news).toBe(4)
})

test.each([1, 3, 4, 5, 9])('a tape that is cut after %i rows contains no later row', (cut) => {
  const source = blockOf(9)
  const parts: MarketItem[] = [0, 4].map((from, part) => ({
    kind: 'rows',
    block: source,
    from,
    to: [4, 9][part] as number,
  }))
  const items = [...upTo(parts, cut)].filter((item) => item.kind === 'rows')
  expect(items.reduce((sum, { from, to }) => sum + to - from, 0)).toBe(cut)
  const { block, to } = items.at(-1) as (typeof items)[number]
  expect([block.length, block.price.buffer.byteLength / 8]).toEqual([to, to])
  expect(rowOf(block, to - 1)).toEqual(rowOf(source, cut - 1))
})
