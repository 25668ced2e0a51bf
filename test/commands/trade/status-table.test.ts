import { stripVTControlCharacters } from 'node:util'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { lamports, solToLamports, ZERO } from '../../../src/base/units.ts'
import { liveTable } from '../../../src/commands/trade/status-table.ts'
import { accountOf } from '../../../src/engine/account.ts'
import { liquidationSol } from '../../../src/engine/accounting/liquidation.ts'
import { newPosition, type Position } from '../../../src/engine/accounting/position.ts'
import { NO_LIMITS } from '../../../src/engine/limits/limit-rules.ts'
import type { Output } from '../../../src/engine/messages.ts'
import { type AccountMoney, type BotMoney, NO_MONEY, NO_RESULTS } from '../../../src/engine/recovered-money.ts'
import type { BotSettings } from '../../../src/engine/settings.ts'
import type { PastResults } from '../../../src/journal/reader/reader.ts'
import type { Attempt } from '../../../src/orders/attempt.ts'
import type { Budget } from '../../../src/orders/budget-status.ts'
import { readView, type WatchedWorld } from '../../../src/runtime/view/read-view.ts'
import { ViewModel } from '../../../src/runtime/view/view-model.ts'
import { buyAttempt } from '../../support/attempts.ts'
import { MINT } from '../../support/engine-rig.ts'
import { viewOfWallets } from '../../support/view-sample.ts'

const WALLET = accountOf('live', 'host', '', 'w')
const LIMITS = { dips: { ...NO_LIMITS, maxOpenPositions: 2 }, trend: NO_LIMITS }
const BOTS = (['dips', 'trend'] as const).map((name) => {
  return {
    name,
    account: WALLET,
    executor: 'cloud',
    limits: LIMITS[name],
    walletLimits: NO_LIMITS,
  } as Partial<BotSettings>
}) as BotSettings[]

test('in the live table, each wallet with a name has a line and a result, and only wallets of the same mode are added up', () => {
  const lines = liveTable(viewOfWallets(), undefined, 200).map(stripVTControlCharacters)
  expect(lines.filter((line) => / in positions/.test(line))).toEqual([
    'wallet main, live: 2.5000 + 0.2500 in positions = 2.7500 SOL',
    'wallet side, live: 1.1000 + 0.2000 in positions = 1.3000 SOL',
    'wallet trial, paper: 9.0000 + 0.0000 in positions = 9.0000 SOL',
    '2 wallets, live: 3.6000 + 0.4500 in positions = 4.0500 SOL',
  ])
  const bots = lines.slice(lines.findIndex((line) => line.startsWith('BOT')) + 1)
  expect(bots.slice(0, 7).map((line) => line.split(/ {2,}/).slice(0, 2).join())).toEqual([
    ...['dips,live, cloud, main', 'rises,live, cloud, side', 'idea,paper, trial'],
    ...['wallet main,1', 'wallet side,1', 'wallet trial,1', 'all live,2'],
  ])
})

const NOON = new Date(2026, 10, 22, 12).getTime()

afterEach(() => vi.unstubAllEnvs())

const WHOLE: Budget = { held: 0, allowed: 100, perMinute: 100, waiting: 0, holds: [] }

function linesOf(model: ViewModel, price?: number, broken: readonly string[] = [], budget = WHOLE): string[] {
  return tableOf(model, 200, price, broken, budget).map(stripVTControlCharacters)
}

function tableOf(
  model: ViewModel,
  columns: number,
  price?: number,
  broken: readonly string[] = [],
  budget = WHOLE,
): string[] {
  const world = {
    feed: { state: 'live', counts: { losses: 0 } },
    limiter: { status: () => budget },
    planNotice: '',
    decisionTime: { p50: () => 1, p99: () => 2 },
    plan: () => ({}) as never,
    lists: { broken: new Map(broken.map((text) => [text, text])) },
    sources: { broken: [] },
  } satisfies WatchedWorld
  const readingOf = (position: Position) => {
    const sol = liquidationSol(position, price)
    const { highPrice, openedAt } = position
    const worth = sol === undefined ? undefined : solToLamports(sol)
    return { lamports: worth, price, highPrice, printedAt: openedAt, pricedAt: openedAt }
  }
  const parts = { title: 'test', journalPath: 'a.db', world, readingOf, model, bots: BOTS, startedAt: NOON }
  const status = readView(parts, NOON + 60_000)
  // The socket of `sluice status` transmits JSON.
  const sent = JSON.parse(JSON.stringify(status)) as typeof status
  return liveTable(sent, 0, columns)
}

test('the live table shows why, and until when, fewer requests can be sent than the plan allows', () => {
  const text = 'the requests of the earlier process are unknown'
  const holds = [{ code: 'HISTORY_UNKNOWN', until: NOON + 90_000, text }] as const
  const lines = linesOf(new ViewModel(), undefined, [], { held: 3, allowed: 50, perMinute: 100, waiting: 1, holds })
  expect(lines.join('\n')).toContain('requests 3/50 of 100, 1 waiting')
  expect(lines).toContainEqual(`HISTORY UNKNOWN until 12:01:30: ${text}`)
})

/** Returns the line of a position in the live table. */
function lineOf(more: Partial<Position>, price: number | undefined): string | undefined {
  const model = new ViewModel()
  const held = { tokens: 100_000_000_000n, costLamports: lamports(100_000_000), state: 'open' } as const
  const position = { ...newPosition({ account: 'w', bot: 'dips', mint: MINT }, NOON, {}), ...held, ...more }
  model.restore({ ...NO_MONEY, positions: [position] })
  const lines = linesOf(model, price, ['deny.txt:2 is not an address \u001b[2J'])
  expect(lines).toContain('deny.txt:2 is not an address \\u001b[2J')
  return lines.find((line) => line.startsWith(MINT.slice(0, 8)))?.replace(/ +/g, ' ')
}

test.each([
  ['NO_COLOR', false],
  ['FORCE_COLOR', true],
])('a line that is cut contains escape codes only if colour is on: %s', (name, isColored) => {
  for (const each of ['NO_COLOR', 'FORCE_COLOR']) vi.stubEnv(each, each === name ? '1' : undefined)
  const cut = tableOf(new ViewModel(), 30).filter((line) => line.endsWith('…'))
  expect(cut.length).toBeGreaterThan(0)
  expect(cut.join('\n').includes('\u001b')).toBe(isColored)
})

const exiting = { state: 'closing', exiting: 'stop-loss: -21 %' } as const

test.each<[what: string, more: Partial<Position>, price: number | undefined, line: string]>([
  ['a position that is held', {}, 1e-6, 'dips 0.1000 0.0987 -1.3 % 60 s open'],
  ['a position without a price', {}, undefined, 'dips 0.1000 no price 60 s open'],
  [
    'a position that is being opened',
    { tokens: 0n, costLamports: ZERO, state: 'opening' },
    1e-6,
    'dips 0.0000 - 60 s opening',
  ],
  [
    'a position that is being sold',
    { ...exiting, exitTries: 1 },
    1e-6,
    'dips 0.1000 0.0987 -1.3 % 60 s selling: stop-loss: -21 %',
  ],
  [
    'a position that cannot be sold, though it has a price',
    { ...exiting, exitTries: 5 },
    1e-6,
    'dips 0.1000 0.0000 -100.0 % 60 s cannot be sold, tried 5 times: stop-loss: -21 %',
  ],
])('the live table has the line of %s', (_what, more, price, line) => {
  expect(lineOf(more, price)).toBe(`${MINT.slice(0, 8)} ${line}`)
})

const money = (more: Partial<AccountMoney>): AccountMoney => ({
  ...{ account: WALLET.id, lamports: ZERO, slot: 0, halted: false },
  ...more,
})
const botMoney = (more: Partial<BotMoney>): BotMoney => ({
  ...{ ...NO_RESULTS, bot: 'dips', account: WALLET.id, status: 'active', state: null },
  ...more,
})
const account = (more: Partial<AccountMoney>): Output => ({ kind: 'account', money: money(more) })
const threw: Output[] = [
  { kind: 'bot', money: botMoney({ status: 'exits-only' }) },
  {
    kind: 'alarm',
    bot: 'dips',
    code: 'STRATEGY_THREW',
    reason: 'TypeError: x\u001b[2J',
    thrownAt: { place: 'strategies/dips.ts:12:5', stack: [] },
  },
]
const PAUSED = { results: { ...NO_RESULTS, pausedUntil: NOON + 120_000 } }

test.each<[what: string, before: AccountMoney[], outputs: Output[], lines: RegExp[]]>([
  ['nothing', [money({})], [account({})], []],
  [
    'a halt during this start',
    [],
    [account({ halted: true })],
    [/^HALTED since 12:00:30: entries are halted; `sluice resume`/],
  ],
  ['a halt before this start', [money({ halted: true })], [], [/^HALTED since before this start: /]],
  [
    'a halt that began before this start and continues',
    [money({ halted: true })],
    [account({ halted: true })],
    [/^HALTED since before this start: /],
  ],
  ['an account whose halt was ended by `resume`', [money({ halted: true })], [account({})], []],
  [
    'a strategy that threw an error',
    [],
    threw,
    [/^EXITS ONLY dips since 12:00:30: strategies\/dips.ts:12:5: TypeError: x\\u001b.*until the next start$/],
  ],
  [
    'a foreign transaction',
    [],
    [account({ foreign: ['sig1'] })],
    [/^FOREIGN TX since .*`sluice resume --accept sig1`$/],
  ],
  [
    'a mint in quarantine because of a deficit',
    [],
    [account({ quarantined: [MINT] })],
    [new RegExp(`^QUARANTINED since .*\\(${MINT}\\)$`)],
  ],
  ['a pause after a losing streak', [], [account(PAUSED)], [/^LOSING STREAK since 12:00:30 until 12:02:00: /]],
  ['a pause that has ended', [], [account({ results: { ...NO_RESULTS, pausedUntil: NOON + 60_000 } })], []],
  [
    'a halt and a strategy that threw',
    [],
    [account({ halted: true }), ...threw],
    [/^HALTED since/, /^EXITS ONLY dips since/],
  ],
])('the live table shows what stops entries: %s', (_what, accounts, outputs, expected) => {
  const model = new ViewModel()
  model.restore({ ...NO_MONEY, accounts })
  const journal = model.watch({ rows() {}, input() {}, output() {}, write() {}, commit() {} })
  for (const [index, output] of outputs.entries()) journal.output(1, NOON + 30_000, index, output)
  const lines = linesOf(model)
  const end = lines.findIndex((line) => line.startsWith('feed live'))
  expect(lines.slice(1, end)).toEqual(expected.map((line) => expect.stringMatching(line)))
})

test('an error that a strategy threw is shown and sent to alerts without secrets', () => {
  const model = new ViewModel({ redact: (text) => text.replaceAll('key-123', '[redacted]') })
  const told: Output[] = []
  model.onOutput((_time, output) => told.push(output))
  const reason = 'Error: 401 for key-123'
  const journaled: Output[] = []
  const rest = { rows() {}, input() {}, write() {}, commit() {} }
  const journal = model.watch({ ...rest, output: (_seq, _time, _index, output) => void journaled.push(output) })
  for (const output of threw) journal.output(1, NOON, 0, output.kind === 'alarm' ? { ...output, reason } : output)
  expect(linesOf(model).join('\n')).toContain('401 for [redacted]')
  expect(JSON.stringify([linesOf(model), told])).not.toContain('key-123')
  expect(journaled).toContainEqual(expect.objectContaining({ reason })) // a replay compares it
})

describe('orders whose answer was lost', () => {
  const OTHER_MINT = 'J5p7z5dZew83HwpFnUqr1HL2S29sn8i7S8eFNwDUpump'
  const lost = (order: string, mint: string, state: Attempt['state'] = 'unknown') =>
    buyAttempt(mint, 0.1, {
      id: `${order}.1`,
      orderId: order,
      account: WALLET.id,
      executor: 'cloud',
      state,
      armedAt: NOON - 30_000,
    })
  const opening = (mint: string, more: Partial<Position> = {}) => ({
    ...newPosition({ account: WALLET.id, bot: 'dips', mint }, NOON, {}),
    ...more,
  })
  const progress = 'unknown; the proof waits for the block height of the chain: no RPC answers'
  const before = { ended: false, lostAt: null, bound: null, boundSlot: null, signatures: [] }

  /** Returns the lines of the live table between its title and the line about the feed. */
  const said = (positions: readonly Position[], attempts: readonly Attempt[]): string[] => {
    const model = new ViewModel()
    const orders = attempts.map(({ orderId }) => ({
      order: { id: orderId, bot: 'dips', size: { kind: 'all' } } as never,
      state: 'working' as const,
    }))
    model.restore({ ...NO_MONEY, positions, orders }, { attempts })
    const journal = model.watch({ rows() {}, input() {}, output() {}, write() {}, commit() {} })
    for (const attempt of attempts.slice(0, 1))
      journal.write({ kind: 'watch', watch: { ...before, attempt, progress } })
    const lines = linesOf(model)
    return lines.slice(
      1,
      lines.findIndex((line) => line.startsWith('feed live')),
    )
  }

  test('a minute after the answer to an order was lost, the live table explains why its outcome is unknown', () => {
    expect(said([], [lost('o1', MINT), lost('o2', OTHER_MINT, 'armed')])).toEqual([
      `UNDECIDED o1 dips buy ${MINT.slice(0, 8)}, sent 11:59:30: ${progress}`,
      'UNDECIDED o2 dips buy J5p7z5dZ, sent 11:59:30: the chain is being searched for its transaction',
    ])
    expect(said([], [lost('o1', MINT, 'landed'), lost('o2', OTHER_MINT, 'absent')])).toEqual([])
    expect(said([], [{ ...lost('o1', MINT), armedAt: NOON + 30_000 }])).toEqual([])
  })

  test('if orders without an answer use up maxOpenPositions, the line about stopped entries names them', () => {
    const held = opening(OTHER_MINT, { tokens: 5n, state: 'open' })
    const [stop, line] = said([opening(MINT), held], [lost('o1', MINT)])
    expect(stop).toMatch(
      /^POSITIONS LIMIT dips since 11:59:30: 2 of 2 positions \(limits\.maxOpenPositions\), 1 of them a buy .* lost \(o1\): `sluice why o1`/,
    )
    expect(line).toMatch(/^UNDECIDED o1/)
    expect(said([opening(MINT)], [lost('o1', MINT)])).toHaveLength(1)
    expect(said([held, opening(MINT, { tokens: 5n })], [])).toEqual([])
  })
})

test('the live table counts an order as open until the order ends, also an order of an earlier process', () => {
  const model = new ViewModel()
  const order = (id: string) => ({
    id,
    bot: 'dips',
    mint: MINT,
    account: WALLET.id,
    side: 'sell',
    class: 'exit',
    size: { kind: 'all' },
    time: NOON,
  })
  model.restore({ ...NO_MONEY, orders: [{ order: order('o1') as never, state: 'held' }] })
  const journal = model.watch({ rows() {}, input() {}, output() {}, write() {}, commit() {} })
  journal.output(1, NOON, 0, { kind: 'order', order: order('o2') as never })
  const openOf = (): string | undefined =>
    linesOf(model)
      .find((line) => line.startsWith('dips '))
      ?.split(/ {2,}/)[3]
  expect(openOf()).toBe('2')
  for (const orderId of ['o1', 'o2'])
    journal.output(2, NOON, 0, { kind: 'orderState', orderId, state: 'filled', code: '', reason: '' })
  expect(openOf()).toBe('0')
})

describe('results', () => {
  const PAST = {
    since: NOON - 86_400_000,
    bots: [
      {
        account: WALLET.id,
        bot: 'dips',
        realized: 300_000_000,
        fees: 20_000_000,
        dayFees: 0,
        dayRent: 0,
        trades: 3,
        won: 1,
      },
    ],
  }
  const openPosition = {
    ...newPosition({ account: WALLET.id, bot: 'dips', mint: MINT }, NOON, {}),
    ...({ tokens: 100_000_000_000n, costLamports: lamports(90_000_000), state: 'open' } as const),
  }
  const soldPosition = {
    ...newPosition({ account: WALLET.id, bot: 'trend', mint: `${MINT}2` }, NOON, {}),
    ...{ state: 'closed' as const, realizedLamports: lamports(-15_000_000), feeLamports: lamports(2_500_000) },
  }
  const statsOf = (past: PastResults | undefined): ViewModel => {
    const model = new ViewModel()
    model.restore({ ...NO_MONEY, accounts: [money({ lamports: lamports(9_000_000_000) })] }, past && { results: past })
    const journal = model.watch({ rows() {}, input() {}, output() {}, write() {}, commit() {} })
    for (const position of [openPosition, soldPosition]) journal.output(1, NOON, 0, { kind: 'position', position })
    const text = 'a reason that is so long that a terminal of 80 columns shows it in two lines and not in one'
    model.acts.set('dips', { time: NOON, text })
    return model
  }
  const shown = (columns: number, past: PastResults | undefined, price?: number): string[] =>
    tableOf(statsOf(past), columns, price).map(stripVTControlCharacters)
  const cellsOf = (lines: readonly string[], name: string): string[] =>
    lines
      .find((line) => line.startsWith(name))
      ?.slice(name.length)
      .trim()
      .split(/ +/) ?? []

  test.each([80, 100, 140])(
    'on a terminal of %i columns, the live table cuts no line, and the parts of each result add up',
    (columns) => {
      const lines = shown(columns, PAST, 1e-6)
      for (const line of lines.filter((one) => !one.startsWith('feed'))) {
        expect(line.length).toBeLessThanOrEqual(columns)
        expect(line).not.toContain('…')
      }
      expect(lines.find((line) => line.startsWith('SOL since'))).toBe(
        'SOL since this start 12:00:00; all time: since 2026-11-21 12:00:00',
      )
      const sums = ['all bots', ...(columns < 136 ? ['all time'] : [])].map((name) => cellsOf(lines, name).map(Number))
      for (const cells of sums) {
        const [realised = 0, fees = 0, unrealised = 0, net = 0] = cells.length < 5 ? cells : cells.slice(-5)
        if (columns < 136) expect(realised + fees + unrealised).toBeCloseTo(net, 3)
      }
      const [, ...all] = cellsOf(lines, 'all bots').map(Number)
      const parts = all.slice(columns < 100 ? 0 : 1)
      expect(parts.slice(0, 4)).toEqual([-0.015, -0.0025, 0.0087, -0.0088])
      expect(parts.at(-1)).toBe(0.2712)
      expect(lines).toContain('wallet of 2 bots, live: 9.0000 + 0.0987 in positions = 9.0987 SOL')
    },
  )

  test('for a journal with only one start, the live table shows one result', () => {
    const lines = shown(80, undefined)
    expect(lines).toContain('SOL since this start 12:00:00, the first of this journal')
    expect(lines.join('\n')).not.toMatch(/all.time/i)
  })

  test('the live table wraps the last action of a bot to two lines if it is too long', () => {
    const lines = shown(80, PAST)
    const at = lines.findIndex((line) => line.startsWith('dips ') && line.includes('a reason'))
    expect(
      lines
        .slice(at, at + 2)
        .join(' ')
        .replace(/ +/g, ' '),
    ).toBe('dips 12:00:00 a reason that is so long that a terminal of 80 columns shows it in two lines and not in one')
  })
})
