import type { View } from '../../src/runtime/view/view.ts'

const NOW = Date.UTC(2026, 10, 23, 12)
const result = (netSol: number) => ({ realizedSol: netSol, feesSol: 0, unrealizedSol: 0, netSol })

const times = { bounds: [0.5, 1], counts: [3, 1, 2], sumSeconds: 8 }
const TOTALS: View['totals'] = {
  endedOrders: [
    { bot: 'dips', side: 'buy', state: 'filled', code: '', count: 5 },
    { bot: 'dips', side: 'sell', state: 'not_executed', code: 'SLIPPAGE_EXCEEDED', count: 2 },
  ] as View['totals']['endedOrders'],
  fillTimes: { entry: times, exit: { ...times, counts: [0, 0, 0], sumSeconds: 0 } },
  fills: [
    {
      ...{ bot: 'dips', side: 'buy', count: 5, tradedSol: 0.5, venueFeesSol: 0.006, serviceFeesSol: 0.0025 },
      ...{ baseFeesSol: 0.00005, priorityFeesSol: 0.0005, tipsSol: 0.00001, rentPaidSol: 0.01, rentReturnedSol: 0 },
    },
  ],
  failedFeesSol: { dips: 0.000105 },
}
const PROCESS: View['process'] = {
  ...{ version: '0.1.0', node: '24.21.0', startedAt: NOW - 3_605_000, cpuSeconds: 61.5, residentBytes: 3e8 },
  ...{ heapBytes: 6e7, busySeconds: 40.25, delayMs: { p99: 12, max: 87 }, decisions: times, shedRows: 3 },
  rpc: [
    { calls: 90, failures: 4 },
    { calls: 7, failures: 0 },
  ],
  ...{ alerts: { halted: 1, unknown: 2 }, lostAlerts: 1, heartbeat: { acceptedAt: NOW - 30_000, failures: 6 } },
}

/** Returns a view of one bot with a position, an order whose outcome is unknown, and a halt. */
export function viewOf(change: Partial<View> = {}): View {
  return {
    ...{ id: '1-1', title: 'bots.yaml', source: 'running', startedAt: NOW - 3_600_000, time: NOW, seq: 9 },
    ...{ decisions: 20, process: PROCESS, totals: TOTALS },
    ...{ rows: 10, orders: 2, fills: 1, feedLagMs: 120, gaps: 1, gapSeconds: 2, feed: 'live', reconnects: 0 },
    ...{ planNotice: '', brokenLists: [], brokenSources: [], undecided: [], lastFills: [], notices: [], beganAt: NOW },
    journal: { path: 'data/sluice.db', bytes: 1, freeBytes: 2 ** 33, waitingMs: 0 },
    plan: {
      name: 'standard',
      requestsPerMinute: 100,
      connections: 1,
      messagesPerSecond: 10,
      maxBuyLamports: 1 as never,
    },
    requests: { held: 3, allowed: 100, perMinute: 100, waiting: 1, holds: [] },
    decisionUs: { p50: 1, p99: 2 },
    stops: [{ code: 'HALTED', bots: ['dips'], since: NOW, until: null, text: 'halted by hand' }],
    wallets: [{ mode: 'paper', bots: ['dips'], solBalance: 9.5, positionsSol: 0.062 }],
    bots: [
      {
        ...{ name: 'dips', mode: 'paper', executor: 'cloud', strategy: 'dip-buyer', params: {} },
        ...{ positions: 1, openOrders: 1, realizedSol: 0, feesSol: 0, trades: 12, winPercent: 41.7 },
        ...{ sinceStart: result(0), sinceBeginning: result(-0.2), today: result(0.01) },
        ...{ refusals: { LANE_BUSY: 3 }, ownStops: [], last: null },
      },
    ],
    positions: [
      {
        ...{ id: 'a/MintAAAAAAAA', bot: 'dips', mint: 'MintAAAAAAAA', symbol: 'WIF', state: 'open', tokens: 5 },
        ...{ costSol: 0.05, valueSol: 0.062, openedAt: NOW - 90_000, selling: '', unsellable: false, price: 1 },
        ...{ changePercent: 24, entryReason: 'dip', orderId: 'o6', exits: [] },
      },
    ],
    openOrders: [
      {
        ...{ id: 'o7', bot: 'dips', mint: 'MintBBBBBBBB', symbol: '', side: 'buy', kind: 'entry', sol: 0.05 },
        ...{ percent: null, state: 'working', stage: 'unknown', stageSince: NOW - 5_000, attempts: 1, reason: 'dip' },
        ...{ code: 'ANSWER_LOST', proof: { text: 'waits for the block', block: 1, of: 150 } },
      },
    ],
    ...change,
  } as View
}

/** Returns a view of three bots in the live wallets `main` and `side` and in the paper wallet `trial`. */
export function viewOfWallets(): View {
  const [bot] = viewOf().bots
  const [position] = viewOf().positions
  const named = (name: string, mode: string, wallet: string) => ({ ...bot, name, mode, wallet })
  return viewOf({
    bots: [named('dips', 'live', 'main'), named('rises', 'live', 'side'), named('idea', 'paper', 'trial')] as never,
    wallets: [
      { name: 'main', mode: 'live', bots: ['dips'], solBalance: 2.5, positionsSol: 0.25 },
      { name: 'side', mode: 'live', bots: ['rises'], solBalance: 1.1, positionsSol: 0.2 },
      { name: 'trial', mode: 'paper', bots: ['idea'], solBalance: 9, positionsSol: 0 },
    ],
    positions: [
      { ...position, id: 'dips/Mint', bot: 'dips', wallet: 'main' },
      { ...position, id: 'rises/Mint', bot: 'rises', wallet: 'side' },
    ] as never,
  })
}
