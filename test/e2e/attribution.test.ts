import { join } from 'node:path'
import { expect, test } from 'vitest'
import { called } from './called.ts'
import { until } from './until.ts'
import { openVenue } from './venue.ts'

interface Difference {
  readonly liveSol: number
  readonly backtestSol: number
  readonly gapSol: number
  readonly factors: { name: string; sol: number }[]
  readonly residualSol: number
}

interface Attributed extends Difference {
  readonly bots: (Difference & { bot: string; mode: string; apart: object | null })[]
  readonly starts: number
  readonly attempts: number
  readonly matched: number
  readonly notes: string[]
}

test('`attribute` explains the difference between a run with three kinds of bots and the backtest of its tape', async ({
  onTestFinished,
}) => {
  const trips = { strategy: 'round-trips', params: { rounds: 2 } } as const
  const venue = await openVenue(
    {
      bots: [
        { ...trips, name: 'cloud' },
        { ...trips, name: 'signed', executor: 'local' },
        { ...trips, name: 'paper', mode: 'paper', params: { rounds: 6 } },
      ],
      speed: 10,
    },
    onTestFinished,
  )
  const { keypair, policy, wallet } = venue.sandbox
  venue.configure({
    service: { builderPolicy: policy },
    wallet: { publicKey: wallet, keypair: `file:${keypair}` },
    paper: { latency: { p50Seconds: 0.1, p95Seconds: 0.2 } },
  })
  const fillsOf = (bot: string): number => venue.books().fills.filter((fill) => fill.bot === bot).length
  for (const fills of [2, 4]) {
    const running = await venue.start()
    const before = fillsOf('paper')
    await until(
      'fills of every bot',
      () => fillsOf('paper') >= before + fills && fillsOf('cloud') > 1 && fillsOf('signed') > 1,
    )
    await running.stop()
  }

  // test/backtest/replay/attribution.test.ts tests each cause alone. This test uses the commands.
  const out = join(venue.folder, 'out')
  const made = await called(['backtest', venue.configFile, '--journal', venue.journal, '--out', out, '--partial'])
  expect(made, made.stderr).toMatchObject({ code: 0 })
  const { code, stdout, stderr } = await called(['attribute', venue.journal, out, '--json'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const found = JSON.parse(stdout) as Attributed
  console.log(
    found.bots
      .map(({ bot, gapSol, residualSol }) => `${bot}: gap ${gapSol} SOL, not explained ${residualSol} SOL`)
      .join('\n'),
  )
  expect(found).toMatchObject({ starts: 2, notes: [] })
  expect(found.factors.find(({ name }) => name === 'configuration')?.sol).toBe(0)
  for (const one of [found, ...found.bots])
    expect(one.factors.reduce((total, { sol }) => total + sol, one.residualSol)).toBeCloseTo(one.gapSol, 9)
  for (const { residualSol, gapSol } of [found, ...found.bots])
    expect(Math.abs(residualSol), stdout).toBeLessThanOrEqual(Math.max(0.0001, Math.abs(gapSol) / 100))
})
