import { expect, test } from 'vitest'
import { sendCommand } from '../../src/live/control/client.ts'
import type { Fault } from '../../src/sandbox/faults.ts'
import { knowsWallet, segmentsOf } from './books.ts'
import { kill, type Sluice } from './process.ts'
import { openStage, orderIn, type Send, type Stage, tell } from './stage.ts'
import { until } from './until.ts'

/** The time of a Solana slot on the real chain, ms. */
const SLOT_MS = 400
const RETRY_MS = 3_000
const config = { defaults: { exitOrders: { slippageLadder: [50, 90], retrySeconds: RETRY_MS / 1_000 } } }

/** Returns the number of sales that reached the service. */
function sales({ requests }: Stage): number {
  return requests.filter((request) => request === 'POST /api/trade/sell').length
}

async function bought(stage: Stage, send: Send): Promise<void> {
  expect((await tell(send, stage, 'buy')).answer).toBe('o1')
  await orderIn(stage, 'o1', ({ state }) => state === 'filled')
}

/**
 * Returns the attempts of the order: `line` has the id and the slippage in percent, as in `o2.1 50`, and `armedAt` is
 * the time just before the attempt was sent. On a slow machine there may be more attempts, all at the highest slippage.
 */
function attemptsOf(stage: Stage, order: string): { line: string; armedAt: number }[] {
  const own = stage.books().attempts.filter(({ orderId }) => orderId === order)
  return own.map(({ id, slippagePercent, armedAt }) => ({ line: `${id} ${slippagePercent}`, armedAt }))
}

function lose(stage: Stage, kind: Fault['kind'], count = 1): void {
  stage.sandbox.faults.set({ kind, count, target: '/trade/sell' })
}

test.concurrent('if a full exit did not execute and its answer was lost, a second attempt sells after 3 s at the earliest, and no buy is accepted until the outcome of both is proved', async ({
  onTestFinished,
}) => {
  const stage = await openStage({ slotMs: SLOT_MS, config }, onTestFinished)
  const running = await stage.go()
  await bought(stage, running.handle)
  lose(stage, 'dropBefore')
  await tell(running.handle, stage, 'sell')
  await orderIn(stage, 'o2', ({ state }) => state === 'filled')
  expect((await tell(running.handle, stage, 'buy')).answer).toBe('EXIT_UNPROVED')
  await running.stop()
  expect(await stage.complaints()).toEqual([])
  const [first, second, ...more] = attemptsOf(stage, 'o2')
  expect([first?.line, second?.line]).toEqual(['o2.1 50', 'o2.2 90'])
  expect(more.map(({ line }) => line)).toEqual(more.map((_, index) => `o2.${index + 3} 90`))
  // The interval is measured by the clock of the bots, because the arrival time of a request depends on the machine.
  expect((second?.armedAt ?? 0) - (first?.armedAt ?? 0)).toBeGreaterThanOrEqual(RETRY_MS - 50)
  expect(stage.books().positions.map(({ state }) => state)).toEqual(['closed'])
})

test.concurrent('if a full exit executed and its answer was lost, the chain shows one fill, and the second attempt finds nothing to sell', async ({
  onTestFinished,
}) => {
  // On a busy machine, the answer to the second attempt may be lost as well. The proof of its outcome then waits
  // `lateSeconds` for a late execution.
  const service = { units: { tradeAmount: 'sol' }, lateSeconds: 1 }
  const stage = await openStage({ slotMs: SLOT_MS, config: { ...config, service } }, onTestFinished)
  const running = await stage.go()
  await bought(stage, running.handle)
  lose(stage, 'dropAfter')
  await tell(running.handle, stage, 'sell')
  await orderIn(stage, 'o2', ({ state }) => state === 'filled')
  await stage.settled()
  await until('the buy lane', async () => (await tell(running.handle, stage, 'buy')).answer === 'o3')
  await running.stop()
  expect(await stage.complaints()).toEqual([])
  expect(stage.books().fills.filter(({ orderId }) => orderId === 'o2')).toHaveLength(1)
})

test.concurrent('after a kill with two open attempts of an exit, neither is sent again, both outcomes are searched for, and the next attempt sells', async ({
  onTestFinished,
}) => {
  const stage = await openStage({ slotMs: 100, config }, onTestFinished)
  const [one, send] = await process(stage)
  await bought(stage, send)
  lose(stage, 'dropBefore', 100)
  await tell(send, stage, 'sell')
  await until('two attempts', () => sales(stage) >= 2)
  await kill(one)
  const out = sales(stage)
  stage.sandbox.faults.clear()
  const [next, sendNext] = await process(stage)
  await orderIn(stage, 'o2', ({ state }) => state === 'filled')
  expect((await tell(sendNext, stage, 'buy')).answer).toBe('EXIT_UNPROVED')
  next.child.kill('SIGINT')
  expect(await next.ended).toBe(0)
  expect(await stage.complaints()).toEqual([])
  const attempts = attemptsOf(stage, 'o2')
  expect(attempts.length).toBeGreaterThan(out)
  expect(sales(stage)).toBeLessThanOrEqual(attempts.length)
  expect(attempts.map(({ line }) => line)).toEqual(
    attempts.map((_, index) => `o2.${index + 1} ${index === 0 ? 50 : 90}`),
  )
})

/** Starts a process that trades on the venue of `stage`, and waits until its bot may buy. */
async function process(stage: Stage): Promise<[Sluice, Send]> {
  const segment = segmentsOf(stage.journal) + 1
  const one = stage.run()
  await until('its start', () => /"msg":"running"/.test(one.stderr))
  await until('the balance', () => knowsWallet(stage.books(), segment))
  await until('the feed', async () => {
    stage.prints(3)
    return ((await sendCommand(stage.journal, { command: 'status' })) as { rows: number }).rows >= 3
  })
  return [one, (command) => sendCommand(stage.journal, command)]
}
