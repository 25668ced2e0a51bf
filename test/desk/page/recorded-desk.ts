// The data of a desk for tests of its page: a view, and the answers of the endpoints. With `isHostile`, the names of
// tokens contain markup and control characters.

import { seededRandom } from '../../../src/base/random.ts'
import type {
  CompareAnswer,
  EquityAnswer,
  LogAnswer,
  MoneyAnswer,
  OrdersAnswer,
  RefusalsAnswer,
  ResultsAnswer,
  RoundTripsAnswer,
  TokenAnswer,
  WhyAnswer,
} from '../../../src/desk/api/types.ts'
import type { BotStatus, OrderStatus, PositionStatus, View } from '../../../src/runtime/view/view.ts'

/** 2026-11-23 12:00 UTC. */
export const NOW = 1_795_435_200_000
const HOSTILE = '<img src=x onerror="document.title=`owned`">\u202edlog\u0000'

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const NAMES = ['MOONCAT', 'WIFROOF', 'GIGA', 'BONKER', 'FROGE', 'PNUTS', 'SOLAMA', 'DOGEN', 'KITTEN', 'ZOOM']

export function mintOf(index: number): string {
  return Array.from({ length: 44 }, (_none, place) => ALPHABET[(index * 31 + place * place * 7 + place) % 58]).join('')
}

export interface DeskSize {
  readonly positions: number
  readonly trades: number
  readonly isHostile?: boolean
  /** Whether the wallets have names. If so, there are two live wallets and a paper wallet. */
  readonly hasWallets?: boolean
}

export const SMALL: DeskSize = { positions: 6, trades: 40 }

const symbolOf = (index: number, { isHostile = false }: DeskSize): string =>
  isHostile ? HOSTILE : (NAMES[index % NAMES.length] ?? '')

function position(index: number, size: DeskSize): PositionStatus {
  const costSol = 0.05 + (index % 5) * 0.01
  const changePercent = ((index * 37) % 90) - 38
  const price = 2.81e-8 * (1 + index / 7)
  return {
    id: `paper|sandbox|/${mintOf(index)}`,
    ...{
      bot: index % 3 === 0 ? 'dips' : 'momentum',
      mint: mintOf(index),
      symbol: symbolOf(index, size),
      state: 'open',
    },
    ...{ tokens: 1_250_000 + index, costSol, valueSol: index === 2 ? null : costSol * (1 + changePercent / 100) },
    ...{ openedAt: NOW - (index + 1) * 47_000, selling: index === 3 ? 'stop loss, attempt 2' : '', unsellable: false },
    ...{ price, changePercent: index === 2 ? null : changePercent, orderId: `o${100 + index}` },
    entryReason: size.isHostile ? HOSTILE : 'momentum of 5 min is 1.18, volume 42 SOL',
    exits: [
      { kind: 'takeProfit', price: price * 1.5, distancePercent: 50, at: null },
      { kind: 'stopLoss', price: price * 0.8, distancePercent: -20, at: null },
      { kind: 'maxAge', price: null, distancePercent: null, at: NOW + 3_600_000 - index * 47_000 },
    ],
  }
}

function openOrders(size: DeskSize): OrderStatus[] {
  const order = { bot: 'momentum', attempts: 1, code: '', proof: null, percent: null } as const
  return [
    {
      ...{ ...order, id: 'o301', mint: mintOf(0), symbol: symbolOf(0, size), side: 'buy', kind: 'entry', sol: 0.05 },
      ...{ state: 'working', stage: 'queued', stageSince: NOW - 900, reason: 'momentum of 5 min is 1.21' },
    },
    {
      ...{ ...order, id: 'o299', mint: mintOf(3), symbol: symbolOf(3, size), side: 'sell', kind: 'exit', sol: null },
      ...{
        percent: 100,
        state: 'working',
        stage: 'unconfirmed',
        stageSince: NOW - 21_000,
        reason: 'stop loss at −20 %',
      },
      ...{ attempts: 2, proof: { text: 'the slot of its blockhash has to pass', block: 61, of: 151 } },
    },
  ] as unknown as OrderStatus[]
}

function bot(name: string, factor: number, { trades, isHostile = false }: DeskSize): BotStatus {
  const result = (netSol: number) => ({
    realizedSol: netSol * 1.4,
    feesSol: 0.0123,
    unrealizedSol: -netSol * 0.4 + 0.0123,
    netSol,
  })
  return {
    ...{ name, mode: 'paper', executor: 'paper', strategy: name, positions: 3, openOrders: 1 },
    params: { dropPercent: 8, sizeSol: 0.05, bars: { '1m': 200 }, note: isHostile ? HOSTILE : 'none' },
    ...{ realizedSol: 0.2 * factor, feesSol: 0.0123, sinceStart: result(0.21 * factor) },
    ...{ sinceBeginning: result(1.3127 * factor), today: result(0.0712 * factor), trades, winPercent: 41 + factor },
    refusals: { POSITIONS_LIMIT: 214, TOKEN_TOO_YOUNG: 88, LIMIT_WAIT: 3 },
    ownStops: factor < 0 ? ['LOSING_STREAK'] : [],
    last: { time: NOW - 4_000, text: isHostile ? HOSTILE : 'bought MOONCAT for 0.05 SOL: momentum of 5 min is 1.18' },
  }
}

export function recordedView(size: DeskSize = SMALL): View {
  const view = viewOf(size)
  return size.hasWallets === true ? withWallets(view, size) : view
}

/** Returns the view with a third bot, and with a wallet for each bot. */
function withWallets(view: View, size: DeskSize): View {
  const names = size.isHostile ? [HOSTILE, `${HOSTILE}2`, `${HOSTILE}3`] : ['main', 'side', 'trial']
  const [momentum, dips] = view.bots as [BotStatus, BotStatus]
  const bots = [momentum, dips, { ...dips, name: 'new-idea', ownStops: [] }].map((bot, index) => ({
    ...{ ...bot, mode: index < 2 ? 'live' : 'paper', executor: index < 2 ? 'cloud' : 'paper' },
    wallet: names[index] as string,
  }))
  const wallets = bots.map(({ name, mode, wallet }, index) => ({
    ...{ name: wallet, mode, bots: [name], solBalance: index === 1 ? null : 9.4123 - index, positionsSol: 0.4211 },
  }))
  const walletOf = new Map(bots.map(({ name, wallet }) => [name, wallet]))
  const positions = view.positions.map((one) => ({ ...one, wallet: walletOf.get(one.bot) as string }))
  return { ...view, bots, wallets, positions }
}

function viewOf(size: DeskSize): View {
  return {
    ...{
      id: '7-0',
      title: size.isHostile ? HOSTILE : 'demo',
      source: 'running',
      startedAt: NOW - 7_200_000,
      time: NOW,
    },
    ...{ seq: 1_204_113, rows: 1_203_882, orders: 301, fills: 566, feed: 'live', reconnects: 1 },
    ...{ feedLagMs: 140, gaps: 2, gapSeconds: 14.2, planNotice: '', brokenSources: [], brokenLists: [] },
    plan: { name: 'advanced', requestsPerMinute: 60, connections: 1, messagesPerSecond: 5, maxBuyLamports: 5e9 },
    requests: { held: 17, allowed: 60, perMinute: 60, waiting: 0, holds: [] },
    decisionUs: { p50: 3.2, p99: 41 },
    journal: { path: '/home/sluice/data/demo.db', bytes: 412_300_000, freeBytes: 71_000_000_000, waitingMs: 0 },
    stops: [
      {
        ...{ code: 'LOSING_STREAK', bots: ['dips'], since: NOW - 600_000, until: NOW + 3_000_000 },
        text: '5 round trips in a row have lost; entries pause for an hour. `sluice resume` ends the pause',
      },
    ],
    undecided: [],
    bots: [bot('momentum', 1, size), bot('dips', -0.3, size)],
    beganAt: NOW - 6 * 86_400_000,
    wallets: [{ mode: 'paper', bots: ['momentum', 'dips'], solBalance: 9.4123, positionsSol: 0.4211 }],
    positions: Array.from({ length: size.positions }, (_none, index) => position(index, size)),
    openOrders: openOrders(size),
    lastFills: [],
    notices: [
      { time: NOW - 40_000, level: 'alert', kind: 'desk', bot: '', text: 'the certificate expires in 3 days' },
      { time: NOW - 90_000, level: 'warn', kind: '', bot: '', text: 'desk: login refused from=127.0.0.1' },
      {
        ...{ time: NOW - 95_000, level: 'error', kind: '', bot: '' },
        text: size.isHostile ? HOSTILE : 'the heartbeat failed',
      },
    ],
    process: { alerts: { desk: 1, 'loss-limit': 2 }, lostAlerts: 1 },
  } as unknown as View
}

function roundTrips(size: DeskSize, from: number, count: number): RoundTripsAnswer {
  const to = Math.min(size.trades, from + count)
  const roundTrips = Array.from({ length: to - from }, (_none, row) => {
    const index = from + row
    const netPercent = ((index * 53) % 120) - 55
    return {
      ...{
        bot: 'momentum',
        mint: mintOf(index % 400),
        symbol: symbolOf(index, size),
        heldSeconds: 30 + ((index * 17) % 900),
      },
      ...{ openedAt: NOW - index * 60_000 - 400_000, closedAt: NOW - index * 60_000, buys: 1, sells: 2, costSol: 0.05 },
      ...{ proceedsSol: 0.05 * (1 + netPercent / 100), feesSol: 0.0002, netSol: (0.05 * netPercent) / 100, netPercent },
      ...{ entryReason: 'momentum of 5 min is 1.18', exitReason: 'take profit at +50 %', entryTag: '', exitTag: '' },
    }
  })
  return { roundTrips, next: to < size.trades ? String(to) : null } as unknown as RoundTripsAnswer
}

function orders(size: DeskSize, from: number, count: number): OrdersAnswer {
  const to = Math.min(size.trades, from + count)
  const list = Array.from({ length: to - from }, (_none, row) => {
    const index = from + row
    const isRefused = index % 4 === 1
    return {
      ...{
        id: `o${300 - index}`,
        bot: index % 3 === 0 ? 'dips' : 'momentum',
        mint: mintOf(index % 400),
        symbol: symbolOf(index, size),
      },
      ...{
        side: index % 2 === 0 ? 'buy' : 'sell',
        state: isRefused ? 'refused' : 'filled',
        code: isRefused ? 'POSITIONS_LIMIT' : '',
      },
      ...{
        reason: size.isHostile ? HOSTILE : 'momentum of 5 min is 1.18',
        time: NOW - index * 61_000,
        price: 2.9e-8,
        tag: '',
      },
    }
  })
  return { orders: list, next: to < size.trades ? String(to) : null } as unknown as OrdersAnswer
}

/** Returns a token with a robust price, prints that are sometimes far off, and actions of the bots. */
export function recordedToken(size: DeskSize, mint: string, bars: string, points = 2_000): TokenAnswer {
  const from = NOW - 3_600_000
  const times = Array.from({ length: points }, (_none, index) => from + Math.floor((index * 3_600_000) / points))
  const random = seededRandom(23)
  let level = 2.8e-8
  const prices = times.map(() => {
    level *= 1 + (random.next() - 0.497) * 0.03
    return level
  })
  const at = (share: number) => Math.floor(points * share)
  const noise = (index: number) => (index % 97 === 0 ? 2.4 : 0.97 + random.next() * 0.06)
  const fill = (share: number, side: 'buy' | 'sell', orderId: string) => {
    const [t, p] = [times[at(share)] as number, prices[at(share)] as number]
    return { t, p, sol: 0.05, side, orderId, bot: 'momentum', signature: 'x' }
  }
  const text = size.isHostile ? HOSTILE : 'the bot holds 5 positions, and its limit is 5'
  return {
    ...{
      mint,
      symbol: symbolOf(0, size),
      name: size.isHostile ? HOSTILE : 'Cat on the Moon',
      from,
      to: NOW,
      first: from,
      last: NOW,
    },
    price: [times, prices],
    prints: {
      ...{ t: times, p: prices.map((price, index) => price * noise(index)), sol: times.map(() => 0.4) },
      side: times.map((_time, index) => (index % 2 === 0 ? 'buy' : 'sell')),
    },
    bars: bars === '' ? null : barsOf(times, prices),
    fills: [fill(0.22, 'buy', 'o100'), fill(0.41, 'sell', 'o103'), fill(0.77, 'buy', 'o110')],
    refusals: [
      { t: times[at(0.6)] as number, id: 'd812.1', bot: 'dips', code: 'POSITIONS_LIMIT', text, count: 12, last: NOW },
      { t: times[at(0.9)] as number, id: 'd955.0', bot: 'dips', code: 'TOKEN_TOO_YOUNG', text, count: 1, last: NOW },
    ],
    notes: [
      {
        ...{ t: times[at(0.5)] as number, id: 'd777.0', bot: 'momentum', code: 'note' },
        ...{ text: 'momentum is 1.18', count: 1, last: NOW },
      },
    ],
    exits: [
      { bot: 'momentum', kind: 'takeProfit', price: 2.6e-8, at: null },
      { bot: 'momentum', kind: 'stopLoss', price: 1.6e-8, at: null },
    ],
    gaps: [{ from: times[at(0.32)] as number, to: times[at(0.34)] as number }],
  } as TokenAnswer
}

function barsOf(times: readonly number[], prices: readonly number[]): TokenAnswer['bars'] {
  const byMinute = Map.groupBy(times.keys(), (index) => Math.ceil(((times[index] as number) + 1) / 60_000))
  return [...byMinute].map(([minute, indexes]) => {
    const own = [...indexes].map((index) => prices[index] as number)
    return {
      t: minute * 60_000,
      o: own[0] as number,
      h: Math.max(...own),
      l: Math.min(...own),
      c: own.at(-1) as number,
      v: 12,
    }
  })
}

/** The refusals of a bot with a code ('': with any code), newest first. */
function refusals(size: DeskSize, code: string, from: number, count: number): RefusalsAnswer {
  const to = Math.min(size.trades, from + count)
  const list = Array.from({ length: to - from }, (_none, row) => ({
    ...{ id: `d${9_000 - from - row}.0`, time: NOW - (from + row) * 7_000, bot: 'momentum' },
    ...{ mint: mintOf(row % 400), symbol: symbolOf(row, size) },
    code: row % 3 === 2 ? 'POSITIONS_LIMIT' : 'TOKEN_TOO_YOUNG',
    text: size.isHostile ? HOSTILE : `the token is ${from + row} s old, and must be 600 s old`,
  }))
  return {
    refusals: list.filter((one) => code === '' || one.code === code),
    next: to < size.trades ? String(to) : null,
  }
}

/** Explains each refusal on its own, and everything else with the story of one order. */
function whyOf(subject: string, size: DeskSize): WhyAnswer {
  const own = subject.startsWith('d') ? { kind: 'decision', title: `${subject}: request of dips refused` } : {}
  const hostile = size.isHostile ? { symbol: HOSTILE, name: HOSTILE, title: HOSTILE } : {}
  return { ...why, ...own, ...hostile } as WhyAnswer
}

const why: WhyAnswer = {
  ...{ kind: 'order', title: 'o100  buy by momentum', mint: mintOf(0), symbol: 'MOONCAT', name: 'Cat on the Moon' },
  omitted: 0,
  lines: [
    { time: NOW - 50_000, what: 'decided', text: 'momentum of 5 min is 1.18, above 1.15', level: 'info' },
    { time: NOW - 49_900, what: 'sent', text: 'request 17 of 60 in this minute', level: 'info' },
    {
      time: NOW - 49_000,
      what: 'filled',
      text: '0.05 SOL for 1,250,000 tokens, 1.2 % above the robust price',
      level: 'warn',
    },
    { time: null, what: 'state', text: 'the position is open', level: 'info' },
  ],
}

/** The equity of a bot, or of both bots (''). The results of one bot were always recorded, and those of the other for
 *  three days. The answer for the other bot alone is that of a journal without records, so that the page shows each
 *  explanation. */
function equity(points: number, bot: string): EquityAnswer {
  const times = Array.from(
    { length: points },
    (_none, index) => NOW - 6 * 86_400_000 + (index * 6 * 86_400_000) / points,
  )
  const random = seededRandom(5)
  const line = (factor: number) => {
    let sum = 0
    return times.map(() => {
      sum += (factor / points) * (1 + (random.next() - 0.5) * 14)
      return sum
    })
  }
  const lines = { momentum: line(1.3), dips: line(-0.4) }
  const begins = { momentum: 0, dips: bot === 'dips' ? null : NOW - 3 * 86_400_000 }
  const wanted = <Value>(values: Readonly<Record<string, Value>>) =>
    Object.fromEntries(Object.entries(values).filter(([name]) => bot === '' || name === bot))
  return { mode: 'paper', modes: ['paper'], times, recordedFrom: wanted(begins), bots: wanted(lines) }
}

const money: MoneyAnswer = {
  ...{ mode: 'paper', modes: ['paper'], bots: ['momentum', 'dips'], openSol: -0.0311, straySol: -0.0004 },
  waterfall: [
    ['Gross', 1.482],
    ['Venue fees', -0.191],
    ['Service fees', -0.062],
    ['Base fees', -0.003],
    ['Priority fees', -0.118],
    ['Rent', -0.014],
    ['Own impact', -0.091],
    ['Net', 1.003],
  ].map(([label, sol]) => ({
    key: String(label),
    label: String(label),
    lamports: Number(sol) * 1e9,
    sol: Number(sol),
  })),
  daily: [0.21, -0.08, 0.34, 0.11, -0.02, 0.47].map((netSol, day) => ({
    day: `2026-11-${18 + day}`,
    netSol,
    trades: 40 + day,
  })),
  ledger: [
    {
      account: 'paper|sandbox|',
      ledgerLamports: 9_412_300_000,
      remainderLamports: 0,
      worstLamports: 0,
      auditedAt: NOW - 30_000,
    },
  ],
}

function log(size: DeskSize, from: number, count: number): LogAnswer {
  const levels = ['info', 'info', 'warn', 'info', 'error', 'info'] as const
  const all = Array.from({ length: Math.max(60, size.trades) }, (_none, index) => ({
    ...{ time: NOW - index * 9_000, seq: 1_204_113 - index * 40, level: levels[index % 6] as 'info', bot: 'momentum' },
    ...{
      mint: index % 2 === 0 ? mintOf(index) : '',
      decision: index % 2 === 0 ? `d${1_204_113 - index * 40}.0` : '',
      code: ['POSITIONS_LIMIT', 'MESSAGE', 'SLOW_STRATEGY'][index % 3] as string,
    },
    text: size.isHostile ? HOSTILE : 'the bot holds 5 positions, and its limit is 5',
  }))
  const to = Math.min(all.length, from + count)
  return { lines: all.slice(from, to), next: to < all.length ? String(to) : null } as unknown as LogAnswer
}

const results: ResultsAnswer = {
  runs: [
    {
      name: 'momentum-2026-11-20',
      path: 'results/momentum-2026-11-20',
      kind: 'backtest',
      time: NOW - 3e8,
      netSol: 0.912,
      page: '/results/momentum-2026-11-20/',
    },
    {
      name: 'sweep-size',
      path: 'results/sweep-size',
      kind: 'sweep',
      time: NOW - 2e8,
      netSol: 1.204,
      page: '/results/sweep-size/',
    },
  ],
}

const compare: CompareAnswer = {
  run: 'momentum-2026-11-20',
  differences: [{ what: 'strategy of momentum', a: '3fa1', b: '9c02' }],
  notes: ['The journal covers 6 days, the backtest 4.'],
  bots: [
    {
      bot: 'momentum',
      results: [
        { what: 'net SOL', a: 1.003, b: 0.912 },
        { what: 'round trips', a: 243, b: 251 },
      ],
    },
  ],
  decisions: { equal: 1204, a: null, b: null },
}

/** Returns the answer of `path`; undefined for an unknown path. */
export function recordedAnswer(path: string, query: URLSearchParams, size: DeskSize): unknown {
  const [from, count] = [Number(query.get('before') ?? 0), Number(query.get('limit') ?? 100)]
  const [, , name = '', subject = ''] = path.split('/')
  const answers: Readonly<Record<string, () => unknown>> = {
    view: () => recordedView(size),
    me: () => ({ id: 's1', name: 'phone', readOnly: false }),
    sessions: () => ({
      sessions: [
        {
          id: 's1',
          name: 'phone',
          readOnly: false,
          since: NOW - 5e6,
          seenAt: NOW,
          address: '127.0.0.1',
          browser: 'Chromium',
          isOwn: true,
        },
        {
          id: 's2',
          name: 'tablet',
          readOnly: true,
          since: NOW - 9e6,
          seenAt: NOW - 2e6,
          address: '127.0.0.1',
          browser: HOSTILE,
          isOwn: false,
        },
      ],
    }),
    orders: () => orders(size, from, count),
    'round-trips': () => roundTrips(size, from, count),
    token: () => recordedToken(size, decodeURIComponent(subject), query.get('bars') ?? ''),
    why: () => whyOf(decodeURIComponent(subject), size),
    refusals: () => refusals(size, query.get('code') ?? '', from, count),
    equity: () => equity(Number(query.get('points') ?? 600), query.get('bot') ?? ''),
    money: () => money,
    log: () => log(size, from, count),
    results: () => results,
    compare: () => compare,
  }
  return answers[name]?.()
}
