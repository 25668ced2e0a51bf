import { expect, test } from 'vitest'
import { openStage, orderIn, tell } from './stage.ts'
import { until } from './until.ts'

/** An address on which no program listens. */
const UNREACHABLE = [{ url: 'http://127.0.0.1:1', requestsPerSecond: 50 }]
const units = { units: { tradeAmount: 'sol' } }

test('without an answering RPC, a start prints one line per step, buys wait, and a full exit is sent; its outcome follows later', async ({
  onTestFinished,
}) => {
  const stage = await openStage({}, onTestFinished)
  const before = await stage.go()
  expect((await tell(before.handle, stage, 'buy')).answer).toBe('o1')
  await stage.settled()
  await before.stop()

  stage.configure({ service: units, chain: { rpc: UNREACHABLE } })
  const lines = stage.log.length
  const without = await stage.start()
  await until('the feed', () => without.world.feed.state === 'live')
  const { rows } = without.model
  stage.prints(3)
  await until('a price', () => without.model.rows >= rows + 3)
  const steps = [
    'journal: locked',
    'journal open',
    'no RPC answers: entries wait, full exits continue',
    'recovered',
    'running',
  ]
  const said = stage.log.slice(lines)
  const found = steps.map((step) => said.findIndex((line) => line.includes(step)))
  expect(
    found.every((at) => at >= 0),
    said.join('\n'),
  ).toBe(true)
  expect(found).toEqual(found.toSorted((one, other) => one - other))
  expect(steps.map((step) => said.filter((line) => line.includes(step)).length)).toEqual(steps.map(() => 1))

  expect((await tell(without.handle, stage, 'buy')).answer).toBe('CHAIN_UNREAD')
  const sale = stage.requests.length
  expect((await tell(without.handle, stage, 'sell')).answer).toBe('o2')
  await until('the sale at the service', () => stage.requests.slice(sale).includes('POST /api/trade/sell'))
  await orderIn(stage, 'o2', ({ state }, { attempts }) => state === 'working' && attempts.at(-1)?.state === 'acked')
  await without.stop()

  stage.configure({ service: units })
  const again = await stage.go()
  await orderIn(stage, 'o2', ({ state }) => state === 'filled')
  await stage.settled()
  expect((await tell(again.handle, stage, 'buy')).answer).toBe('o3')
  await stage.settled()
  await again.stop()
  expect(await stage.complaints()).toEqual([])
  // Only the feed's trades count. Other data of the service about a wallet or a token is not evidence, and must not be
  // requested.
  expect(new Set(stage.requests)).toEqual(new Set(['POST /api/trade/buy', 'POST /api/trade/sell']))
  expect(stage.requests.filter((request) => request === 'POST /api/trade/sell')).toHaveLength(1)
})

test('if the RPC serves another chain than the configured one, the start is refused with one line', async ({
  onTestFinished,
}) => {
  const stage = await openStage({}, onTestFinished)
  stage.configure({ service: units, chain: { cluster: 'devnet' } })
  const one = stage.run()
  expect(await one.ended).toBe(4)
  expect(one.stderr).toMatch(/sluice: chain\.rpc: RPC number 1 serves another chain/)
  expect(stage.requests).toEqual([])
})
