import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { sendCommand } from '../../src/runtime/control-client.ts'
import type { Fault } from '../../src/sandbox/faults.ts'
import { kill, type Sluice } from './process.ts'
import { openStage, orderIn, type Send, type Stage, tell } from './stage.ts'
import { until } from './until.ts'

/** Of the chain itself. */
const SLOT_MS = 400
const RETRY_MS = 3_000
const config = { defaults: { exitOrders: { slippageLadder: [50, 90], retrySeconds: RETRY_MS / 1_000 } } }
const SECOND_ATTEMPT_MS = 3_500
const KNOWN_MS = 5_000

/** When each sale reached the service. */
function sales({ requests, requestedAt }: Stage): number[] {
  return requestedAt.filter((_at, index) => requests[index] === 'POST /api/trade/sell')
}

async function bought(stage: Stage, send: Send): Promise<void> {
  expect((await tell(send, stage, 'buy')).answer).toBe('o1')
  await orderIn(stage, 'o1', ({ state }) => state === 'filled')
}

function lose(stage: Stage, kind: Fault['kind'], count = 1): void {
  stage.sandbox.faults.set({ kind, count, target: '/trade/sell' })
}

test.concurrent('not executed, its answer lost: a second attempt within 3.5 s sells; nothing is bought until both are proved', async ({
  onTestFinished,
}) => {
  const stage = await openStage({ slotMs: SLOT_MS, config }, onTestFinished)
  const running = await stage.go()
  await bought(stage, running.handle)
  lose(stage, 'dropBefore')
  const start = performance.now()
  await tell(running.handle, stage, 'sell')
  await orderIn(stage, 'o2', ({ state }) => state === 'filled')
  const [first = 0, second = Number.POSITIVE_INFINITY] = sales(stage)
  console.log(
    `full exit whose first answer is lost: attempts reached the service ${ms(first - start)} and ${ms(second - start)} after it was asked for, filled after ${ms(performance.now() - start)}`,
  )
  expect(second - start).toBeLessThanOrEqual(SECOND_ATTEMPT_MS)
  expect(second - first).toBeGreaterThanOrEqual(RETRY_MS - 50)
  expect((await tell(running.handle, stage, 'buy')).answer).toBe('EXIT_UNPROVED')
  await running.stop()
  expect(await stage.complaints()).toEqual([])
  const { attempts, positions } = stage.books()
  expect(attempts.map(({ id, slippagePercent }) => `${id} ${slippagePercent}`)).toEqual([
    'o1.1 50',
    'o2.1 50',
    'o2.2 90',
  ])
  expect(positions.map(({ state }) => state)).toEqual(['closed'])
})

test.concurrent('executed, its answer lost: known within 5 s, one fill, and what went after it finds nothing to sell', async ({
  onTestFinished,
}) => {
  const stage = await openStage({ slotMs: SLOT_MS, config }, onTestFinished)
  const running = await stage.go()
  await bought(stage, running.handle)
  lose(stage, 'dropAfter')
  const start = performance.now()
  await tell(running.handle, stage, 'sell')
  await orderIn(stage, 'o2', ({ state }) => state === 'filled')
  const known = performance.now() - start
  console.log(`full exit that executed with its answer lost: known after ${ms(known)}, ${sales(stage).length} attempts`)
  expect(known).toBeLessThanOrEqual(KNOWN_MS)
  await stage.settled()
  await until('the buy lane', async () => (await tell(running.handle, stage, 'buy')).answer === 'o3')
  await running.stop()
  expect(await stage.complaints()).toEqual([])
  expect(stage.books().fills.filter(({ orderId }) => orderId === 'o2')).toHaveLength(1)
})

test.concurrent('killed with two attempts out: both are looked up, none is sent again, the third sells', async ({
  onTestFinished,
}) => {
  const stage = await openStage({ slotMs: 100, config }, onTestFinished)
  const [one, send] = await process(stage)
  await bought(stage, send)
  lose(stage, 'dropBefore', 2)
  await tell(send, stage, 'sell')
  await until('two attempts', () => sales(stage).length === 2)
  await kill(one)
  const [next, sendNext] = await process(stage)
  await orderIn(stage, 'o2', ({ state }) => state === 'filled')
  expect((await tell(sendNext, stage, 'buy')).answer).toBe('EXIT_UNPROVED')
  next.child.kill('SIGINT')
  expect(await next.ended).toBe(0)
  expect(sales(stage)).toHaveLength(3)
  expect(await stage.complaints()).toEqual([])
  expect(stage.books().attempts.map(({ id }) => id)).toEqual(['o1.1', 'o2.1', 'o2.2', 'o2.3'])
})

/** A process on the stage that may buy. */
async function process(stage: Stage): Promise<[Sluice, Send]> {
  const one = stage.run()
  const wallets = (): number => stage.books().inputs.filter(({ kind }) => kind === 'wallet').length
  const before = existsSync(stage.journal) ? wallets() : 0
  await until('its start', () => /"msg":"running"/.test(one.stderr))
  await until('the balance', () => wallets() > before)
  await until('the feed', async () => {
    stage.prints(3)
    return ((await sendCommand(stage.journal, { command: 'status' })) as { rows: number }).rows >= 3
  })
  return [one, (command) => sendCommand(stage.journal, command)]
}

function ms(time: number): string {
  return `${Math.round(time)} ms`
}
