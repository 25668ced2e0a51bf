import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Clock } from '../../../src/base/machine.ts'
import { dayOf } from '../../../src/base/units.ts'
import { openReader } from '../../../src/journal/reader/reader.ts'
import type { Journal } from '../../../src/orders/ports.ts'
import { readNetResults, readParts, readView, type ViewParts } from '../../../src/runtime/view/read-view.ts'
import { recordedView } from '../../../src/runtime/view/recorded-view.ts'
import type { Result, View } from '../../../src/runtime/view/view.ts'
import { ViewMirror } from '../../../src/runtime/view/view-mirror.ts'
import { ViewModel } from '../../../src/runtime/view/view-model.ts'
import { ViewUpdates } from '../../../src/runtime/view/view-updates.ts'
import { journalPath, keyOf } from '../../support/journal-samples.ts'
import type { TradeRow } from '../../support/market-rows.ts'
import { recordPaperRun, type WatchedRun } from '../../support/paper-run.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const folder = temporaryFolder()
const T0 = Date.UTC(2026, 10, 22, 23, 59, 0)
const MOST_BEHIND_MS = 110

/** A strategy that buys at prints of 0.77 SOL, sells at 0.66 SOL, and places a conditional order at 0.55 SOL. */
const STRATEGY = `import { defineStrategy, z } from 'sluice'
export default defineStrategy({
  name: 'told',
  about: '',
  params: z.object({}),
  keys: ['trades'],
  bars: { '5s': 2, '20 trades': 1 },
  start: (_params, bot) => ({
    onTrade({ amount }, token) {
      if (amount === 0.77) bot.buy(token, { sol: 0.05, scaleIn: true, reason: 'told at ' + token.price })
      if (amount === 0.66) bot.sell(token, { percent: 40, reason: 'told to sell' })
      if (amount === 0.55) bot.sellWhen?.(token, { above: token.price * 1.5, percent: 100, reason: 'later' })
    },
  }),
})
`
const CONFIG = {
  service: { baseUrl: 'https://s.example/api', wsUrl: 'wss://s.example/api/data', units: { tradeAmount: 'sol' } },
  paper: { seed: 3, latency: { p50Seconds: 0.5, p95Seconds: 3 } },
  bots: [
    {
      name: 'one',
      limits: { maxOpenPositions: 2 },
      exits: { stopLossPercent: 20, takeProfitPercent: 30, windowPrints: 5 },
    },
    {
      name: 'two',
      limits: { maxLosingStreak: 2 },
      exits: { trailingPercent: 15, maxHoldSeconds: 40, windowPrints: 5 },
    },
  ].map((bot) => ({ ...bot, strategy: folder.write('told.ts', STRATEGY) })),
}
const config = folder.write('told.yaml', JSON.stringify(CONFIG))

/** Prints of three tokens, one to three in a second, across midnight. */
const market: fc.Arbitrary<TradeRow[]> = fc
  .array(
    fc.record({
      token: fc.nat(2),
      move: fc.constantFrom(0.9, 0.97, 1, 1, 1.03, 1.12),
      sol: fc.constantFrom(1, 1, 1, 0.77, 0.66),
      pauseMs: fc.nat(2_000),
      isBuy: fc.boolean(),
    }),
    { minLength: 40, maxLength: 80 },
  )
  .map((steps) => {
    const prices = [1e-7, 1e-7, 1e-7]
    let time = T0
    const early = prices.flatMap((price, token) =>
      [0, 1, 2, 3, 4].map((n) => ({ kind: 'buy', time: T0, mint: keyOf(token + 1), price, sol: 1 + n / 10 })),
    )
    const later = steps.map(({ token, move, sol, pauseMs, isBuy }) => {
      time += pauseMs
      const price = (prices[token] as number) * move
      prices[token] = price
      return { kind: isBuy ? 'buy' : 'sell', time, mint: keyOf(token + 1), price, sol }
    })
    return [...early, ...later] as TradeRow[]
  })

/** The health of the simulated process. */
const world: ViewParts['world'] = {
  feed: { state: 'live', counts: { losses: 0 } },
  limiter: { status: () => ({ held: 0, allowed: 60, perMinute: 60, waiting: 0, holds: [] }) },
  planNotice: '',
  decisionTime: { p50: () => 1, p99: () => 2 },
  lists: { broken: new Map() },
  sources: { broken: [] },
  plan: () => ({}) as never,
}

/** Reads the view of a run as a running process does, and checks the rules of every view. */
class Observer {
  parts!: ViewParts
  last!: View
  /** The view in the desk's thread: the first view, and all changes applied to it. */
  #mirror!: ViewMirror
  changes = 0
  /** Number of results that were compared while the bot held positions. */
  compared = 0
  #clock!: WatchedRun['clock']
  readonly #until: number
  /** The sequence number and time of each write that no announced view contains yet. */
  #unseen: { readonly seq: number; readonly at: number }[] = []

  /** `until`: time at which the updates end, so that the simulation can end. */
  constructor(until: number) {
    this.#until = until
  }

  readonly watch = ({ journal, clock, reader, start, past, readingOf }: WatchedRun): Journal => {
    const model = new ViewModel({ now: () => clock.now() })
    this.#clock = clock
    model.restore(start.money, {
      ...{ results: reader.pastResults(clock.now()), buys: reader.buysOf(start.money.positions) },
      ...{ attempts: past.attempts, watches: past.watches },
    })
    this.parts = {
      ...{ title: 't', bots: start.bots, model, world, journalPath: reader.path, readingOf },
      startedAt: clock.now(),
    }
    const watched = model.watch(journal)
    return {
      ...watched,
      input: (seq, time, input) => {
        watched.input(seq, time, input)
        // The updates begin with the first feed status, because the engine knows its positions only after the start.
        if (input.kind === 'feed') this.#listen()
        this.#wrote(seq)
      },
      output: (seq, time, index, output) => {
        watched.output(seq, time, index, output)
        this.#wrote(seq)
      },
    }
  }

  #listen(): void {
    const { model } = this.parts
    const failed = (error: unknown): never => {
      throw error
    }
    const updates = new ViewUpdates({
      ...{ clock: this.#ending(), failed, onLog: (run) => model.onLog(run), onMessage: (run) => model.onMessage(run) },
      committing: model.committing,
      read: (n) => {
        this.last = readView(this.parts, this.#clock.now(), n)
        return readParts(this.parts, this.#clock.now(), n)
      },
    })
    const mirror = { symbolsOf: () => new Map<string, string>(), now: () => this.#clock.now() }
    updates.follow({
      begin: (view, news) => {
        this.#mirror = new ViewMirror(structuredClone(view), mirror, structuredClone(news))
      },
      change: (update) => {
        this.#mirror.take(structuredClone(update))
        expect(this.page).toEqual(this.last)
        this.changes++
        this.#unseen = this.#unseen.filter(({ seq }) => seq > this.page.seq)
        if (this.changes % 8 !== 0) return
        isConsistent(this.page)
        this.#comparesNets()
      },
    })
    updates.watched(true)
  }

  /** Compares the results that would be recorded with those of the view. */
  #comparesNets(): void {
    const { bots, positions } = readView(this.parts, this.#clock.now())
    const priced = bots.filter(({ name }) => !positions.some(({ bot, valueSol }) => bot === name && valueSol === null))
    const nets = readNetResults(this.parts, this.#clock.now(), () => undefined)
    expect(nets.map(({ bot, netLamports }) => [bot, netLamports])).toEqual(
      priced.map(({ name, sinceBeginning }) => [name, lamportsOf(sinceBeginning.netSol)]),
    )
    this.compared += priced.filter(({ name }) => positions.some(({ bot }) => bot === name)).length
  }

  get page(): View {
    return this.#mirror.view
  }

  #ending(): Clock {
    const clock = this.#clock
    return {
      now: () => clock.now(),
      after: (ms, run) => (clock.now() + ms > this.#until ? () => {} : clock.after(ms, run)),
    }
  }

  #wrote(seq: number): void {
    const at = this.#clock.now()
    if (this.last === undefined || at > this.#until) return
    this.#unseen.push({ seq, at })
    const late = at - (this.#unseen[0] as { at: number }).at
    if (late > MOST_BEHIND_MS) throw new Error(`the view is ${late} ms behind the journal`)
  }

  /** The view at the end of the run, without prices, which are not durable. */
  ended(): View {
    return readView({ ...this.parts, readingOf: () => undefined }, this.#clock.now())
  }

  get time(): number {
    return this.#clock.now()
  }
}

const lamportsOf = (sol: number): number => Math.round(sol * 1e9)

function addsUp({ realizedSol, feesSol, unrealizedSol, netSol }: Result): void {
  expect(lamportsOf(netSol)).toBe(lamportsOf(realizedSol) - lamportsOf(feesSol) + lamportsOf(unrealizedSol))
}

/** Checks that the numbers of a view do not contradict each other. */
function isConsistent({ bots, positions, openOrders, wallets, beganAt, time }: View): void {
  for (const bot of bots) {
    for (const result of [bot.sinceStart, bot.sinceBeginning, bot.today]) addsUp(result)
    if (dayOf(beganAt) === dayOf(time)) expect(bot.today).toEqual(bot.sinceBeginning)
    expect(positions.filter((one) => one.bot === bot.name)).toHaveLength(bot.positions)
    expect(openOrders.filter((one) => one.bot === bot.name)).toHaveLength(bot.openOrders)
    const wallet = wallets.find((one) => one.bots.includes(bot.name))
    const held = positions.filter((one) => one.bot === bot.name)
    const worth = held.reduce((sum, { valueSol, costSol }) => sum + lamportsOf(valueSol ?? costSol), 0)
    expect(lamportsOf(wallet?.positionsSol ?? 0)).toBe(worth)
    expect(bot.winPercent === null).toBe(bot.trades === 0)
  }
  for (const { exits, price, orderId, entryReason, state, costSol, valueSol, changePercent } of positions) {
    if (changePercent !== null) expect(costSol * (1 + changePercent / 100)).toBeCloseTo(valueSol as number, 9)
    expect(changePercent === null).toBe(valueSol === null || costSol === 0)
    if (state !== 'opening') expect(entryReason).toMatch(/^told at/)
    expect(orderId).toMatch(/^o\d+$/)
    for (const exit of exits) {
      expect(exit.price === null).toBe(exit.at !== null)
      if (exit.price !== null && price !== null)
        expect(exit.distancePercent).toBeCloseTo((exit.price / price - 1) * 100)
    }
  }
}

/** Returns the parts of a view that a restart must not change. */
function durable({ bots, positions, openOrders, wallets, undecided }: View): object {
  return {
    bots: bots.map(({ name, positions, openOrders, sinceBeginning, today, trades, winPercent }) => {
      return { name, positions, openOrders, sinceBeginning, today, trades, winPercent }
    }),
    ...{ positions, wallets, undecided },
    openOrders: openOrders.map(({ code: _, ...order }) => order),
  }
}

test('changes lead to the present view within 110 ms, and a restart and the recorded journal give the same view', async () => {
  let [positions, trades, orders, fills, nets] = [0, 0, 0, 0, 0]
  const runs = fc.tuple(market, fc.constantFrom('cut', 'drain'), fc.nat(100))
  await fc.assert(
    fc.asyncProperty(runs, async ([rows, ending, share]) => {
      const path = journalPath()
      const cut = 15 + Math.floor(((rows.length - 15) * share) / 100)
      let over = 0
      for (const [own, end] of [
        [rows.slice(0, cut), 'cut'],
        [rows.slice(cut), ending],
      ] as const) {
        const late = Math.max(0, over - (own[0]?.time ?? 0))
        const part = own.map((row) => ({ ...row, time: row.time + late }))
        const last = part.at(-1)
        if (last !== undefined) part[part.length - 1] = { ...last, kind: 'buy', sol: 0.77 }
        if (part.length === 0) continue
        const run = new Observer((part.at(-1)?.time ?? 0) + 5_000)
        await recordPaperRun(path, config, part, end, run.watch)
        expect(run.changes).toBeGreaterThan(0)
        over = run.time + 1_000
        const view = run.ended()
        isConsistent(view)
        // Without prices: the bots that hold nothing, and with values from before the start all bots.
        const unpriced = { ...run.parts, readingOf: () => undefined }
        const empty = view.bots.filter((bot) => bot.positions === 0).map(({ name }) => name)
        expect(readNetResults(unpriced, run.time, () => undefined).map(({ bot }) => bot)).toEqual(empty)
        const atCost = readNetResults(unpriced, run.time, ({ costLamports }) => costLamports)
        expect(atCost.map(({ netLamports }) => netLamports)).toEqual(
          view.bots.map(({ sinceBeginning }) => lamportsOf(sinceBeginning.netSol)),
        )
        const reader = openReader(path)
        const { money, attempts, watches } = reader.recover()
        const model = new ViewModel()
        const past = { results: reader.pastResults(run.time), buys: reader.buysOf(money.positions), attempts, watches }
        model.restore(money, past)
        const restarted = readView({ ...run.parts, model, readingOf: () => undefined }, run.time)
        expect(durable(restarted)).toEqual(durable(view))
        const recorded = recordedView(reader, 't')
        isConsistent(recorded)
        for (const { bots } of [view, recorded])
          expect(bots.map(({ bars }) => bars)).toEqual([
            ['5s', '20 trades'],
            ['5s', '20 trades'],
          ])
        const same = ({ rows, orders, fills, gaps, lastFills, seq }: View) => ({
          rows,
          orders,
          fills,
          gaps,
          lastFills,
          seq,
        })
        expect(same(recorded)).toEqual(same(view))
        expect(
          recorded.bots.map(({ sinceStart, refusals, last }) => [
            sinceStart.realizedSol,
            sinceStart.feesSol,
            refusals,
            last,
          ]),
        ).toEqual(
          view.bots.map(({ sinceStart, refusals, last }) => [
            sinceStart.realizedSol,
            sinceStart.feesSol,
            refusals,
            last,
          ]),
        )
        reader.close()
        positions += view.positions.length
        trades += view.bots.reduce((sum, bot) => sum + bot.trades, 0)
        orders += view.openOrders.length
        fills += view.fills
        nets += run.compared
      }
    }),
    { numRuns: 4, seed: 17, endOnFailure: true },
  )
  // Checks that the runs contained positions, trades, orders and fills, so that the test compared something.
  expect(Math.min(positions, trades, orders, fills, nets)).toBeGreaterThan(0)
}, 60_000)
