import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { lamports } from '../../../src/base/units.ts'
import type { Fill } from '../../../src/engine/order.ts'
import { openReader } from '../../../src/journal/reader/reader.ts'
import { exportTax } from '../../../src/journal/reader/tax-export.ts'
import { openJournal } from '../../../src/journal/writer/journal.ts'
import { ACCOUNT, fill, journalPath, keyOf, NO_LIMITS, position, start } from '../../support/journal-samples.ts'

const MINT = keyOf(77)
const at = (minute: number): number => Date.UTC(2026, 0, 2, 3, minute)
let path = ''
let csv = ''

/** Returns a fill of `tokens` whole tokens. The token has 2 decimals. */
function trade(number: number, side: Fill['side'], tokens: number, sol: number, more: Partial<Fill> = {}): Fill {
  return fill(number, {
    ...{ side, mint: MINT, bot: '=cmd()', tokens: BigInt(tokens * 100), decimals: 2, slot: number, time: at(number) },
    ...{ tradeLamports: lamports(sol * 1e9), feeLamports: lamports(3_000), final: true },
    ...more,
  })
}

beforeAll(async () => {
  path = journalPath()
  const journal = openJournal(path, { space: NO_LIMITS, onFailure: (error) => expect.fail(error.message) })
  journal.input(1, at(0), start(1))
  const fills = [
    trade(1, 'buy', 10, 1),
    trade(2, 'buy', 10, 3),
    trade(3, 'sell', 15, 4.5),
    trade(7, 'sell', 10, 2),
    trade(8, 'buy', 1, 1, { account: 'paper|host||dips' }),
    trade(9, 'sell', 1, 9, { account: 'paper|host||dips' }),
    trade(10, 'sell', 1, 1, { final: false }),
    trade(11, 'buy', 1, 1, { account: 'live|sandbox|genesis|wallet' }),
    trade(12, 'sell', 1, 9, { account: 'live|sandbox|genesis|wallet' }),
  ]
  // In any order.
  for (const one of fills.toReversed()) journal.write({ kind: 'fill', fill: one })
  journal.input(5, at(4), { kind: 'adopt', account: ACCOUNT, bot: 'dips', mint: MINT, tokens: 400n, decimals: 2 })
  const given = position(1, { mint: MINT, bot: 'dips', costLamports: lamports(2e9) })
  journal.output(5, at(4), 0, { kind: 'position', position: position(2, { mint: keyOf(78) }) })
  journal.output(5, at(4), 1, { kind: 'position', position: given })
  journal.output(5, at(4), 2, { kind: 'position', position: { ...given, state: 'closing' } })
  journal.input(6, at(6), { kind: 'deficit', account: ACCOUNT, mint: MINT, tokens: 700n })
  journal.output(6, at(6), 0, { kind: 'position', position: { ...given, tokens: 700n } })
  await journal.close()
  csv = join(dirname(path), 'tax.csv')
})

test('the tax export uses first in, first out, has one line per lot with exact amounts, and contains only final fills with real money', () => {
  expect(exportTax([path, path], csv)).toEqual({ file: csv, disposals: 5, notFinal: 1, sandbox: 2, unknownCost: 1 })
  const [header, ...lines] = readFileSync(csv, 'utf8').trimEnd().split('\n')
  expect(header).toMatch(/^Date Acquired,Date Sold,Asset,Amount,Proceeds,Cost Basis,Fees,Gain,Currency,Wallet,Bot,/)
  const short = lines.map((line) => line.split(',').toSpliced(2, 1).slice(0, 7).join(' '))
  expect(short).toEqual(
    [
      '2026-01-02T03:01:00Z 2026-01-02T03:03:00Z 10 3 1 0.000005 1.999995',
      '2026-01-02T03:02:00Z 2026-01-02T03:03:00Z 5 1.5 1.5 0.0000025 -0.0000025',
      // 5 tokens of the second buy and 4 adopted tokens were left. A third party took the 2 oldest, so the sale of 10
      // tokens uses up 3 of the second buy, the 4 adopted ones, and 3 of unknown cost.
      '2026-01-02T03:02:00Z 2026-01-02T03:07:00Z 3 0.6 0.9 0.0000018 -0.3000018',
      '2026-01-02T03:04:00Z 2026-01-02T03:07:00Z 4 0.8 2 0.0000012 -1.2000012',
      ' 2026-01-02T03:07:00Z 3 0.6 0 0.0000009 0.5999991',
    ].slice(0, lines.length),
  )
  expect(lines[0]).toContain(",SOL,wallet,'=cmd(),")
})

test('the tax export counts adopted tokens once, even if the adoption changes positions several times', () => {
  const reader = openReader(path)
  const adopted = reader.movements().filter(({ kind }) => kind === 'adopted')
  reader.close()
  expect(adopted).toMatchObject([{ mint: MINT, tokens: 400n, costLamports: 2e9 }])
})

test('the tax export keeps an existing file, and names a file that cannot be written', () => {
  writeFileSync(`${csv}.mine`, 'mine')
  expect(() => exportTax([path], `${csv}.mine`)).toThrow('already exists; choose a new file')
  expect(readFileSync(`${csv}.mine`, 'utf8')).toBe('mine')
  expect(() => exportTax([path], '/dev/null/tax.csv')).toThrow('/dev/null/tax.csv cannot be written')
})

test('the tax export contains a sale once, even if an old copy of the journal contains it as well', async () => {
  const sale = trade(3, 'sell', 5, 4)
  const written = async (name: string, last: Fill): Promise<string> => {
    const file = join(dirname(path), name)
    const journal = openJournal(file, { space: NO_LIMITS, onFailure: (error) => expect.fail(error.message) })
    for (const one of [trade(1, 'buy', 10, 1), last]) journal.write({ kind: 'fill', fill: one })
    await journal.close()
    return file
  }
  const copy = await written('copy.db', { ...sale, final: false })
  const whole = await written('whole.db', sale)
  for (const [index, journals] of [
    [copy, whole],
    [whole, copy],
  ].entries())
    expect(exportTax(journals, `${csv}.${index}`)).toMatchObject({ disposals: 1, notFinal: 0, unknownCost: 0 })
})
