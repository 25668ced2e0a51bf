import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { modelCode } from '../../bench/pools/record.ts'
import { EXACT_POOLS } from '../../src/backtest/report/exact-pools.ts'

test('the recorded measurement belongs to the present fill model (if not, run `npm run pools -- --record`)', () => {
  expect(modelCode()).toBe(EXACT_POOLS.code)
})

test('the recorded measurement covers at least 20 seeds and 15 bots', () => {
  expect(EXACT_POOLS.seeds).toBeGreaterThanOrEqual(20)
  expect(EXACT_POOLS.bots).toBeGreaterThanOrEqual(15)
})

test('the hash of the fill model changes with its code, and does not change with its comments', () => {
  const root = `${mkdtempSync(join(tmpdir(), 'sluice-model-'))}/`
  cpSync('src', `${root}src`, { recursive: true })
  const file = `${root}src/simulation/own-impact.ts`
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, `// A comment.\n${text}`)
  expect(modelCode(root)).toBe(modelCode())
  writeFileSync(file, text.replace('1_000', '1_001'))
  expect(modelCode(root)).not.toBe(modelCode())
})
