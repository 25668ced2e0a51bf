import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { runs } from '../support/runs.ts'

const script = fileURLToPath(new URL('../support/recorded-run.main.ts', import.meta.url))
/** CI runs five times as many rows. */
const ROWS = runs(30_000)
const inAnotherProcess = (seed: number): { hash: string; orders: number; fills: number } =>
  JSON.parse(
    execFileSync(process.execPath, ['--conditions', 'development', script, String(ROWS), String(seed)], {
      encoding: 'utf8',
    }),
  )

it(`two processes with the same seed make the same decisions over ${ROWS} rows, and with another seed other decisions`, () => {
  const first = inAnotherProcess(1)
  const second = inAnotherProcess(1)
  expect(first.orders).toBeGreaterThan(100)
  expect(first.fills).toBeGreaterThan(100)
  expect(second).toEqual(first)
  expect(inAnotherProcess(2).hash).not.toBe(first.hash)
})
