import { expect, test } from 'vitest'
import { runBacktest } from '../../src/backtest/run.ts'
import { seededRandom } from '../../src/base/random.ts'
import type { Config } from '../../src/config/config.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { Position } from '../../src/engine/accounting/position.ts'
import type { RoundTrip } from '../../src/engine/accounting/round-trip.ts'
import { endTrip } from '../../src/engine/bots/views.ts'
import type { Input, Output } from '../../src/engine/messages.ts'
import type { Order } from '../../src/engine/order.ts'
import { openReader } from '../../src/journal/reader/reader.ts'
import type { Journal } from '../../src/orders/ports.ts'
import { journalPath } from '../support/journal-samples.ts'
import { noisyMarket, writeTape } from '../support/recorded-tape.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const T0 = 1_780_000_000_000
const folder = temporaryFolder()

/**
 * Collects the ended round trips, with the fees that are reported after their end. There are such fees because a full
 * sale is sent again while its outcome is unknown: the first transaction may close the position, and the second one
 * then fails and costs a fee.
 */
class EndedTrips implements Journal {
  readonly trips = new Map<string, object>()
  lateFees = 0
  readonly #orders = new Map<string, Order>()
  readonly #held = new Map<string, Position>()
  readonly #late = new Map<string, { closed: Position; lamports: number }>()

  rows(): void {}
  write(): void {}
  commit(then: () => void): void {
    then()
  }

  input(_seq: number, _time: number, input: Input): void {
    if (input.kind !== 'report' || input.report.feeLamports === undefined) return
    const order = this.#orders.get(input.report.orderId)
    if (order?.side !== 'sell' || this.#held.has(order.mint)) return
    const late = this.#late.get(order.mint)
    if (late === undefined) return
    this.lateFees++
    late.lamports += input.report.feeLamports
    this.#keep(order.mint)
  }

  output(_seq: number, _time: number, _index: number, output: Output): void {
    if (output.kind === 'order') this.#orders.set(output.order.id, output.order)
    if (output.kind !== 'position') return
    const { position } = output
    if (position.state !== 'closed') {
      this.#held.set(position.mint, position)
      return
    }
    this.#held.delete(position.mint)
    if (position.trip === undefined || position.trip.boughtLamports === 0) return
    this.#late.set(position.mint, { closed: position, lamports: 0 })
    this.#keep(position.mint)
  }

  #keep(mint: string): void {
    const { closed, lamports } = this.#late.get(mint) as { closed: Position; lamports: number }
    const { trip } = closed
    const ended = endTrip({ ...closed })
    if (trip === undefined || ended === undefined) return
    const { base, priority, tip, rent, failed, other } = trip.fees
    const { openedAt, closedAt, entryReason, exitReason } = ended
    this.trips.set(`${mint} ${openedAt}`, {
      ...{ openedAt, closedAt, entryReason, exitReason, buys: trip.buys, sells: trip.sells },
      ...{ bought: trip.boughtLamports, sold: trip.soldLamports },
      fees: base + priority + tip + rent + failed + other + lamports,
    })
  }
}

function sumsOf({ openedAt, closedAt, entryReason, exitReason, buys, sells, ...money }: RoundTrip): object {
  const { boughtLamports: bought, soldLamports: sold, feeLamports: fees } = money
  return { openedAt, closedAt, entryReason, exitReason, buys, sells, bought, sold, fees }
}

/** Returns a configuration of a dip buyer. Its params, its exits and the share of lost transactions are random. */
async function drawnConfig(seed: number): Promise<Config> {
  const random = seededRandom(seed)
  const drawn = (from: number, to: number): number => from + random.integer(to - from + 1)
  const steps = [
    { atPercent: drawn(3, 15), sellPercent: drawn(20, 60) },
    { atPercent: drawn(16, 40), sellPercent: 40 },
  ]
  const exits = {
    stopLossPercent: drawn(5, 30),
    maxHoldSeconds: drawn(5, 60),
    ...(random.next() < 0.5 ? { takeProfitSteps: steps } : { takeProfitPercent: drawn(5, 40) }),
  }
  const service = { baseUrl: 'https://s.example/api', wsUrl: 'wss://s.example/api/data' }
  const paper = { lossPercent: drawn(0, 50), latency: { p50Seconds: drawn(1, 3), p95Seconds: 5 } }
  const bot = { name: 'dips', strategy: 'dip-buyer', params: { dropPercent: drawn(3, 8), sizeSol: 0.05 }, exits, paper }
  const loaded = await loadConfig([folder.write('drawn.yaml', JSON.stringify({ service, bots: [bot] }))])
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors))
  return loaded.config
}

test('the round trips that strategies receive add up to the totals of the report, over random tapes', async () => {
  let compared = 0
  let lateFees = 0
  for (let seed = 1; seed <= 6; seed++) {
    const path = journalPath()
    await writeTape(path, [{ time: T0, items: noisyMarket(2_500, seed, T0, 60) }])
    const reader = openReader(path)
    try {
      const ended = new EndedTrips()
      const options = { partial: true, logged: true, journal: ended }
      const { bots } = runBacktest(await drawnConfig(seed), reader.market(), options)
      const closed = (bots[0]?.result.log?.money.trips ?? []).filter(({ closedAt }) => closedAt !== null)
      const folded = new Map(closed.map((trip) => [`${trip.mint} ${trip.openedAt}`, sumsOf(trip)]))
      expect(Object.fromEntries(ended.trips), `seed ${seed}`).toEqual(Object.fromEntries(folded))
      compared += closed.length
      lateFees += ended.lateFees
    } finally {
      reader.close()
    }
  }
  expect(compared).toBeGreaterThan(50)
  expect(lateFees).toBeGreaterThan(0)
})
