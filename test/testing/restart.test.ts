import { join } from 'node:path'
import { expect, test } from 'vitest'
import { seededRandom } from '../../src/base/random.ts'
import { loneBot } from '../../src/config/bots.ts'
import { defineStrategy, type Strategy, z } from '../../src/index.ts'
import { openReader } from '../../src/journal/reader/reader.ts'
import { testStrategy } from '../../src/testing.ts'
import type { MarketRow } from '../support/market-rows.ts'
import { noisyMarket } from '../support/recorded-tape.ts'
import { simulateRun } from '../support/simulated-run.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const folder = temporaryFolder()
const START = 1_767_225_600_000
const DOWN_SECONDS = 7

/**
 * A strategy that uses every kind of memory: durable state, state in variables, timers, conditional orders, random
 * numbers.
 */
const busy = defineStrategy({
  name: 'busy',
  about: 'Trades at random and uses every kind of memory.',
  params: z.object({}),
  keys: ['trades'],
  warmup: 30,
  token: () => ({ seen: 0 }),
  start(_params, bot) {
    const counts = { prints: 0, fills: 0 }
    bot.every('report', 11)
    return {
      onTrade(_trade, token) {
        counts.prints++
        token.state.seen++
        if (token.price === undefined || bot.random() > 0.03) return
        const reason = `print ${counts.prints}, ${token.state.seen} of the token, ${bot.wallet().sol}`
        const pick = bot.random()
        if (pick < 0.4) bot.buy(token, { sol: 0.02, reason, scaleIn: pick < 0.1 })
        else if (pick < 0.6) bot.limitBuy(token, { sol: 0.02, atPrice: token.price * 0.9, forSeconds: 60, reason })
        else if (pick < 0.75) bot.sell(token, { percent: 50, reason })
        else if (pick < 0.85) bot.limitSell(token, { all: true, atPrice: token.price * 1.3, reason })
        else bot.dca(token, { sol: 0.01, everySeconds: 9, times: 5, reason })
        bot.after(`later ${counts.prints}`, 3 + 20 * bot.random())
      },
      onFill(fill) {
        counts.fills++
        bot.state = { fills: counts.fills, last: fill.orderId, before: bot.state }
        if (JSON.stringify(bot.state).length > 200) bot.state = null
      },
      onTimer: (name) => bot.note('', `${name}: ${JSON.stringify(counts)} ${JSON.stringify(bot.state)}`),
      // The feed of a rig is live from the start. A paper run begins with a gap, which ends when its feed is live.
      onGap: ({ from, to }) => from !== START && bot.note('', `gap ${from} ${to}`),
      onStop: () => bot.note('', 'stop'),
    }
  },
}) as unknown as Strategy

const options = {
  exits: { trailingPercent: 12, stopLossPercent: 20, takeProfitPercent: 25, maxHoldSeconds: 50 },
  paper: { balanceSol: 5 },
}

/** Returns the decisions of a journal, one line each. */
function decisionsOf(path: string): string[] {
  const reader = openReader(path)
  try {
    return [...reader.decisions()].map((decision) => JSON.stringify(decision))
  } finally {
    reader.close()
  }
}

test.each([1, 2, 3])(
  'after a restart, a strategy in a test makes the same decisions as in a restarted paper run (seed %i)',
  async (seed) => {
    const random = seededRandom(seed)
    const rows = noisyMarket(1_200, seed, START + 1_000)
    const cut = 200 + random.integer(800)
    const before = rows.slice(0, cut)
    const stoppedAt = before.at(-1)?.time as number
    const shift = DOWN_SECONDS * 1000
    const after: MarketRow[] = rows.slice(cut).map((row) => ({ ...row, time: row.time + shift }))

    const paper = join(folder.path, `paper-${seed}.db`)
    const config = loneBot(busy, options)
    const model = (one: object) => ({ ...one, landingFailurePercent: 0, latencyMs: { p50: 1000, p95: 1000 } }) as never
    const run = { config, model, keys: ['trades'], durable: false }
    await simulateRun(paper, { ...run, time: START, items: before })
    await simulateRun(paper, { ...run, time: stoppedAt + shift, items: after })

    const rig = testStrategy(busy, options)
    const play = (items: readonly MarketRow[]): void => {
      for (const { time, mint, kind, ...trade } of items) {
        const { price, sol } = trade as { price: number; sol: number }
        rig.trade({ mint, price, sol, side: kind as 'buy' | 'sell', afterSeconds: (time - rig.now) / 1000 })
      }
    }
    play(before)
    rig.restart({ downSeconds: DOWN_SECONDS })
    play(after)
    rig.command({ name: 'stop' })
    const saved = join(folder.path, `rig-${seed}.db`)
    rig.saveJournal(saved)

    const decisions = decisionsOf(saved)
    expect(decisions.length).toBeGreaterThan(50)
    expect(decisions).toEqual(decisionsOf(paper))
  },
)

/** A strategy that counts its starts, and the prints since the last start. It records both counts with `bot.note`. */
const counter = defineStrategy({
  name: 'counter',
  about: 'Counts its prints and its starts.',
  params: z.object({}),
  keys: ['trades'],
  start(_params, bot) {
    const starts = ((bot.state as number | null) ?? 0) + 1
    let prints = 0
    bot.state = starts
    return {
      onTrade(trade, token) {
        prints++
        if (trade.trader === 'buy') bot.buy(token, { sol: 0.05, reason: 'told' })
        if (trade.trader === 'say') bot.note('', `start ${starts}, ${prints} prints`)
      },
      onStop: () => bot.note('', 'stopped'),
    }
  },
})

test('after a restart in a test, money, exits and durable state are kept, and the strategy begins again with its warm-up', () => {
  const rig = testStrategy(counter, { exits: { stopLossPercent: 20, trailingPercent: 30 } })
  rig.settle(1e-7)
  rig.trade({ price: 1e-7, trader: 'buy' })
  rig.advance(20)
  rig.settle(2e-7)
  rig.trade({ price: 2e-7, trader: 'say' })
  const before = rig.position()
  rig.restart()
  expect(rig.position()).toEqual(before)
  expect(rig.state).toBe(2)
  rig.trade({ price: 2e-7, trader: 'say' })
  expect(rig.notes.map(({ reason }) => reason)).toEqual(['start 1, 124 prints', 'stopped', 'start 2, 125 prints'])
  rig.settle(1.3e-7) // 30 % below the high of the first process
  expect(rig.orders[1]).toMatchObject({ side: 'sell', all: true, reason: expect.stringContaining('trailing') })
})

test('in a test, a killed process does not call onStop, and the next process decides its open order from the journal', () => {
  const rig = testStrategy(counter, { latencySeconds: 3, exits: { stopLossPercent: 20 } })
  rig.settle(1e-7)
  rig.trade({ price: 1e-7, trader: 'buy' })
  rig.restart({ downSeconds: 1, isKilled: true, strategy: { ...counter, warmup: 0 } as unknown as Strategy })
  expect(rig.notes).toEqual([])
  expect(rig.orders).toMatchObject([{ state: 'not_executed', code: 'CRASHED' }])
  rig.trade({ price: 1e-7, trader: 'say' })
  expect(rig.notes[0]?.reason).toBe('start 2, 2 prints')
})
