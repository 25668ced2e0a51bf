import { afterEach, describe, expect, test } from 'vitest'
import type { Input } from '../../../src/engine/messages.ts'
import { eventOf, type MarketEvent } from '../../../src/market/block.ts'
import type { Attempt } from '../../../src/orders/attempt.ts'
import type { Outcome } from '../../../src/orders/ports.ts'
import { CloudExecutor } from '../../../src/venues/token-service/cloud-executor.ts'
import { Feed } from '../../../src/venues/token-service/feed.ts'
import { openRig, type Rig } from '../../sandbox/client.ts'
import { MINT } from '../../sandbox/still-market.ts'
import { buyAttempt, sellAttempt } from '../../support/attempts.ts'
import { feedParts, openExecutorParts, until } from './sandbox-rig.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

function openFeed(rig: Rig, keys: string[], apiKey = rig.apiKeys.standard) {
  const events: MarketEvent[] = []
  const inputs: Input[] = []
  const notes: string[] = []
  const feed = new Feed('the sandbox', {
    ...feedParts(rig, apiKey),
    on: {
      authenticated: (_user, plan) => notes.push(`plan ${plan.toLowerCase()}`),
      refused: () => notes.push('refused'),
      misfit: (why) => notes.push(`misfit ${why}`),
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
  return { feed, events, inputs, notes }
}

async function openExecutor(rig: Rig) {
  const { parts, wallet, close } = await openExecutorParts(rig)
  closing.push(close)
  const executor = new CloudExecutor(parts)
  const run = async (attempt: Attempt): Promise<Outcome[]> => {
    const outcomes: Outcome[] = []
    executor.execute(attempt, (outcome) => outcomes.push(outcome))
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
  test(`with dialect ${dialect} of the service, the feed delivers each record of every kind once`, async () => {
    const rig = await openRig({ dialect })
    closing.push(() => rig.close())
    const { feed, events, notes, inputs } = openFeed(rig, ['trades', 'newTokens', 'priceUpdates', MINT])
    await until(rig, () => feed.state === 'live')
    rig.still.launch()
    for (let count = 0; count < 5; count++) rig.still.trade('buy', 100_000_000n)
    rig.still.priceUpdate()
    await until(rig, () => events.length === 7)
    expect(events.map(({ type }) => type)).toEqual(['newToken', ...Array(5).fill('trade'), 'priceUpdate'])
    expect(new Set(events.map(({ mint }) => mint))).toEqual(new Set([MINT]))
    expect(notes.filter((text) => !/unknown/.test(text))).toEqual(['plan standard'])
    expect(inputs.at(-1)).toMatchObject({ kind: 'feed', status: 'live' })
  })

  test(`with dialect ${dialect} of the service, a buy and a full sale are filled, provisionally and finally`, async () => {
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
    ['a buy above the balance', buyAttempt(MINT, 50, { slippagePercent: 50 }), 'INSUFFICIENT_BALANCE'],
    ['a buy of an unknown mint', buyAttempt('SysvarC1ock11111111111111111111111111111111', 0.1), 'INVALID_MINT'],
  ])(`with dialect ${dialect} of the service, %s is refused`, async (_name, attempt, code) => {
    const rig = await openRig({ dialect })
    closing.push(() => rig.close())
    const outcomes = await (await openExecutor(rig)).run({ ...attempt, armedAt: rig.clock.now() })
    expect(outcomes).toEqual([expect.objectContaining({ kind: 'refused', code, retry: 'never' })])
  })
})

test('the feed does not use an API key again that the service refused', async () => {
  const rig = await openRig()
  closing.push(() => rig.close())
  const { feed, notes } = openFeed(rig, ['trades'], 'wrong')
  await until(rig, () => feed.state === 'refused')
  expect(notes).toEqual(['refused'])
})

describe('faults', () => {
  test('on the sandbox, an order whose answer is lost is unknown until the feed shows its trade', async () => {
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

  test('on the sandbox, a transaction that a fork reverts and that lands again ends in a final fill', async () => {
    const rig = await openRig()
    closing.push(() => rig.close())
    const { run } = await openExecutor(rig)
    rig.faults.set({ kind: 'fork', slots: 8 })
    const outcomes = await run(buyAttempt(MINT, 0.1, { armedAt: rig.clock.now() }))
    expect(outcomes[0]?.kind).toBe('acked')
    expect(outcomes.at(-1)).toMatchObject({ kind: 'filled', final: true })
  })

  test('on the sandbox, a transaction that fails on the chain ends as reverted and costs its fee', async () => {
    const rig = await openRig()
    closing.push(() => rig.close())
    const { run } = await openExecutor(rig)
    rig.faults.set({ kind: 'reverted' })
    const outcomes = await run(buyAttempt(MINT, 0.1, { armedAt: rig.clock.now() }))
    expect(outcomes.at(-1)).toMatchObject({ kind: 'reverted', final: true })
    expect((outcomes.at(-1) as { feeLamports: number }).feeLamports).toBeGreaterThanOrEqual(5_000)
  })

  test('the feed opens a lost connection to the sandbox again, and reports both gaps', async () => {
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
