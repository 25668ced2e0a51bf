import { afterEach, describe, expect, test } from 'vitest'
import { seededRandom } from '../../../src/base/random.ts'
import { solToLamports } from '../../../src/base/units.ts'
import { openRpcs } from '../../../src/chain/rpc/rpc.ts'
import { LiveWallet } from '../../../src/chain/wallet/live-wallet.ts'
import type { Input } from '../../../src/engine/messages.ts'
import { eventOf, type MarketEvent } from '../../../src/market/block.ts'
import { Mints } from '../../../src/market/mints.ts'
import type { Attempt } from '../../../src/orders/attempt.ts'
import type { Outcome } from '../../../src/orders/ports.ts'
import { openHttp } from '../../../src/venues/http.ts'
import { CloudExecutor } from '../../../src/venues/token-service/cloud-executor.ts'
import { Feed } from '../../../src/venues/token-service/feed.ts'
import { dialWebSocket } from '../../../src/venues/web-socket.ts'
import { openRig, type Rig } from '../../sandbox/client.ts'
import { MINT } from '../../sandbox/still-market.ts'
import { buyAttempt, sellAttempt } from '../../support/attempts.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** Turns of the event loop, and of the sandbox's time, until something is true. */
async function until(rig: Rig, condition: () => boolean, slots = 0): Promise<void> {
  for (let turn = 0; turn < 20_000; turn++) {
    if (condition()) return
    if (turn % 20 === 0 && slots > 0) rig.advance(slots)
    await new Promise(setImmediate)
  }
  expect.fail('it never came')
}

function openFeed(rig: Rig, keys: string[], apiKey = rig.apiKeys.standard) {
  const events: MarketEvent[] = []
  const inputs: Input[] = []
  const told: string[] = []
  const feed = new Feed('the service', {
    url: rig.wsUrl,
    apiKey: () => apiKey,
    dial: dialWebSocket,
    clock: rig.clock,
    random: seededRandom(1),
    mints: new Mints(),
    pace: (job) => job(),
    isHeld: () => true,
    load: () => 0,
    on: {
      authenticated: (_user, plan) => told.push(`plan ${plan.toLowerCase()}`),
      refused: () => told.push('refused'),
      misfit: (why) => told.push(`misfit ${why}`),
      notice: () => {},
    },
  })
  feed.want(keys)
  const stop = feed.start({
    rows: (block, from, to) => {
      events.push(eventOf(block, from))
      return Math.min(to, from + 1)
    },
    post: (input) => void inputs.push(input),
  })
  closing.push(stop)
  return { feed, events, inputs, told }
}

async function openExecutor(rig: Rig) {
  const { http, close } = openHttp()
  closing.push(close)
  const { clock, genesisHash: genesis } = rig
  const wallet = new LiveWallet({
    rpcs: openRpcs({ http, clock, urls: [rig.rpcUrl], pace: (_url, _call, run) => run() }),
    ...{ clock, monotonicMs: () => clock.now(), boot: 'b', account: 'a', genesis, wallet: rig.wallet },
    ...{ lateMs: 120_000, secondOpinionLamports: 1e9, past: { cursor: undefined, transactions: [], watches: [] } },
    ...{ booked: () => new Map(), write: () => {}, late: () => expect.fail('late') },
    ...{ paid: () => expect.fail('paid'), standIn: () => expect.fail('stand-in') },
    on: {
      ...{ gate: () => {}, foreign: () => expect.fail('foreign'), deficit: () => expect.fail('deficit') },
      ...{ landed: () => {}, notice: () => {}, alarm: () => expect.fail('alarm'), undecided: () => {} },
    },
  })
  closing.push(async () => wallet.stop())
  wallet.start()
  await until(rig, () => wallet.baseline() !== null)
  const executor = new CloudExecutor({
    http,
    clock: rig.clock,
    baseUrl: rig.baseUrl,
    apiKey: () => rig.apiKeys.standard,
    wallet: rig.wallet,
    maxBuyLamports: () => solToLamports(100),
    sellUnit: () => 'unproved',
    holding: () => undefined,
    resolve: wallet.resolver,
  })
  const run = async (attempt: Attempt): Promise<Outcome[]> => {
    const outcomes: Outcome[] = []
    const armed = { ...attempt, baseline: wallet.baseline() }
    executor.execute(armed, (outcome) => outcomes.push(outcome))
    await until(rig, () => outcomes.some(isEnd), 2)
    return outcomes
  }
  return { executor, run, resolver: wallet.resolver }
}

function isEnd(outcome: Outcome): boolean {
  return 'final' in outcome ? outcome.final : outcome.kind === 'refused'
}

const dialects = Array.from({ length: 12 }, (_, seed) => seed)

describe.each(dialects)('dialect %d', (dialect) => {
  test('the feed delivers every kind of record, once', async () => {
    const rig = await openRig({ dialect })
    closing.push(() => rig.close())
    const { feed, events, told, inputs } = openFeed(rig, ['trades', 'newTokens', 'priceUpdates', MINT])
    await until(rig, () => feed.state === 'live')
    rig.still.launch()
    for (let count = 0; count < 5; count++) rig.still.trade('buy', 100_000_000n)
    rig.still.priceUpdate()
    await until(rig, () => events.length === 7)
    expect(events.map(({ type }) => type)).toEqual(['newToken', ...Array(5).fill('trade'), 'priceUpdate'])
    expect(new Set(events.map(({ mint }) => mint))).toEqual(new Set([MINT]))
    expect(told.filter((text) => !/unknown/.test(text))).toEqual(['plan standard'])
    expect(inputs.at(-1)).toMatchObject({ kind: 'feed', status: 'live' })
  })

  test('a buy and a sale of everything fill, provisional and final', async () => {
    const rig = await openRig({ dialect })
    closing.push(() => rig.close())
    const { run } = await openExecutor(rig)
    const armed = { executor: 'cloud' as const, armedAt: rig.clock.now(), slippagePercent: 30 }
    const bought = await run(buyAttempt(MINT, 0.1, armed))
    expect(bought.map(({ kind }) => kind)).toEqual(['acked', 'filled', 'filled'])
    const sold = await run(sellAttempt(MINT, { ...armed, id: 'o2.1', orderId: 'o2', armedAt: rig.clock.now() }))
    expect(sold.map(({ kind }) => kind)).toEqual(['acked', 'filled', 'filled'])
    const fills = [...bought, ...sold].flatMap((one) => (one.kind === 'filled' && one.final ? [one.fill] : []))
    const [entry, exit] = fills
    expect(exit?.tokens).toBe(entry?.tokens)
    const changed = fills.reduce((sum, { walletLamports }) => sum + walletLamports, 0)
    expect(rig.ledger.account(rig.wallet, 'confirmed')?.lamports).toBe(10_000_000_000 + changed)
    expect(Math.abs((entry?.tradeLamports ?? 0) - 100_000_000)).toBeLessThan(32_000_000)
  })

  test.each<[string, Attempt, string]>([
    ['more than there is', buyAttempt(MINT, 50, { slippagePercent: 50 }), 'INSUFFICIENT_BALANCE'],
    ['a mint that does not exist', buyAttempt('SysvarC1ock11111111111111111111111111111111', 0.1), 'INVALID_MINT'],
  ])('%s is refused', async (_name, attempt, code) => {
    const rig = await openRig({ dialect })
    closing.push(() => rig.close())
    const outcomes = await (await openExecutor(rig)).run({ ...attempt, armedAt: rig.clock.now() })
    expect(outcomes).toEqual([expect.objectContaining({ kind: 'refused', code, retry: 'never' })])
  })
})

test('a wrong key is refused, and not tried again', async () => {
  const rig = await openRig()
  closing.push(() => rig.close())
  const { feed, told } = openFeed(rig, ['trades'], 'wrong')
  await until(rig, () => feed.state === 'refused')
  expect(told).toEqual(['refused'])
})

describe('faults', () => {
  test('an answer that is lost after the order was executed: unknown, until the feed shows the trade', async () => {
    const rig = await openRig()
    closing.push(() => rig.close())
    const { executor, resolver } = await openExecutor(rig)
    const { feed, events } = openFeed(rig, [MINT])
    await until(rig, () => feed.state === 'live')
    rig.faults.set({ kind: 'dropAfter' })
    const outcomes: Outcome[] = []
    executor.execute(buyAttempt(MINT, 0.1, { armedAt: rig.clock.now() }), (outcome) => outcomes.push(outcome))
    await until(rig, () => outcomes.length > 0)
    expect(outcomes.map(({ kind }) => kind)).toEqual(['unknown'])
    await until(rig, () => events.length > 0, 1)
    const [trade] = events
    if (trade?.type === 'trade' && trade.trader === rig.wallet) resolver.hint(trade.mint, trade.signature)
    await until(rig, () => outcomes.some(isEnd), 2)
    expect(outcomes.map(({ kind }) => kind)).toEqual(['unknown', 'filled', 'filled'])
  })

  test('a fork takes the transaction back, and it lands again: the final fill is what counts', async () => {
    const rig = await openRig()
    closing.push(() => rig.close())
    const { run } = await openExecutor(rig)
    rig.faults.set({ kind: 'fork', slots: 8 })
    const outcomes = await run(buyAttempt(MINT, 0.1, { armedAt: rig.clock.now() }))
    expect(outcomes[0]?.kind).toBe('acked')
    expect(outcomes.at(-1)).toMatchObject({ kind: 'filled', final: true })
  })

  test('a transaction that reverts', async () => {
    const rig = await openRig()
    closing.push(() => rig.close())
    const { run } = await openExecutor(rig)
    rig.faults.set({ kind: 'reverted' })
    const outcomes = await run(buyAttempt(MINT, 0.1, { armedAt: rig.clock.now() }))
    expect(outcomes.at(-1)).toMatchObject({ kind: 'reverted', final: true })
    expect((outcomes.at(-1) as { feeLamports: number }).feeLamports).toBeGreaterThanOrEqual(5_000)
  })

  test('a connection that is cut comes back by itself', async () => {
    const rig = await openRig()
    closing.push(() => rig.close())
    const { feed, events, inputs } = openFeed(rig, ['trades'])
    await until(rig, () => feed.state === 'live')
    rig.faults.set({ kind: 'disconnect' })
    await until(rig, () => feed.state === 'waiting')
    await until(rig, () => feed.state === 'live', 1)
    rig.still.trade('buy', 100_000_000n)
    await until(rig, () => events.length === 1)
    expect(inputs.filter(({ kind }) => kind === 'gap')).toHaveLength(2)
  })
})
