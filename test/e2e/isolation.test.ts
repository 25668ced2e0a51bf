import { expect, test, vi } from 'vitest'
import { MINT } from '../sandbox/still-market.ts'
import { openStage, orderIn, tell } from './stage.ts'
import { until } from './until.ts'

vi.setConfig({ testTimeout: 120_000 })

test('a handler that never comes back', async ({ onTestFinished }) => {
  const bots = [
    { name: 'wild', strategy: 'hostile' },
    { name: 'calm', strategy: 'puppet' },
  ] as const
  const stage = await openStage({ bots, isolate: true }, onTestFinished)
  const running = await stage.go()
  expect((await tell(running.handle, stage, 'buy', 'calm')).answer).toBe('o1')
  await orderIn(stage, 'o1', ({ state }) => state === 'filled')
  await running.handle({ command: 'signal', signal: 'loop', data: { to: 'wild', mint: MINT } })
  const alarm = await until('the alarm', () => stage.books().outputs.find(({ kind }) => kind === 'alarm'))
  expect(alarm).toMatchObject({ bot: 'wild', code: 'STRATEGY_STOPPED' })
  stage.prints(5)
  expect((await tell(running.handle, stage, 'sell', 'calm')).answer).toBe('o2')
  await orderIn(stage, 'o2', ({ state }) => state === 'filled')
  await stage.settled()
  await running.stop()
  expect(await stage.complaints()).toEqual([])
})
