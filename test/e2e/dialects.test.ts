import { describe, expect, test } from 'vitest'
import type { Fill } from '../../src/engine/order.ts'
import { runs } from '../support/runs.ts'
import { type Books, discrepancies, isWalked, requestedIn } from './books.ts'
import { until } from './until.ts'
import { openVenue } from './venue.ts'

const DIALECTS = runs(10)
/** Reasons for which the feed counts a message as unexpected, although the message is not an error. */
const NEWS = ['unknown field', 'unknown type']
const MOST_BETWEEN_DECISION_AND_CHAIN_PERCENT = 0.02

describe.concurrent("bots trade with every variant (dialect) of the service's protocol", () => {
  const seeds = Array.from({ length: DIALECTS }, (_, seed) => seed)
  test.for(seeds)('bots trade with variant %d of the protocol of the service', async (dialect, { onTestFinished }) => {
    const venue = await openVenue({ dialect, bots: [{ name: 'trips', strategy: 'round-trips' }] }, onTestFinished)
    // In every second variant, the configuration sets `units.sell`, as a user can. In the others it must work without
    // this setting.
    if (dialect % 2 === 1) venue.configure({ service: { units: { sell: venue.sandbox.dialect.sellNumber } } })
    const running = await venue.start()
    const books = await until('three tokens to be bought, and each to be sold in a different way', () => {
      const books = venue.books()
      return isWalked(books) && books
    })
    const misfits = [...running.world.feed.misfits.counts.keys()].filter((why) => !NEWS.includes(why))
    await running.stop()
    expect(await venue.complaints()).toEqual([])
    expect(misfits).toEqual([])
    // On a busy machine, a request may time out before the service reads it. The attempt then ends as absent.
    const requested = requestedIn(venue.books())
    const posts = venue.requests.filter((request) => request.startsWith('POST')).length
    expect(posts).toBeLessThanOrEqual(requested.length)
    expect(posts).toBeGreaterThanOrEqual(requested.filter(({ state }) => state === 'filled').length)
    expect(kindsFilled(books)).toEqual(new Set(['sol', 'percent', 'tokens', 'all']))
    expect(wronglySold(books)).toEqual([])
    for (const [what, falsified] of forgeries(books))
      expect(discrepancies(falsified, venue.chain()), what).not.toEqual([])
  })
})

function kindsFilled({ attempts }: Books): Set<string> {
  return new Set(attempts.filter(({ state }) => state === 'filled').map(({ size }) => size.kind))
}

/** Returns the sales that sold another amount than ordered. */
function wronglySold({ attempts, fills }: Books): string[] {
  return attempts.flatMap(({ id, mint, size }) => {
    const sale = fills.find(({ attemptId, side }) => attemptId === id && side === 'sell')
    if (sale === undefined) return []
    const held = heldBefore(
      sale,
      fills.filter((fill) => fill.mint === mint),
    )
    const share = size.kind === 'percent' ? size.percent : size.kind === 'tokens' ? percentOf(size.tokens, held) : 100
    const off = Math.abs(percentOf(sale.tokens, held) - share)
    return off > MOST_BETWEEN_DECISION_AND_CHAIN_PERCENT
      ? [`${id} sold ${sale.tokens} of ${held}: ${share} % asked`]
      : []
  })
}

function heldBefore(sale: Fill, ofMint: readonly Fill[]): bigint {
  const earlier = ofMint.filter(({ orderId }) => Number(orderId.slice(1)) < Number(sale.orderId.slice(1)))
  return earlier.reduce((sum, { side, tokens }) => sum + (side === 'buy' ? tokens : -tokens), 0n)
}

function percentOf(part: bigint, whole: bigint): number {
  return (Number(part) / Number(whole)) * 100
}

/** Returns copies of the books with one fault each. The test expects that the checks detect every fault. */
function forgeries(books: Books): [what: string, books: Books][] {
  const [fill, ...others] = books.fills as [Fill, ...Fill[]]
  return [
    ['a fill is missing', { ...books, fills: others }],
    ['a fill is in the books twice', { ...books, fills: [fill, fill, ...others] }],
    [
      'a lamport is missing',
      {
        ...books,
        fills: [{ ...fill, walletLamports: (fill.walletLamports + 1) as typeof fill.walletLamports }, ...others],
      },
    ],
    ['a base unit is missing', { ...books, fills: [{ ...fill, tokens: fill.tokens - 1n }, ...others] }],
    ['an order is missing', { ...books, orders: books.orders.slice(1) }],
    [
      'a fee of a failed transaction is invented',
      { ...books, reports: [...books.reports, { ...books.reports[0]!, feeLamports: fill.feeLamports }] },
    ],
  ]
}
