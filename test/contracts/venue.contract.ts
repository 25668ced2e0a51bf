import { afterEach, describe, expect, test } from 'vitest'
import type { Input } from '../../src/engine/messages.ts'
import type { Attempt } from '../../src/orders/attempt.ts'
import type { Outcome } from '../../src/orders/ports.ts'
import { decodeTransaction } from '../../src/solana/transaction.ts'
import type { BuilderParts, ExecutorParts, FeedParts, Venue } from '../../src/venues/venue.ts'
import { buyAttempt } from '../support/attempts.ts'

/** A venue that answers requests and has a market with one mint. */
export interface VenueWorld {
  readonly venue: Venue
  /** A mint that can be bought. */
  readonly mint: string
  /** The name of the plan to which the API key belongs. */
  readonly plan: string
  readonly feed: Omit<FeedParts, 'on'>
  readonly executor: ExecutorParts
  readonly builder: Omit<BuilderParts, 'check'>
  /** Sends one trade of `mint` on the feed. */
  trade(): void
  /** Waits until the condition is true. If the venue has a simulated clock, advances the clock. */
  until(condition: () => boolean): Promise<void>
  close(): Promise<void>
}

/** Tests that every implementation of the port `Venue` (src/venues/venue.ts) has to pass. */
export function venueContract(name: string, open: () => Promise<VenueWorld>): void {
  describe(name, () => {
    const closing: (() => Promise<unknown>)[] = []
    afterEach(async () => {
      for (const close of closing.splice(0).reverse()) await close()
    })
    const openWorld = async (): Promise<VenueWorld> => {
      const world = await open()
      closing.push(() => world.close())
      return world
    }

    test('the feed reports the plan, connects and delivers a trade', async () => {
      const world = await openWorld()
      const { venue, until, trade } = world
      const plans: string[] = []
      const inputs: Input[] = []
      let rows = 0
      const feed = venue.openFeed({
        ...world.feed,
        on: {
          authenticated: (_userId, plan) => void plans.push(plan),
          refused: (reason) => expect.fail(`refused: ${reason}`),
          misfit: (why, text) => expect.fail(`${why}: ${text}`),
          notice: () => {},
        },
      })
      feed.want(['trades'])
      closing.push(
        feed.start({
          rows: (_block, from, to) => {
            rows += to - from
            return to
          },
          post: (input) => void inputs.push(input),
        }),
      )
      await until(() => feed.state === 'live')
      trade()
      await until(() => rows === 1)
      expect(plans.map((plan) => venue.plans.named(plan).plan.name)).toEqual([world.plan])
      expect(inputs.at(-1)).toEqual({ kind: 'feed', status: 'live', confirmed: ['trades'] })
    })

    test('every published plan is known by its name, and an unknown name does not change the present plan', async () => {
      const { venue } = await openWorld()
      for (const plan of venue.plans.published)
        expect(venue.plans.named(plan.name.toUpperCase())).toEqual({ plan, notice: '' })
      const [smallest] = venue.plans.published
      expect(venue.plans.first('auto')).toBe(smallest)
      const present = { ...smallest, name: 'custom' }
      expect(venue.plans.named('Gold', present)).toEqual({ plan: present, notice: expect.stringContaining('Gold') })
    })

    test('a buy is executed and gets a final fill', async () => {
      const world = await openWorld()
      const outcomes = await executed(world, buyAttempt(world.mint, 0.1, { slippagePercent: 30 }))
      expect(outcomes.at(-1)).toMatchObject({ kind: 'filled', final: true, fill: { mint: world.mint } })
    })

    test('an order that the wallet cannot pay is refused with a code', async () => {
      const world = await openWorld()
      const outcomes = await executed(world, buyAttempt(world.mint, 50, { slippagePercent: 50 }))
      expect(outcomes).toEqual([expect.objectContaining({ kind: 'refused', code: 'INSUFFICIENT_BALANCE' })])
    })

    test('the builder returns a transaction that the wallet has not signed', async () => {
      const world = await openWorld()
      const builder = world.venue.openBuilder({
        ...world.builder,
        check: (bytes) => {
          const decoded = decodeTransaction(bytes)
          return decoded.ok ? undefined : decoded
        },
      })
      const built = await builder.build(buyAttempt(world.mint, 0.1, { executor: 'local' }))
      if (built.kind !== 'built') expect.fail(JSON.stringify(built))
      expect(built.asked).toMatchObject({ side: 'buy', mint: world.mint, wallet: world.builder.wallet })
      const decoded = decodeTransaction(built.bytes)
      if (!decoded.ok) expect.fail(decoded.reason)
      const { message, signatures } = decoded.transaction
      expect(message.keys[0]).toBe(world.builder.wallet)
      expect([...(signatures[0] as Uint8Array)].every((byte) => byte === 0)).toBe(true)
    })
  })
}

async function executed({ venue, executor, until }: VenueWorld, attempt: Attempt): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  venue
    .openExecutor(executor)
    .execute({ ...attempt, executor: 'cloud', armedAt: executor.clock.now() }, (outcome) => void outcomes.push(outcome))
  await until(() => outcomes.some(isEnd))
  return outcomes
}

function isEnd(outcome: Outcome): boolean {
  return 'final' in outcome ? outcome.final : outcome.kind === 'refused'
}
