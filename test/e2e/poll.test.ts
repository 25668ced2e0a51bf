import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { MarketToken } from '../../src/sandbox/market/market.ts'
import { MINT } from '../sandbox/still-market.ts'
import type { BookedOrder } from './books.ts'
import { called } from './called.ts'
import { openRpcProxy } from './rpc-proxy.ts'
import { openStage, orderIn, type Stage, tell } from './stage.ts'
import { until } from './until.ts'

const exits = { stopLossPercent: 20, whenStale: { policy: 'poll', afterSeconds: 1 } } as const

/** Starts a bot whose pools are read through an RPC that can be switched off. */
async function polling(
  options: { readonly chain: 'runtime' | 'small'; readonly mode: 'live' | 'paper' },
  atEnd: Parameters<typeof openStage>[1],
): Promise<{ stage: Stage; node: { isDead: boolean } }> {
  const { chain, mode } = options
  const stage = await openStage({ chain, bots: [{ name: 'puppet', strategy: 'puppet', mode, exits }] }, atEnd)
  const node = { isDead: false }
  const proxy = await openRpcProxy(stage.sandbox.rpcUrl, {
    answer: ({ method, answer }) => (node.isDead && method === 'getMultipleAccounts' ? 403 : answer),
  })
  atEnd(() => proxy.close())
  writeFileSync(join(stage.folder, 'rpc'), proxy.url, { mode: 0o600 })
  stage.configure({
    // With `free`, no paper transaction is lost, and a token that has no sales on the tape can still be sold.
    paper: { model: 'free' },
    service: { units: { tradeAmount: 'sol' }, builderPolicy: stage.sandbox.policy },
  })
  return { stage, node }
}

/** Starts the bots, and opens a position in a token that has no further prints. */
async function buy(stage: Stage, mode: 'live' | 'paper'): ReturnType<Stage['go']> {
  const running = mode === 'live' ? await stage.go() : await stage.start()
  if (mode === 'paper') {
    await until('the feed', () => running.world.feed.state === 'live')
    stage.prints(9)
    await until('a price', () => running.model.rows >= 9)
  }
  expect((await tell(running.handle, stage, 'buy')).answer).toBe('o1')
  await orderIn(stage, 'o1', ({ state }) => state === 'filled')
  return running
}

const sales = (stage: Stage): BookedOrder[] => stage.books().orders.filter(({ side }) => side === 'sell')
const sold = (stage: Stage): Promise<BookedOrder> =>
  until('a filled sale', () => sales(stage).find(({ state }) => state === 'filled'))

/** Sells on the chain without a print on the feed, so that the price of the pool falls. */
function fall(stage: Stage, share: number): void {
  const { curve } = stage.still.token(MINT) as MarketToken
  curve.moveTo(curve.price * share)
}

const readings = (stage: Stage): number => stage.books().inputs.filter(({ kind }) => kind === 'pool').length
const alarms = (stage: Stage): (string | undefined)[] =>
  stage.books().outputs.flatMap(({ kind, code }) => (kind === 'alarm' ? [code] : []))

test.concurrent('if the price falls while the feed is silent, the price of the pool triggers a sale', async ({
  onTestFinished,
}) => {
  const { stage } = await polling({ chain: 'runtime', mode: 'live' }, onTestFinished)
  const running = await buy(stage, 'live')
  await until('a reading', () => readings(stage) > 0)
  expect(sales(stage)).toEqual([])
  fall(stage, 0.5)
  const { id } = await sold(stage)
  await stage.settled()
  await running.stop()
  expect(alarms(stage)).toEqual([])
  expect(await stage.complaints()).toEqual([])
  const { stdout } = await called(['why', id, '--journal', stage.journal])
  const told = stdout.replace(/\s+/g, ' ')
  expect(told).toMatch(/input the pool, read over RPC .* SOL against .* tokens, slot \d+/)
  expect(told).toMatch(/decided puppet: stop-loss: -5/)
})

test.concurrent('on paper, an RPC that does not answer is reported once and triggers no sale; the position is sold when the RPC answers', async ({
  onTestFinished,
}) => {
  const { stage, node } = await polling({ chain: 'small', mode: 'paper' }, onTestFinished)
  const running = await buy(stage, 'paper')
  node.isDead = true
  fall(stage, 0.5)
  const before = readings(stage)
  await until('four readings of the pool without an answer', () => readings(stage) >= before + 4)
  expect(alarms(stage)).toEqual(['POOL_SILENT'])
  expect(sales(stage)).toEqual([])
  node.isDead = false
  await sold(stage)
  await stage.settled()
  await running.stop()
  // The sale is filled at the price of the pool, not of the last print.
  const [paid, got] = ['buy', 'sell'].map(
    (side) => stage.books().fills.find((fill) => fill.side === side)?.tradeLamports,
  )
  expect((got as number) / (paid as number)).toBeLessThan(0.6)
  expect(await stage.complaints()).toEqual([])
})
