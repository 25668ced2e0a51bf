import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { encodeJson } from '../../../src/base/json.ts'
import { seededRandom } from '../../../src/base/random.ts'
import { Engine } from '../../../src/engine/engine.ts'
import type { Order } from '../../../src/engine/order.ts'
import type { Sink } from '../../../src/engine/ports.ts'
import type { Strategy } from '../../../src/engine/strategy.ts'
import { EngineThread } from '../../../src/live/isolation/engine-thread.ts'
import { ThreadedRunner } from '../../../src/live/isolation/threaded-runner.ts'
import { Mints } from '../../../src/market/mints.ts'
import type { Journal } from '../../../src/orders/ports.ts'
import { Runner } from '../../../src/runtime/runner.ts'
import { SimulatedClock } from '../../../src/simulation/simulated-clock.ts'
import dipBuyer from '../../../strategies/dip-buyer.ts'
import momentum from '../../../strategies/momentum.ts'
import barTeller from '../../support/bar-teller.ts'
import { conditionParams } from '../../support/condition-draws.ts'
import conditionTeller from '../../support/condition-teller.ts'
import { botSettings, fillOf, MINT, MINT_2, startInput } from '../../support/engine-rig.ts'
import { blockOf, type MarketRow } from '../../support/market-rows.ts'

const STEPS = 60
const ROWS_A_STEP = 50
const exits = { stopLossPercent: 20, takeProfitPercent: 30, trailingPercent: 15, maxHoldSeconds: 600 }
const TELLER = './test/support/bar-teller.ts'
const CONDITIONS = './test/support/condition-teller.ts'
/** Random conditions for three bots. */
const drawn = fc.sample(conditionParams, { seed: 5, numRuns: 3 })
const bars = { '1s': 40, '15s': { keep: 3, silent: 'gap' }, '1 trade': 20, '5 SOL': 7 }
const start = startInput([
  ...[dipBuyer, momentum].map((strategy) => {
    const params = (strategy as unknown as Strategy).params.parse({}) as never
    return botSettings(strategy.name, { params, exits, paperSol: 1000 })
  }),
  botSettings(TELLER, { params: { bars, window: 4, readsEvery: 9, buysEvery: 50, everySeconds: 0 }, exits }),
  ...drawn.map((params, index) =>
    botSettings(CONDITIONS, {
      name: `conditions ${index}`,
      params: { ...params, window: 2, buysEvery: 20, notes: true },
      exits,
    }),
  ),
])

/** Returns a world for one engine. It records the outputs as lines, and keeps the orders until they are answered. */
function world() {
  const lines: string[] = []
  const orders: Order[] = []
  const journal: Journal = {
    rows: (_block, from, to, firstSeq) => {
      for (let row = from; row < to; row++) lines.push(`${firstSeq + row - from} row`)
    },
    input: (seq, time, { kind }) => lines.push(`${seq} ${kind} @${time}`),
    output: (seq, time, index, output) => lines.push(`${seq}.${index} @${time} ${encodeJson(output)}`),
    write: () => {},
    commit: () => {},
  }
  const gateway = { submit: (order: Order) => orders.push(order), cancel: () => {}, trust: () => {}, halt: () => {} }
  const options = {
    ...{ clock: new SimulatedClock(0), journal, gateway },
    ...{ want: (keys: readonly string[]) => void lines.push(`want ${keys}`), alarm: () => {}, observe: () => {} },
    ...{ firstSeq: 1, lastTime: 0 },
  }
  return { lines, orders, options }
}

/**
 * Plays trades of two tokens with random prices, and single prints of other tokens. Every order is filled or refused
 * immediately.
 */
async function drive(mints: Mints, sink: Sink, orders: Order[], settled: () => Promise<void>): Promise<void> {
  const random = seededRandom(5)
  const held = new Map<string, bigint>()
  const prices = [1e-7, 1e-7]
  let time = 1_780_000_000_000
  sink.post({ kind: 'feed', status: 'live', confirmed: [] })
  for (let step = 0; step < STEPS; step++) {
    const rows = Array.from({ length: ROWS_A_STEP }, (): MarketRow => {
      const which = random.integer(2)
      prices[which] = (prices[which] as number) * (0.9 + 0.2 * random.next())
      time += 20
      const side = random.next() < 0.5 ? 'buy' : 'sell'
      return { kind: side, time, mint: which === 0 ? MINT : MINT_2, price: prices[which] as number, sol: 1 }
    })
    // Every seventh step frees the numbers of all tokens. Its block has no row of the second token, so that this token
    // gets a reused number in a later step.
    const isAnew = step % 7 === 6
    if (isAnew) mints.giveBack(() => false)
    for (let other = 0; other < step % 3; other++)
      rows.unshift({ time: (rows[0] as MarketRow).time, mint: `${step} ${other}`, price: 1 })
    const block = blockOf(isAnew ? rows.filter(({ mint }) => mint !== MINT_2) : rows, mints)
    for (let row = 0; row < block.length; ) row = sink.rows(block, row, block.length)
    await settled()
    for (const order of orders.splice(0)) {
      const key = `${order.bot} ${order.mint}`
      const tokens = order.side === 'sell' ? (held.get(key) ?? 0n) : undefined
      const fill = fillOf(order, order.price ?? 1e-7, time, { tokens } as never)
      held.set(key, order.side === 'buy' ? (held.get(key) ?? 0n) + fill.tokens : 0n)
      const isRefused = random.next() < 0.2 && order.side === 'buy'
      const report = { orderId: order.id, attemptId: '', code: isRefused ? 'LIMIT_WAIT' : '', reason: '' } as const
      sink.post({
        kind: 'report',
        id: Number(order.id.slice(1)),
        report: isRefused ? { ...report, state: 'refused' } : { ...report, state: 'filled', fill },
      })
    }
    await settled()
  }
}

function inProcess(mints: Mints): { sink: Sink; lines: string[]; orders: Order[] } {
  const { lines, orders, options } = world()
  const strategies = new Map([dipBuyer, momentum].map((one) => [one.name, one as unknown as Strategy]))
  strategies.set(TELLER, barTeller as unknown as Strategy)
  strategies.set(CONDITIONS, conditionTeller as unknown as Strategy)
  const engine = new Engine(mints, strategies)
  mints.addHolder(engine)
  const runner = new Runner({ ...options, engine })
  runner.post(start)
  return { sink: runner, lines, orders }
}

async function inThread(): Promise<{ sink: Sink; lines: string[]; orders: Order[]; settled: () => Promise<void> }> {
  const { lines, orders, options } = world()
  const runner = new ThreadedRunner({ ...options, heard: () => {}, decided: () => {} })
  const thread = new EngineThread(new URL('../../../src/live/isolation/engine-worker.ts', import.meta.url), 'none.db', {
    heapMb: 256,
    buffersMb: 256,
  })
  onTestFinished(() => thread.end())
  const begun = Promise.withResolvers<void>()
  let waiting: (() => void) | undefined
  thread.on = {
    begun: (outputs) => {
      runner.begun(thread, outputs)
      begun.resolve()
    },
    did: (next, outputs) => {
      runner.did(next, outputs)
      if (runner.isIdle) waiting?.()
    },
    ...{ marks: () => {}, readings: () => {}, log: () => {}, died: ({ reason }) => begun.reject(new Error(reason)) },
  }
  runner.begin(thread, start)
  await begun.promise
  const settled = () =>
    new Promise<void>((resolve) => {
      waiting = resolve
      if (runner.isIdle) resolve()
    })
  return { sink: runner, lines, orders, settled }
}

test('an engine in a thread makes the same decisions as an engine in this process, byte for byte', async () => {
  const mints = new Mints()
  const here = inProcess(mints)
  await drive(mints, here.sink, here.orders, async () => {})
  const there = await inThread()
  await drive(new Mints(), there.sink, there.orders, there.settled)
  expect(here.lines.filter((line) => line.includes('"kind":"order"')).length).toBeGreaterThan(20)
  expect(here.lines.filter((line) => line.includes('"kind":"note"')).length).toBeGreaterThan(1000)
  for (const index of drawn.keys())
    expect(here.lines.filter((line) => line.includes(`"bot":"conditions ${index}"`)).length).toBeGreaterThan(10)
  expect(there.lines).toEqual(here.lines)
})

test.each<[string, number[]]>([
  ['no rows', [1, 1]],
  ['rows beyond the end of the block', [0, 9]],
])('the runner in this process and the runner with a thread refuse %s with an assertion', async (_what, [from, to]) => {
  const block = blockOf([{ time: 1, mint: MINT, price: 1 }])
  for (const sink of [
    inProcess(new Mints()).sink,
    new ThreadedRunner({ ...world().options, heard: () => {}, decided: () => {} }),
  ])
    expect(() => sink.rows(block, from as number, to as number)).toThrow('no rows')
})
