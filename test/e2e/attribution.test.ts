import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { sluice } from './process.ts'
import { until } from './until.ts'
import { openVenue } from './venue.ts'

vi.setConfig({ testTimeout: 120_000 })

interface Attributed {
  readonly liveSol: number
  readonly backtestSol: number
  readonly gapSol: number
  readonly factors: { name: string; sol: number }[]
  readonly residualSol: number
  readonly attempts: number
  readonly matched: number
}

test('a paper run, and what makes it differ from the backtest of its own tape', async ({ onTestFinished }) => {
  const venue = await openVenue(
    {
      bots: [{ name: 'trips', strategy: 'round-trips', mode: 'paper', params: { rounds: 3 } }],
      config: { paper: { latency: { p50Seconds: 0.1, p95Seconds: 0.2 } } },
    },
    onTestFinished,
  )
  const running = await venue.start()
  await until('fills on paper', () => running.tally.fills.size >= 12)
  await running.stop()

  // What each thing that differs comes to is shown in test/attribution.test.ts; here it goes through the commands.
  const out = join(venue.folder, 'out')
  const made = await sluice(['backtest', venue.configFile, '--journal', venue.journal, '--out', out, '--partial'])
  expect(made).toMatchObject({ code: 0 })
  const { code, stdout, stderr } = await sluice(['attribute', venue.journal, out, '--json'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const found = JSON.parse(stdout) as Attributed
  const { gapSol, residualSol, factors } = found
  expect(Math.abs(residualSol), stdout).toBeLessThanOrEqual(Math.max(0.0001, Math.abs(gapSol) * 0.01))
  expect(factors.find(({ name }) => name === 'configuration')?.sol).toBe(0)
  expect(factors.reduce((total, { sol }) => total + sol, residualSol)).toBeCloseTo(gapSol, 9)
  expect(found.matched).toBe(found.attempts)
})
