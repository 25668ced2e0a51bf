import { readFileSync, writeFileSync } from 'node:fs'
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

test('a paper run, and what makes it differ from backtests on its own tape', async ({ onTestFinished }) => {
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

  const attributed = async (name: string, change: (text: string) => string): Promise<Attributed> => {
    const file = join(venue.folder, `${name}.yaml`)
    const out = join(venue.folder, name)
    writeFileSync(file, change(readFileSync(venue.configFile, 'utf8')))
    expect(await sluice(['backtest', file, '--journal', venue.journal, '--out', out, '--partial'])).toMatchObject({
      code: 0,
    })
    const { code, stdout, stderr } = await sluice(['attribute', venue.journal, out, '--json'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    return JSON.parse(stdout) as Attributed
  }
  const isExplained = ({ gapSol, residualSol }: Attributed): boolean =>
    Math.abs(residualSol) <= Math.max(0.0001, Math.abs(gapSol) * 0.01)
  const factor = ({ factors }: Attributed, name: string): number =>
    factors.find((one) => one.name === name)?.sol ?? Number.NaN
  const sum = ({ factors, residualSol }: Attributed): number =>
    factors.reduce((total, { sol }) => total + sol, residualSol)

  const same = await attributed('same', (text) => text)
  expect(isExplained(same), JSON.stringify(same)).toBe(true)
  expect(factor(same, 'configuration')).toBe(0)

  const other = await attributed('other', (text) =>
    text
      .replace('"rounds":3', '"rounds":3,"sizeSol":0.2')
      .replace('"p50Seconds":0.1,"p95Seconds":0.2', '"p50Seconds":0.15,"p95Seconds":0.3'),
  )
  expect(isExplained(other), JSON.stringify(other)).toBe(true)
  expect(factor(other, 'configuration')).not.toBe(0)
  expect(factor(other, 'latency')).not.toBe(0)
  expect(other.liveSol).toBe(same.liveSol)
  for (const one of [same, other]) {
    expect(sum(one)).toBeCloseTo(one.gapSol, 9)
    expect(one.matched).toBe(one.attempts)
  }
})
