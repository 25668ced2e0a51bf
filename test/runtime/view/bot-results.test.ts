import Database from 'better-sqlite3'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeJson } from '../../../src/base/json.ts'
import { type Lamports, lamports, ZERO } from '../../../src/base/units.ts'
import { newPosition, type Position } from '../../../src/engine/accounting/position.ts'
import type { Input, Output } from '../../../src/engine/messages.ts'
import { NO_MONEY, NO_RESULTS } from '../../../src/engine/recovered-money.ts'
import { openReader } from '../../../src/journal/reader/reader.ts'
import { BotResults, NO_PAST, netText, summedBots, totalOf } from '../../../src/runtime/view/bot-results.ts'
import type { Result } from '../../../src/runtime/view/view.ts'
import { ViewModel } from '../../../src/runtime/view/view-model.ts'
import { journalPath, keyOf, report } from '../../support/journal-samples.ts'
import { LIMITS, LOSSES, TOLD } from '../../support/losses.ts'
import { recordPaperRun } from '../../support/paper-run.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { viewOf } from '../../support/view-sample.ts'

const folder = temporaryFolder()
const MINT = keyOf(1)
/** The value of the open position at the start. */
const WORTH = lamports(98_700_000)

/** No position has a price, so each counts with its cost. */
const UNPRICED = new Map<string, number>()

const held = (more: Partial<Position> = {}): Position => ({
  ...newPosition({ account: 'w', bot: 'dips', mint: MINT }, 0, {}),
  ...{ tokens: 100_000_000_000n, costLamports: lamports(90_000_000), state: 'open' },
  ...more,
})
const closed = (realized: number, fees: number): Position =>
  held({
    ...{ tokens: 0n, costLamports: ZERO, state: 'closed' },
    ...{ realizedLamports: lamports(realized), feeLamports: lamports(fees) },
  })
const addsUp = ({ realizedSol, feesSol, unrealizedSol, netSol }: Result): void =>
  expect(Math.round(netSol * 1e9)).toBe(Math.round((realizedSol - feesSol + unrealizedSol) * 1e9))

test('the components of every result and of every total add up, to the lamport', () => {
  const amount = fc.integer({ min: -5e9, max: 5e9 })
  const steps = fc.array(fc.tuple(amount, fc.nat(1e8), fc.boolean()), { minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(steps, fc.nat(1e9), (positions, worth) => {
      const results = new BotResults()
      results.restore({ ...NO_MONEY, positions: [held()] }, NO_PAST, () => WORTH)
      for (const [realized, fees, isOpen] of positions)
        results.take(1, {
          kind: 'position',
          position: isOpen ? held({ feeLamports: fees as Lamports }) : closed(realized, fees),
        })
      const both = [
        results.sinceStart(
          'w',
          'dips',
          results.unrealized(() => lamports(worth)),
        ),
        results.sinceBeginning(
          'w',
          'dips',
          results.unrealized(() => lamports(worth)),
        ),
      ]
      for (const one of [...both, totalOf(both)]) addsUp(one)
    }),
  )
})

test('a profit that open positions had before the start counts for the time before the start', () => {
  const results = new BotResults()
  const open = held({ realizedLamports: lamports(20_000_000), feeLamports: lamports(1_000_000) })
  const past = {
    since: 7,
    bots: [
      { account: 'w', bot: 'dips', realized: 50_000_000, fees: 4_000_000, dayFees: 0, dayRent: 0, trades: 2, won: 1 },
    ],
  }
  results.restore({ ...NO_MONEY, positions: [open] }, past, () => WORTH)
  const nothing = { realizedSol: 0, feesSol: 0, unrealizedSol: 0, netSol: 0 }
  expect(
    results.sinceStart(
      'w',
      'dips',
      results.unrealized(() => WORTH),
    ),
  ).toEqual(nothing)
  const { unrealizedSol } = results.sinceBeginning(
    'w',
    'dips',
    results.unrealized(() => WORTH),
  )
  expect(
    results.sinceBeginning(
      'w',
      'dips',
      results.unrealized(() => WORTH),
    ),
  ).toMatchObject({ realizedSol: 0.05, feesSol: 0.004 })
  expect(unrealizedSol).toBeCloseTo(0.0987 - 0.09, 3)
  results.take(1, { kind: 'position', position: closed(35_000_000, 1_500_000) })
  const start = results.sinceStart(
    'w',
    'dips',
    results.unrealized(() => WORTH),
  )
  expect(start).toMatchObject({ realizedSol: 0.015, feesSol: 0.0005 })
  expect(start.unrealizedSol).toBe(-unrealizedSol)
  const all = { realizedSol: 0.065, feesSol: 0.0045, unrealizedSol: 0, netSol: 0.0605 }
  expect(
    results.sinceBeginning(
      'w',
      'dips',
      results.unrealized(() => WORTH),
    ),
  ).toEqual(all)
})

test('the results of a bot begin at zero with another wallet, and its results with the earlier wallet are kept', () => {
  const results = new BotResults()
  const old = held({ account: 'old', realizedLamports: lamports(5_000_000) })
  const past = { realized: 50_000_000, fees: 4_000_000, dayFees: 0, dayRent: 0, trades: 2, won: 1 }
  results.restore(
    { ...NO_MONEY, positions: [old] },
    { since: 7, bots: [{ account: 'old', bot: 'dips', ...past }] },
    () => undefined,
  )
  const sold = { ...closed(35_000_000, 1_000_000), account: 'old' }
  results.take(1, { kind: 'position', position: sold })
  results.take(2, { kind: 'position', position: closed(20_000_000, 500_000) })
  expect(results.sinceStart('w', 'dips', UNPRICED)).toMatchObject({ realizedSol: 0.02, feesSol: 0.0005 })
  expect(results.sinceBeginning('w', 'dips', UNPRICED)).toEqual(results.sinceStart('w', 'dips', UNPRICED))
  expect(results.sinceStart('old', 'dips', UNPRICED)).toMatchObject({ realizedSol: 0.03, feesSol: 0.001 })
  expect(results.sinceBeginning('old', 'dips', UNPRICED)).toMatchObject({ realizedSol: 0.08, feesSol: 0.005 })
})

const POSITION = { kind: 'position', position: held({ feeLamports: lamports(5_000) }) } as const
const ANOTHER = { kind: 'position', position: held({ mint: keyOf(2) }) } as const

test.each<[what: string, outputs: Output[], ofRow: Output[]]>([
  ['the position of the attempt is open', [POSITION], []],
  ['the position of the attempt has closed', [], []],
  ['the position of the attempt has closed, and the next row changes another position', [], [ANOTHER]],
])('the fee of a failed attempt counts once if %s', (_what, outputs, ofRow) => {
  const money = { ...NO_RESULTS, bot: 'dips', account: 'w', status: 'active', state: null } as const
  const failed: Input = { kind: 'report', id: 1, report: report(1, { feeLamports: lamports(5_000) }) }
  const order = { find: () => ({ order: { account: 'w', bot: 'dips' }, state: 'filled' }) as never }
  // A live engine emits an output that names the bot. A backtest records no such output, so the order must name the
  // bot.
  for (const [orders, told] of [
    [{ find: () => undefined }, [{ kind: 'bot', money }]],
    [order, []],
  ] as const) {
    const results = new BotResults()
    results.hear(1, failed, orders)
    for (const output of [...told, ...outputs]) results.take(1, output)
    for (const output of ofRow) results.take(2, output)
    results.hear(3, { kind: 'timer', id: 1 }, orders)
    expect(results.sinceStart('w', 'dips', UNPRICED)).toMatchObject({ feesSol: 5e-6, netSol: -5e-6 })
  }
})

test('the net result of every bot in a paper run equals the change of its wallet and its holdings', async () => {
  const path = journalPath()
  const config = {
    service: { baseUrl: 'https://s.example/api', wsUrl: 'wss://s.example/api/data', units: { tradeAmount: 'sol' } },
    paper: { seed: 3, latency: { p50Seconds: 0.5, p95Seconds: 0.6 } },
    bots: Object.entries(LIMITS).map(([name, limits]) => ({
      ...{ name, limits, strategy: folder.write('told.ts', TOLD) },
      exits: { stopLossPercent: 20, windowPrints: 5 },
    })),
  }
  await recordPaperRun(path, folder.write('losses.yaml', JSON.stringify(config)), LOSSES)
  const model = new ViewModel()
  feedWith(path, model.watch({ rows() {}, input() {}, output() {}, write() {}, commit() {} }))
  const reader = openReader(path)
  const continued = new ViewModel()
  continued.restore(reader.recover().money, { results: reader.pastResults(Date.now()) })
  reader.close()
  for (const bot of Object.keys(LIMITS)) {
    const account = `paper|s.example||${bot}`
    const cost = [...model.positions.values()].reduce((sum, one) => sum + (one.bot === bot ? one.costLamports : 0), 0)
    const { netSol } = model.results.sinceStart(account, bot, UNPRICED)
    addsUp(model.results.sinceStart(account, bot, UNPRICED))
    expect(netSol).not.toBe(0)
    // Without a price, a position counts with its cost.
    expect(Math.round(netSol * 1e9)).toBe((model.balances.get(account) ?? 0) + cost - 10e9)
    expect(continued.results.sinceStart(account, bot, UNPRICED).netSol).toBe(0)
    expect(continued.results.sinceBeginning(account, bot, UNPRICED).netSol).toBe(netSol)
  }
})

/** Passes the recorded inputs and outputs of a journal to a listener, in order. */
function feedWith(path: string, listener: ReturnType<ViewModel['watch']>): void {
  const db = new Database(path, { readonly: true })
  const rows = db
    .prepare(
      `SELECT seq, -1 AS n, time, json FROM input UNION ALL SELECT seq, n, time, json FROM output ORDER BY seq, n`,
    )
    .all() as { seq: number; n: number; time: number; json: string }[]
  db.close()
  for (const { seq, n, time, json } of rows)
    if (n < 0) listener.input(seq, time, decodeJson<Input>(json))
    else listener.output(seq, time, n, decodeJson<Output>(json))
}

test.each([
  [['paper', 'paper'], ['all bots: a, b'], '3 SOL'],
  [['live', 'paper', 'live'], ['all live: a, c'], '4 SOL live, 2 SOL paper'],
  [['live', 'paper'], [], '1 SOL live, 2 SOL paper'],
  [['paper'], [], '1 SOL'],
])('results of bots in different modes are never added up: %j', (modes, sums, net) => {
  const [sample] = viewOf().bots
  if (sample === undefined) throw new Error('the view of this test has no bot')
  const bots = modes.map((mode, index) => {
    const sinceStart = { ...sample.sinceStart, realizedSol: index + 1, feesSol: 0, unrealizedSol: 0, netSol: index + 1 }
    return { ...sample, name: 'abc'[index] as string, mode, sinceStart }
  })
  expect(summedBots(bots).map(({ label, bots: of }) => `${label}: ${of.map(({ name }) => name).join(', ')}`)).toEqual(
    sums,
  )
  expect(netText(bots, String)).toBe(net)
})
