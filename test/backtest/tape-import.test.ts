import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { importTape } from '../../src/backtest/tape-import.ts'
import { openReader } from '../../src/journal/reader/reader.ts'
import { eventOf } from '../../src/market/block.ts'
import { Mints } from '../../src/market/mints.ts'
import { keyOf } from '../support/journal-values.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const folder = temporaryFolder()
let journals = 0

const tradeAt = (timestamp: number, more: object = {}): object => ({
  ...{ type: 'trade', mint: keyOf(timestamp % 3), signature: keyOf(timestamp, 64), trader: keyOf(9) },
  ...{ amount: 1, tokensTraded: 5, price: 0.2, marketCap: 7, timestamp, side: 'sell', slippage: 5, priorityFee: 0.1 },
  ...more,
})
const launchAt = (timestamp: number): object => ({
  ...{ type: 'newToken', mint: keyOf(timestamp), symbol: 'S', name: 'N', creator: keyOf(8), initialLiquidity: 3 },
  ...{ marketCap: 4, timestamp, metadata: { description: 'd', image: 'i', website: 'w', twitter: 't' } },
})

function fileOf(name: string, lines: readonly (object | string)[]): string {
  return folder.write(name, lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'))
}

async function importing(files: string[], strict = false) {
  const path = join(folder.path, `${++journals}`, 'tape.db')
  const complaints: string[] = []
  const imported = await importTape(files, path, { strict, complain: (complaint) => complaints.push(complaint) })
  const reader = openReader(path)
  const items = [...reader.market().items(new Mints())].flatMap(
    (item): (string | Readonly<Record<string, unknown>>)[] => {
      if (item.kind === 'news') return [{ at: item.time, ...item.news }]
      if (item.kind !== 'rows') return [item.kind]
      return Array.from({ length: item.to - item.from }, (_, row) => ({
        at: item.block.time[item.from + row],
        ...(JSON.parse(JSON.stringify(eventOf(item.block, item.from + row))) as object),
      }))
    },
  )
  reader.close()
  return { imported, complaints, items }
}

test('an import keeps messages, arrival times and gaps', async () => {
  const lines = [
    { receivedAt: 1_010, ...tradeAt(1_000) },
    launchAt(1_020),
    { type: 'gap', from: 1_100, to: 1_900, keys: ['trades'] },
    tradeAt(2_000),
    { type: 'gap', from: 2_100, to: 2_200 },
    '',
  ]
  const { imported, complaints, items } = await importing([fileOf('plain', lines)])
  const keys = ['trades', 'newTokens']
  expect(items).toEqual([
    'began',
    { at: 1_010, kind: 'feed', status: 'live', confirmed: keys },
    { at: 1_010, ...tradeAt(1_000) },
    { at: 1_020, ...launchAt(1_020) },
    { at: 1_900, kind: 'gap', from: 1_100, to: 1_900, keys: ['trades'] },
    { at: 2_000, ...tradeAt(2_000) },
    { at: 2_200, kind: 'gap', from: 2_100, to: 2_200, keys },
    'ended',
  ])
  expect(imported).toEqual({ rows: 3, gaps: 2, badLines: 0, duplicates: 0, late: 0, keys })
  expect(complaints).toEqual([])
})

test('files are merged by time, a late message counts as received with the message before it, and repeated messages are imported once', async () => {
  const one = fileOf('one', [tradeAt(1_000), launchAt(1_001), tradeAt(5_000), tradeAt(4_000), tradeAt(6_000)])
  const other = fileOf('other', [launchAt(999), tradeAt(1_000), launchAt(3_000), tradeAt(5_500)])
  const { imported, items } = await importing([one, other])
  const times = items.flatMap((item) =>
    typeof item === 'object' && 'timestamp' in item ? [[item.timestamp, item.at]] : [],
  )
  expect(times).toEqual([
    ...[
      [999, 999],
      [1_000, 1_000],
      [1_001, 1_001],
      [3_000, 3_000],
      [5_000, 5_000],
      [4_000, 5_000],
      [5_500, 5_500],
    ],
    [6_000, 6_000],
  ])
  expect(imported).toMatchObject({ rows: 8, duplicates: 1, late: 1 })
})

test('a gap that is in two files is imported once', async () => {
  const gap = JSON.stringify({ type: 'gap', from: 2_000, to: 3_000, keys: ['trades'] })
  const [one, other] = ['one', 'other'].map((name) => fileOf(name, [tradeAt(1_000), gap, tradeAt(4_000)])) as [
    string,
    string,
  ]
  expect((await importing([one, other])).imported).toMatchObject({ rows: 2, gaps: 1, duplicates: 3 })
})

test('an import names and skips lines that are not messages', async () => {
  const bad = fileOf('bad', [tradeAt(1_000), '{"type":"tra', tradeAt(1_500, { price: 0 }), tradeAt(2_000)])
  const { imported, complaints } = await importing([bad])
  expect(imported).toMatchObject({ rows: 2, badLines: 2 })
  expect(complaints).toEqual([
    `${bad}:2: not a market message: not JSON`,
    `${bad}:3: not a market message: its price is missing or invalid`,
  ])
})

test.each<[string, () => string[], boolean, RegExp, number]>([
  [
    'a file with an invalid line, with --strict',
    () => [fileOf('strict', [tradeAt(1), 'x'])],
    true,
    /strict:2: not a market message: not JSON/,
    1,
  ],
  [
    'a file without a market message',
    () => [fileOf('empty', ['', '{"type":"pong"}'])],
    false,
    /no market message found/,
    1,
  ],
  ['a file that does not exist', () => [join(folder.path, 'none')], false, /none cannot be read/, 2],
])('an import of %s writes nothing', async (_name, files, strict, says, exitCode) => {
  const path = join(folder.path, 'refused', 'tape.db')
  await expect(importTape(files(), path, { strict, complain: () => {} })).rejects.toMatchObject({
    message: expect.stringMatching(says),
    exitCode,
  })
  expect(existsSync(path)).toBe(false)
})

test('an import does not overwrite an existing journal', async () => {
  const path = folder.write('there/tape.db', 'mine')
  const files = [fileOf('again', [tradeAt(1)])]
  await expect(importTape(files, path, { strict: false, complain: () => {} })).rejects.toMatchObject({
    message: expect.stringContaining('already exists'),
    exitCode: 2,
  })
  expect(readdirSync(join(folder.path, 'there'))).toEqual(['tape.db'])
})
