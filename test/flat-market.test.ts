import { expect, test } from 'vitest'
import { z } from 'zod'
import { DAY } from '../src/base/units.ts'
import { DEFAULT_FILL_MODEL } from '../src/engine/accounting/fill-assumptions.ts'
import { Engine } from '../src/engine/engine.ts'
import { defineStrategy, type Strategy } from '../src/engine/strategy.ts'
import { raiseAlarms } from '../src/live/alerts.ts'
import type { Block } from '../src/market/block.ts'
import { Mints } from '../src/market/mints.ts'
import { Gateway } from '../src/orders/gateway.ts'
import { Limiter } from '../src/orders/plan-limiter.ts'
import type { Journal } from '../src/orders/ports.ts'
import { Runner } from '../src/runtime/runner.ts'
import { ViewModel } from '../src/runtime/view/view-model.ts'
import { PaperExecutor } from '../src/simulation/paper-executor.ts'
import { PaperMarket } from '../src/simulation/paper-market.ts'
import { SimulatedClock } from '../src/simulation/simulated-clock.ts'
import { encodeBase58 } from '../src/solana/base58.ts'
import { botSettings, startInput } from './support/engine-rig.ts'
import { blockOf } from './support/market-rows.ts'
import { bytesLeftBehind } from './support/used-bytes.ts'

const TOKENS_A_DAY = 300
const FIRST_DAY = 1_780_012_800_000
const EVERY_MS = DAY / TOKENS_A_DAY

/**
 * Returns a new mint key. The text is copied, because a part of a longer string would keep the whole string in memory.
 */
function mintOf(number: number): string {
  const bytes = new Uint8Array(32).fill(200)
  new DataView(bytes.buffer).setUint32(20, number)
  return Buffer.from(encodeBase58(bytes)).toString('latin1')
}

/**
 * A strategy that uses every function for every token: it buys the token, places conditional orders, watches it, sets a
 * timer and writes a note.
 */
const busy = defineStrategy({
  name: 'busy',
  about: '',
  params: z.object({}),
  keys: ['trades', 'newTokens'],
  token: () => ({ prints: 0 }),
  start: (_params, bot) => ({
    onTrade(_trade, token) {
      const reason = 'everything'
      const print = ++token.state.prints
      if (print === 1) bot.watch(token.mint)
      if (print === 2) bot.after(`look at ${token.mint}`, 60)
      if (print === 3) bot.note(token.mint, reason)
      if (print !== 6) return
      bot.buy(token, { sol: 0.05, reason, exits: { maxHoldSeconds: 30, stopLossPercent: 50 } })
      bot.limitBuy(token, { sol: 0.05, atPrice: (token.price as number) / 10, forSeconds: 40, reason })
      bot.buy(token, { sol: 0.05, reason }) // refused
    },
    onTimer(name) {
      bot.unwatch(name.slice(-44))
    },
  }),
}) as unknown as Strategy

const nothing = (): void => {}
const NO_JOURNAL: Journal = {
  ...{ rows: nothing, input: nothing, output: nothing, write: nothing },
  commit: (then) => then(),
}

/** A complete paper run on simulated time, from the feed to the disk, for several days. */
function market() {
  const clock = new SimulatedClock(FIRST_DAY)
  const mints = new Mints()
  const engine = new Engine(mints, new Map([[busy.name, busy]]))
  const paper = new PaperMarket(mints, { tradePrice: 'sol', tradeAmount: 'sol' })
  mints.addHolder(engine)
  mints.addHolder(paper)
  const model = new ViewModel()
  const journal = model.watch(NO_JOURNAL)
  raiseAlarms({ model, past: { onRemainder: nothing }, machine: { clock } }, nothing)
  const executor = new PaperExecutor(clock, paper, DEFAULT_FILL_MODEL, 1)
  executor.restore([], [])
  const machine = { clock, monotonicMs: () => clock.now(), boot: 'b' }
  const limiter = new Limiter({ ...machine, key: 'k', requestsPerMinute: 100, past: 'fresh', write: nothing })
  const route = { kind: 'paper' as const, executor, limiter }
  const gateway = new Gateway({
    ...{ ...machine, journal, route: () => route, nextReport: 1 },
    post: (input) => runner.post(input),
  })
  const runner = new Runner({
    ...{ clock, engine, journal, gateway, want: nothing, alarm: nothing, firstSeq: 1 },
    observe: (block: Block, from: number, to: number) => {
      paper.observe(block, from, to)
      clock.advanceTo(block.time[to - 1] as number)
    },
  })
  runner.post(startInput([botSettings(busy.name, { paperSol: 100_000 })]))
  runner.post({ kind: 'feed', status: 'live', confirmed: [] })
  return { clock, mints, runner, model }
}

test('two days later, tokens that were traded and sold leave nothing in memory', async () => {
  const { clock, mints, runner, model } = market()
  const left = await bytesLeftBehind(2, TOKENS_A_DAY, (from, to) => {
    for (let number = from; number < to; number++) {
      const began = FIRST_DAY + number * EVERY_MS
      clock.advanceTo(began)
      const mint = mintOf(number)
      const block = blockOf(
        Array.from({ length: 12 }, (_, print) => ({
          ...{ time: began + print * 5_000, mint, price: 1e-7 },
          kind: print % 3 === 1 ? ('sell' as const) : ('buy' as const),
        })),
        mints,
      )
      for (let row = 0; row < block.length; ) row = runner.rows(block, row, block.length)
      clock.advanceTo(began + EVERY_MS - 1)
      if (number % 50 === 49) mints.giveBack(() => false)
    }
  })
  expect(model.orders).toBeGreaterThan(9 * TOKENS_A_DAY)
  expect(model.positions.size).toBe(0)
  // If one order, attempt, fill or position per token stayed in memory, at least 300 objects would be left.
  expect(left).toBeLessThan(200)
})
