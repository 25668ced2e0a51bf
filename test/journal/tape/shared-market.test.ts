import { expect, test } from 'vitest'
import type { Market } from '../../../src/journal/tape/market-tape.ts'
import { chunksOf, SharedMarket } from '../../../src/journal/tape/shared-tape.ts'
import { openTape } from '../../../src/journal/tape-files.ts'
import { Mints } from '../../../src/market/mints.ts'
import { journalPath, keyOf, timeOf } from '../../support/journal-samples.ts'
import { type Recording, writeTape } from '../../support/recorded-tape.ts'
import { BLOCKS, inSmallBlocks, SIZE } from '../../support/small-blocks.ts'

/** Returns the columns and texts of all rows, those that threads do not share included. */
function rowsOf(market: Market): unknown[] {
  const rows: unknown[] = []
  for (const item of market.items(new Mints())) {
    if (item.kind !== 'rows') continue
    const { mints, token, time, price, amount, marketCap, extra, extra2, texts } = item.block
    for (let row = item.from; row < item.to; row++)
      rows.push([
        ...[mints[token[row] as number], time[row], price[row], amount[row], marketCap[row], extra[row], extra2[row]],
        ...[texts.trader(row), texts.signature(row)],
      ])
  }
  return rows
}

/** Returns the market that another thread would read, and the number of times that the thread has loaded columns or
 *  texts of a block from its own tape. `meanwhile`: runs after the tape was decoded. */
function inAnotherThread(paths: readonly string[], meanwhile = (): void => {}) {
  const tape = openTape(paths)
  const { stretches, rows } = tape.market
  const chunks = [...chunksOf(tape.market)].map((chunk) => structuredClone(chunk))
  tape.close()
  meanwhile()
  const own = openTape(paths, { mapped: false })
  const loads = { late: 0, texts: 0 }
  const counting: ReturnType<typeof own.restOf>[] = []
  const market = new SharedMarket({
    ...{ stretches, rows, next: () => chunks.shift() },
    own: () => ({
      market: own.market,
      restOf: (key) => {
        const load = own.restOf(key)
        counting.push(load)
        return {
          late: () => {
            loads.late++
            return load.late()
          },
          texts: () => {
            loads.texts++
            return load.texts()
          },
        }
      },
    }),
  })
  return { market, loads, blocks: counting, close: () => own.close() }
}

test('a thread loads the columns that are not shared once for each block, and reads no other column again', () => {
  const { path } = inSmallBlocks()
  const tape = openTape([path])
  const expected = rowsOf(tape.market)
  tape.close()
  const { market, loads, blocks, close } = inAnotherThread([path])
  expect(rowsOf(market)).toEqual(expected)
  expect(expected).toHaveLength(SIZE * BLOCKS)
  expect({ ...loads, blocks: blocks.length }).toEqual({ late: BLOCKS, texts: BLOCKS, blocks: BLOCKS })
  close()
})

test('a thread loads the columns that are not shared also after the recording process has merged blocks', () => {
  const { path, writer } = inSmallBlocks()
  const tape = openTape([path])
  const expected = rowsOf(tape.market)
  tape.close()
  const { market, close } = inAnotherThread([path], () => {
    for (let n = 0; n < 10; n++) writer.tidy()
  })
  const merged = openTape([path])
  expect([...merged.market.items(new Mints())].filter(({ kind }) => kind === 'rows').length).toBeLessThan(BLOCKS)
  merged.close()
  expect(rowsOf(market)).toEqual(expected)
  close()
})

test('a thread loads the columns that are not shared from the journal that contains the row', async () => {
  const recordingOf = (numbers: readonly number[]): Recording => ({
    time: timeOf(0),
    items: numbers.map((n) => ({
      ...{ time: timeOf(n), mint: keyOf(n % 3), price: 1 + n, sol: 1 + n, trader: keyOf(n), signature: keyOf(n, 64) },
    })),
  })
  const paths: string[] = []
  for (const some of [
    [1, 2, 5, 6, 9],
    [3, 4, 5, 7, 8, 10],
  ]) {
    const path = journalPath()
    await writeTape(path, [recordingOf(some)])
    paths.push(path)
  }
  const tape = openTape(paths)
  const expected = rowsOf(tape.market)
  tape.close()
  expect(expected).toHaveLength(10)
  const { market, blocks, close } = inAnotherThread(paths)
  expect(rowsOf(market)).toEqual(expected)
  expect(blocks).toHaveLength(2)
  close()
})
