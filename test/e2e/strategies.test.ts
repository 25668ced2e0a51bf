import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { MarketToken } from '../../src/sandbox/market/market.ts'
import { MINT } from '../sandbox/still-market.ts'
import { openStage, orderIn, tell } from './stage.ts'
import { until } from './until.ts'

test('after a strategy throws, its bot only sells, and the other bots continue', async ({ onTestFinished }) => {
  const bots = [
    { name: 'wild', strategy: 'puppet', exits: { stopLossPercent: 20 } },
    { name: 'calm', strategy: 'puppet', mode: 'paper' },
  ] as const
  const stage = await openStage({ bots, config: { paper: { model: 'free' } } }, onTestFinished)
  const running = await stage.go()
  expect((await tell(running.handle, stage, 'buy', 'wild')).answer).toBe('o1')
  await orderIn(stage, 'o1', ({ state }) => state === 'filled')
  await running.handle({ command: 'signal', signal: 'throw', data: { to: 'wild', mint: MINT } })
  const alarm = await until('the alarm', () => stage.books().outputs.find(({ kind }) => kind === 'alarm'))
  const place = join(stage.folder, 'puppet.ts:12:35')
  expect(alarm).toMatchObject({ bot: 'wild', code: 'STRATEGY_THREW', reason: `${place}: Error: told to` })
  expect(stage.log).toContainEqual(
    expect.stringContaining(` place=${place} reason=Error: told to stack=["Object.onSignal (${place})"`),
  )
  expect((await tell(running.handle, stage, 'buy', 'calm')).answer).toBe('o2')
  await until('a paper fill', () => {
    stage.prints(1)
    return stage.books().fills.some(({ bot }) => bot === 'calm')
  })
  const { curve } = stage.still.token(MINT) as MarketToken
  curve.moveTo(curve.price / 2)
  const exit = await until('the exit', () => {
    stage.prints(1)
    return stage.books().orders.find(({ bot, side }) => bot === 'wild' && side === 'sell')
  })
  await orderIn(stage, exit.id, ({ state }) => state === 'filled')
  await running.stop()
  expect(
    stage
      .books()
      .positions.map(({ bot, state }) => `${bot} ${state}`)
      .sort(),
  ).toEqual(['calm open', 'wild closed'])
})
