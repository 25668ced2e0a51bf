import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { UnitWitness } from '../../src/runtime/unit-witness.ts'
import { blockOf, RIGHT, type Row, sandboxRows, trades, WRONG } from '../support/unit-rows.ts'

/** The path of a file of real trades and launches; '' if the variable is not set. The file is not in the repository. */
const REAL = process.env.SLUICE_REAL_DATA ?? ''

function realRows(): Row[] {
  const lines = readFileSync(REAL, 'utf8').trim().split('\n')
  return lines.flatMap((line): Row[] => {
    const row = JSON.parse(line)
    const { type, mint, timestamp: time, marketCap, price = Number.NaN, tokensTraded: tokens = Number.NaN } = row
    if (type !== 'trade' && type !== 'newToken') return []
    return [{ type, time, mint, amount: row.amount ?? row.initialLiquidity, tokens, price, marketCap }]
  })
}

function unitOf(rows: readonly Row[]) {
  const witness = new UnitWitness()
  const block = blockOf(rows)
  witness.rows(block, 0, block.length)
  return witness.verdict()
}

describe('a tape on which tokens trade from their launch on', () => {
  const rows = sandboxRows()

  test.each(WRONG)('the wrong unit of the amounts is recognised by launches: %s', (_name, change, unit) => {
    const found = unitOf(rows.map(change))
    expect(found.unit).toBe('other')
    expect(found.text).toMatch(unit)
  })

  test.each(RIGHT)('amounts in SOL are recognised by launches: %s', (_name, change) => {
    expect(unitOf(rows.map(change)).unit).toBe('sol')
  })

  test('if there are no launches, the unit is assumed, and an unusual level of prices is reported', () => {
    const bought = rows.filter(({ type }) => type === 'trade')
    expect(unitOf(bought)).toEqual({ unit: 'assumed', text: expect.stringMatching(/not enough launches/) })
    expect(unitOf(bought.map(trades(1, 1e6, 1))).text).toMatch(/base units/)
    expect(unitOf([]).unit).toBe('assumed')
  })

  test('launches at the price of another kind of curve do not contradict the unit', () => {
    expect(unitOf(rows.map(trades(0.2, 1, 0.2))).unit).toBe('assumed')
  })
})

describe.skipIf(!existsSync(REAL))(
  `real data (SLUICE_REAL_DATA is ${REAL === '' ? 'not set, so this is skipped' : REAL})`,
  () => {
    test('the amounts in real data are recognised as SOL, and amounts in another unit are never taken for SOL', () => {
      const rows = realRows()
      expect(unitOf(rows).unit).toBe('sol')
      for (const [name, change] of WRONG) expect(unitOf(rows.map(change)).unit, name).not.toBe('sol')
    })
  },
)
