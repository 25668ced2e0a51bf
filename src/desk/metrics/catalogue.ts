import type { BotStatus, EntryStop, FillTotals, PositionStatus, ProcessStatus, View } from '../../runtime/view/view.ts'
import type { FeedState } from '../../venues/venue.ts'
import type { DistributionSample, Labels, Metric, Sample, Scrape } from './metric.ts'

const FEED_STATES = Object.keys({
  ...{ idle: 0, dialing: 0, authenticating: 0, subscribing: 0, live: 0, stale: 0, waiting: 0, refused: 0, stopped: 0 },
} satisfies Record<FeedState, 0>)
const STOP_CODES = Object.keys({
  ...{ HALTED: 0, FOREIGN_TX: 0, UNEXPECTED_FILL: 0, QUARANTINED: 0, EXITS_ONLY: 0, LOSING_STREAK: 0 },
  ...{ POSITIONS_LIMIT: 0, CHAIN_UNREAD: 0, DISK_LOW: 0, UNIT_CONTRADICTED: 0 },
} satisfies Record<EntryStop['code'], 0>)
const HOLD_CODES = Object.keys({
  ...{ HISTORY_UNKNOWN: 0, SMALLER_PLAN: 0, THROTTLED: 0, RETRY_AFTER: 0 },
} satisfies Record<View['requests']['holds'][number]['code'], 0>)

/** All metrics, by section. The answer of `/metrics` follows this table, and `npm run docs` generates
 *  docs/monitoring.md from it. A metric that is added here needs no other change. */
export const CATALOGUE: Readonly<Record<string, readonly Metric[]>> = {
  Process: [
    {
      ...{ name: 'sluice_build_info', type: 'gauge', unit: 'count', labels: ['version', 'node', 'source'] },
      help: 'Always 1; the labels are the versions of Sluice and Node, and what the desk shows: running bots, a recorded journal, or results.',
      from: 'process',
      read: ({ view }) => processed(view, ({ version, node }) => ({ version, node, source: view.source })),
    },
    {
      ...{ name: 'process_start_time_seconds', type: 'gauge', unit: 'seconds', labels: [] },
      help: 'Start of the process, seconds since 1970.',
      from: 'process.startedAt',
      read: ({ view }) => processed(view, ({ startedAt }) => startedAt / 1000),
    },
    {
      ...{ name: 'process_cpu_seconds_total', type: 'counter', unit: 'seconds', labels: [] },
      help: 'Processor time of the process.',
      from: 'process.cpuSeconds',
      read: ({ view }) => processed(view, ({ cpuSeconds }) => cpuSeconds),
    },
    {
      ...{ name: 'process_resident_memory_bytes', type: 'gauge', unit: 'bytes', labels: [] },
      help: 'Memory of the process.',
      from: 'process.residentBytes',
      read: ({ view }) => processed(view, ({ residentBytes }) => residentBytes),
    },
    {
      ...{ name: 'sluice_heap_bytes', type: 'gauge', unit: 'bytes', labels: [] },
      help: 'Memory of the JavaScript objects of the main thread.',
      from: 'process.heapBytes',
      read: ({ view }) => processed(view, ({ heapBytes }) => heapBytes),
    },
    {
      ...{ name: 'sluice_event_loop_busy_seconds_total', type: 'counter', unit: 'seconds', labels: [] },
      help: 'Time for which the event loop of the main thread was busy; the rate of this counter is the load, 0 to 1.',
      from: 'process.busySeconds',
      read: ({ view }) => processed(view, ({ busySeconds }) => busySeconds),
    },
    {
      ...{ name: 'sluice_event_loop_delay_seconds', type: 'gauge', unit: 'seconds', labels: ['of'] },
      help: 'Delay of the event loop of the main thread within the last minute: the longest delay, and the 99th percentile.',
      from: 'process.delayMs',
      read: ({ view: { process } }) =>
        process === null ? [] : each(process.delayMs, (of, ms) => ({ labels: { of }, value: ms / 1000 })),
    },
    {
      ...{ name: 'sluice_main_thread_silence_seconds', type: 'gauge', unit: 'seconds', labels: [] },
      help: 'Time since the main thread last reported that it is alive, which it does each second. If this time is long, all other values are old.',
      from: 'the thread of the desk',
      read: ({ silentMs }) => one(silentMs / 1000),
    },
    {
      ...{ name: 'sluice_run_start_time_seconds', type: 'gauge', unit: 'seconds', labels: [] },
      help: 'Start of the bots, seconds since 1970.',
      from: 'startedAt',
      read: ({ view }) => one(view.startedAt / 1000),
    },
  ],
  Feed: [
    {
      ...{ name: 'sluice_feed_state', type: 'gauge', unit: 'count', labels: ['state'] },
      help: "1 for the present state of the feed's connection, 0 for the others.",
      from: 'feed',
      read: ({ view }) => oneHot(FEED_STATES, 'state', [view.feed]),
    },
    {
      ...{ name: 'sluice_feed_lag_seconds', type: 'gauge', unit: 'seconds', labels: [] },
      help: 'Delay of the last market row at its arrival, minus the usual delay of market rows.',
      from: 'feedLagMs',
      read: ({ view }) => known(view.feedLagMs, 1000),
    },
    {
      ...{ name: 'sluice_feed_gaps_total', type: 'counter', unit: 'count', labels: [] },
      help: 'Number of interruptions of the feed or of the recording.',
      from: 'gaps',
      read: ({ view }) => one(view.gaps),
    },
    {
      ...{ name: 'sluice_feed_gap_seconds_total', type: 'counter', unit: 'seconds', labels: [] },
      help: 'Total duration of the interruptions of the feed or of the recording.',
      from: 'gapSeconds',
      read: ({ view }) => one(view.gapSeconds),
    },
    {
      ...{ name: 'sluice_feed_losses_total', type: 'counter', unit: 'count', labels: [] },
      help: "Losses of the feed's connection; each is followed by a reconnect.",
      from: 'reconnects',
      read: ({ view }) => one(view.reconnects),
    },
    {
      ...{ name: 'sluice_rows_total', type: 'counter', unit: 'count', labels: [] },
      help: 'Market rows since the start of the process.',
      from: 'rows',
      read: ({ view }) => one(view.rows),
    },
    {
      ...{ name: 'sluice_rows_shed_total', type: 'counter', unit: 'count', labels: [] },
      help: 'Market rows that were dropped under overload; rows of held tokens are never dropped.',
      from: 'process.shedRows',
      read: ({ view }) => processed(view, ({ shedRows }) => shedRows),
    },
  ],
  Decisions: [
    {
      ...{ name: 'sluice_decisions_total', type: 'counter', unit: 'count', labels: [] },
      help: 'Decisions of the engine that the journal records.',
      from: 'decisions',
      read: ({ view }) => one(view.decisions),
    },
    {
      ...{ name: 'sluice_decision_seconds', type: 'histogram', unit: 'seconds', labels: [] },
      help: 'Decision time per market row, averaged over rows that arrived together. Empty if the engine runs in a thread of its own.',
      from: 'process.decisions',
      read: ({ view: { process } }) => (process === null ? [] : [{ distribution: process.decisions }]),
    },
    {
      ...{ name: 'sluice_refusals_total', type: 'counter', unit: 'count', labels: ['bot', 'code'] },
      help: 'Requests of a strategy that the engine refused.',
      from: 'bots[].refusals',
      read: ({ view }) =>
        view.bots.flatMap(({ name: bot, refusals }) =>
          each(refusals, (code, value) => ({ labels: { bot, code }, value })),
        ),
    },
    {
      ...{ name: 'sluice_entries_stopped', type: 'gauge', unit: 'count', labels: ['bot'] },
      help: '1 if any reason stops the entries of the bot, 0 if none does. Exits continue.',
      from: 'bots[].ownStops',
      read: ({ view }) => ofBots(view, ({ ownStops }) => (ownStops.length > 0 ? 1 : 0), nameOf),
    },
    {
      ...{ name: 'sluice_entry_stops', type: 'gauge', unit: 'count', labels: ['bot', 'code'] },
      help: '1 for each reason that stops the entries of the bot, 0 for all other reasons.',
      from: 'bots[].ownStops',
      read: ({ view }) => view.bots.flatMap(({ name: bot, ownStops }) => oneHot(STOP_CODES, 'code', ownStops, { bot })),
    },
  ],
  'Requests to the service': [
    {
      ...{ name: 'sluice_requests_held', type: 'gauge', unit: 'count', labels: [] },
      help: 'Requests that count against the plan: those under way, and those of the last minute.',
      from: 'requests.held',
      read: ({ view }) => one(view.requests.held),
    },
    {
      ...{ name: 'sluice_requests_allowed', type: 'gauge', unit: 'count', labels: [] },
      help: 'Largest number of requests that may count against the plan at present; after a 429 it is lower than the plan.',
      from: 'requests.allowed',
      read: ({ view }) => one(view.requests.allowed),
    },
    {
      ...{ name: 'sluice_requests_plan', type: 'gauge', unit: 'count', labels: [] },
      help: 'Requests a minute that the plan allows to this process.',
      from: 'requests.perMinute',
      read: ({ view }) => one(view.requests.perMinute),
    },
    {
      ...{ name: 'sluice_requests_waiting', type: 'gauge', unit: 'count', labels: [] },
      help: 'Requests that wait because the plan allows no more at present.',
      from: 'requests.waiting',
      read: ({ view }) => one(view.requests.waiting),
    },
    {
      ...{ name: 'sluice_request_holds', type: 'gauge', unit: 'count', labels: ['code'] },
      help: '1 for each reason why fewer requests are allowed than the plan permits, 0 for all other reasons.',
      from: 'requests.holds',
      read: ({ view: { requests } }) =>
        oneHot(
          HOLD_CODES,
          'code',
          requests.holds.map(({ code }) => code),
        ),
    },
  ],
  Orders: [
    {
      ...{ name: 'sluice_orders_total', type: 'counter', unit: 'count', labels: [] },
      help: 'Orders since the start of the process.',
      from: 'orders',
      read: ({ view }) => one(view.orders),
    },
    {
      ...{
        name: 'sluice_orders_ended_total',
        type: 'counter',
        unit: 'count',
        labels: ['bot', 'side', 'state', 'code'],
      },
      help: 'Orders that have ended, by their last state and the code that explains it.',
      from: 'totals.endedOrders',
      read: ({ view }) => view.totals.endedOrders.map(({ count, ...labels }) => ({ labels, value: count })),
    },
    {
      ...{ name: 'sluice_orders_open', type: 'gauge', unit: 'count', labels: ['bot', 'side'] },
      help: 'Orders that have not ended.',
      from: 'openOrders',
      read: ({ view }) =>
        view.bots.flatMap(({ name: bot }) =>
          ['buy', 'sell'].map((side) => ({
            labels: { bot, side },
            value: view.openOrders.filter((order) => order.bot === bot && order.side === side).length,
          })),
        ),
    },
    {
      ...{ name: 'sluice_orders_unknown', type: 'gauge', unit: 'count', labels: ['bot'] },
      help: 'Orders that were sent and whose outcome the chain has not decided yet.',
      from: 'openOrders[].proof',
      read: ({ view }) => ofBots(view, ({ name }) => unknownOf(view).filter(({ bot }) => bot === name).length, nameOf),
    },
    {
      ...{ name: 'sluice_orders_unknown_age_seconds', type: 'gauge', unit: 'seconds', labels: [] },
      help: 'Age of the oldest order whose outcome is unknown; 0 if there is none.',
      from: 'openOrders[].stageSince',
      read: ({ view, now }) => one(Math.max(0, ...unknownOf(view).map(({ stageSince }) => now - stageSince)) / 1000),
    },
    {
      ...{ name: 'sluice_orders_held', type: 'gauge', unit: 'count', labels: ['bot'] },
      help: 'Orders that stay undecided because the evidence about their outcome is contradictory; `sluice resolve` explains them.',
      from: 'openOrders[].state',
      read: ({ view }) =>
        ofBots(
          view,
          ({ name }) => view.openOrders.filter(({ bot, state }) => bot === name && state === 'held').length,
          nameOf,
        ),
    },
    {
      ...{ name: 'sluice_fill_delay_seconds', type: 'histogram', unit: 'seconds', labels: ['kind'] },
      help: 'Time from the decision about an order to its fill, for entries and for exits.',
      from: 'totals.fillTimes',
      read: ({ view }) =>
        each(view.totals.fillTimes, (kind, distribution): DistributionSample => ({ labels: { kind }, distribution })),
    },
  ],
  'Fills and fees': [
    {
      ...{ name: 'sluice_fills_total', type: 'counter', unit: 'count', labels: ['bot', 'side'] },
      help: 'Executions of orders.',
      from: 'totals.fills[].count',
      read: ({ view }) => ofFills(view, ({ count }) => count),
    },
    {
      ...{ name: 'sluice_traded_sol_total', type: 'counter', unit: 'SOL', labels: ['bot', 'side'] },
      help: 'SOL paid or received for tokens, fees of venue and service included.',
      from: 'totals.fills[].tradedSol',
      read: ({ view }) => ofFills(view, ({ tradedSol }) => tradedSol),
    },
    {
      ...{ name: 'sluice_fees_sol_total', type: 'counter', unit: 'SOL', labels: ['bot', 'side', 'kind'] },
      help: 'Fees of fills by kind. If the chain does not show the fee of the service separately, it counts as a fee of the venue. If the chain shows neither fee separately, both count as part of the trade.',
      from: 'totals.fills[]',
      read: ({ view }) =>
        view.totals.fills.flatMap(({ bot, side, ...sums }) =>
          each(feesOf(sums), (kind, value) => ({ labels: { bot, side, kind }, value })),
        ),
    },
    {
      ...{ name: 'sluice_failed_fees_sol_total', type: 'counter', unit: 'SOL', labels: ['bot'] },
      help: 'Fees of transactions that failed on the chain.',
      from: 'totals.failedFeesSol',
      read: ({ view }) => ofBots(view, ({ name }) => view.totals.failedFeesSol[name] ?? 0, nameOf),
    },
    {
      ...{ name: 'sluice_rent_paid_sol_total', type: 'counter', unit: 'SOL', labels: ['bot', 'side'] },
      help: 'Rent paid for accounts.',
      from: 'totals.fills[].rentPaidSol',
      read: ({ view }) => ofFills(view, ({ rentPaidSol }) => rentPaidSol),
    },
    {
      ...{ name: 'sluice_rent_returned_sol_total', type: 'counter', unit: 'SOL', labels: ['bot', 'side'] },
      help: 'Rent returned by closed accounts.',
      from: 'totals.fills[].rentReturnedSol',
      read: ({ view }) => ofFills(view, ({ rentReturnedSol }) => rentReturnedSol),
    },
  ],
  Money: [
    {
      ...{ name: 'sluice_wallet_balance_sol', type: 'gauge', unit: 'SOL', labels: ['mode', 'bots'] },
      help: 'Balance of a wallet, as last read.',
      from: 'wallets[].solBalance',
      read: ({ view }) => ofWallets(view, ({ solBalance }) => solBalance),
    },
    {
      ...{ name: 'sluice_equity_sol', type: 'gauge', unit: 'SOL', labels: ['mode', 'bots'] },
      help: 'Balance of a wallet and the value of its positions if sold now.',
      from: 'wallets[]',
      read: ({ view }) =>
        ofWallets(view, ({ solBalance, positionsSol }) => (solBalance === null ? null : solBalance + positionsSol)),
    },
    {
      ...{ name: 'sluice_positions', type: 'gauge', unit: 'count', labels: ['bot', 'mode'] },
      help: 'Positions that are not closed.',
      from: 'positions',
      read: ({ view }) => ofBots(view, ({ name }) => positionsOf(view, name).length),
    },
    {
      ...{ name: 'sluice_positions_cost_sol', type: 'gauge', unit: 'SOL', labels: ['bot', 'mode'] },
      help: 'Cost of the open positions.',
      from: 'positions[].costSol',
      read: ({ view }) => ofBots(view, ({ name }) => sumOf(positionsOf(view, name), ({ costSol }) => costSol)),
    },
    {
      ...{ name: 'sluice_positions_value_sol', type: 'gauge', unit: 'SOL', labels: ['bot', 'mode'] },
      help: 'Value of the positions if sold now; a position without a price counts with its cost.',
      from: 'positions[].valueSol',
      read: ({ view }) =>
        ofBots(view, ({ name }) => sumOf(positionsOf(view, name), ({ valueSol, costSol }) => valueSol ?? costSol)),
    },
    {
      ...{ name: 'sluice_positions_unpriced', type: 'gauge', unit: 'count', labels: ['bot', 'mode'] },
      help: 'Open positions whose value is unknown, because the token has no price.',
      from: 'positions[].valueSol',
      read: ({ view }) =>
        ofBots(view, ({ name }) => positionsOf(view, name).filter(({ valueSol }) => valueSol === null).length),
    },
    {
      ...{ name: 'sluice_positions_unsellable', type: 'gauge', unit: 'count', labels: ['bot', 'mode'] },
      help: 'Open positions whose last three sales failed.',
      from: 'positions[].unsellable',
      read: ({ view }) =>
        ofBots(view, ({ name }) => positionsOf(view, name).filter(({ unsellable }) => unsellable).length),
    },
    {
      ...{ name: 'sluice_positions_oldest_seconds', type: 'gauge', unit: 'seconds', labels: ['bot', 'mode'] },
      help: 'Age of the oldest open position; 0 if no position is open.',
      from: 'positions[].openedAt',
      read: ({ view, now }) =>
        ofBots(
          view,
          ({ name }) => Math.max(0, ...positionsOf(view, name).map(({ openedAt }) => now - openedAt)) / 1000,
        ),
    },
    {
      ...{ name: 'sluice_profit_sol', type: 'gauge', unit: 'SOL', labels: ['bot', 'mode'] },
      help: 'Net result since the first start of the journal: realized, minus fees, plus the change of the open positions.',
      from: 'bots[].sinceBeginning.netSol',
      read: ({ view }) => ofBots(view, ({ sinceBeginning }) => sinceBeginning.netSol),
    },
    {
      ...{ name: 'sluice_realized_sol', type: 'gauge', unit: 'SOL', labels: ['bot', 'mode'] },
      help: 'Proceeds of the sales minus the cost of the tokens sold, since the first start of the journal.',
      from: 'bots[].sinceBeginning.realizedSol',
      read: ({ view }) => ofBots(view, ({ sinceBeginning }) => sinceBeginning.realizedSol),
    },
    {
      ...{ name: 'sluice_unrealized_sol', type: 'gauge', unit: 'SOL', labels: ['bot', 'mode'] },
      help: 'Value of the open positions minus their cost.',
      from: 'bots[].sinceBeginning.unrealizedSol',
      read: ({ view }) => ofBots(view, ({ sinceBeginning }) => sinceBeginning.unrealizedSol),
    },
    {
      ...{ name: 'sluice_network_fees_sol', type: 'gauge', unit: 'SOL', labels: ['bot', 'mode'] },
      help: 'Network fees, and rent that was not returned, since the first start of the journal.',
      from: 'bots[].sinceBeginning.feesSol',
      read: ({ view }) => ofBots(view, ({ sinceBeginning }) => sinceBeginning.feesSol),
    },
    {
      ...{ name: 'sluice_profit_today_sol', type: 'gauge', unit: 'SOL', labels: ['bot', 'mode'] },
      help: 'Net result of the present UTC day.',
      from: 'bots[].today.netSol',
      read: ({ view }) => ofBots(view, ({ today }) => today.netSol),
    },
    {
      ...{ name: 'sluice_profit_run_sol', type: 'gauge', unit: 'SOL', labels: ['bot', 'mode'] },
      help: 'Net result since the present start of the process.',
      from: 'bots[].sinceStart.netSol',
      read: ({ view }) => ofBots(view, ({ sinceStart }) => sinceStart.netSol),
    },
    {
      ...{ name: 'sluice_round_trips_total', type: 'counter', unit: 'count', labels: ['bot', 'mode'] },
      help: 'Positions that were closed since the first start of the journal.',
      from: 'bots[].trades',
      read: ({ view }) => ofBots(view, ({ trades }) => trades),
    },
    {
      ...{ name: 'sluice_win_ratio', type: 'gauge', unit: 'ratio', labels: ['bot', 'mode'] },
      help: 'Share of the closed positions that earned more than their network fees and rent, 0 to 1.',
      from: 'bots[].winPercent',
      read: ({ view }) => ofBots(view, ({ winPercent }) => (winPercent === null ? null : winPercent / 100)),
    },
  ],
  'Journal and disk': [
    {
      ...{ name: 'sluice_journal_bytes', type: 'gauge', unit: 'bytes', labels: [] },
      help: "Size of the journal's files.",
      from: 'journal.bytes',
      read: ({ view }) => one(view.journal.bytes),
    },
    {
      ...{ name: 'sluice_disk_free_bytes', type: 'gauge', unit: 'bytes', labels: [] },
      help: 'Free space on the disk of the journal.',
      from: 'journal.freeBytes',
      read: ({ view }) => one(view.journal.freeBytes),
    },
    {
      ...{ name: 'sluice_journal_waiting_seconds', type: 'gauge', unit: 'seconds', labels: [] },
      help: 'Age of the oldest commit of the journal that is not on the disk yet. An order is sent only after its commit is on the disk.',
      from: 'journal.waitingMs',
      read: ({ view }) => one(view.journal.waitingMs / 1000),
    },
  ],
  'Chain, alerts and lists': [
    {
      ...{ name: 'sluice_rpc_calls_total', type: 'counter', unit: 'count', labels: ['provider'] },
      help: 'Calls to each RPC provider. The providers are numbered in the order of `chain.rpc`. Only the calls of live bots are counted.',
      from: 'process.rpc[].calls',
      read: ({ view }) => ofProviders(view, ({ calls }) => calls),
    },
    {
      ...{ name: 'sluice_rpc_failures_total', type: 'counter', unit: 'count', labels: ['provider'] },
      help: 'Calls that the provider did not answer, or answered with 429 or an error of the node.',
      from: 'process.rpc[].failures',
      read: ({ view }) => ofProviders(view, ({ failures }) => failures),
    },
    {
      ...{ name: 'sluice_alerts_total', type: 'counter', unit: 'count', labels: ['kind'] },
      help: 'Alerts that were raised, even if no receiver is configured.',
      from: 'process.alerts',
      read: ({ view: { process } }) =>
        process === null ? [] : each(process.alerts, (kind, value) => ({ labels: { kind }, value })),
    },
    {
      ...{ name: 'sluice_alerts_lost_total', type: 'counter', unit: 'count', labels: [] },
      help: 'Alerts that the webhook did not receive.',
      from: 'process.lostAlerts',
      read: ({ view }) => processed(view, ({ lostAlerts }) => lostAlerts),
    },
    {
      ...{ name: 'sluice_heartbeat_accepted_time_seconds', type: 'gauge', unit: 'seconds', labels: [] },
      help: 'Time of the last heartbeat that the receiver accepted, seconds since 1970; 0 before the first.',
      from: 'process.heartbeat.acceptedAt',
      read: ({ view }) =>
        processed(view, ({ heartbeat }) => (heartbeat === null ? null : (heartbeat.acceptedAt ?? 0) / 1000)),
    },
    {
      ...{ name: 'sluice_heartbeat_failures_total', type: 'counter', unit: 'count', labels: [] },
      help: 'Heartbeats that the receiver did not accept.',
      from: 'process.heartbeat.failures',
      read: ({ view }) => processed(view, ({ heartbeat }) => heartbeat?.failures ?? null),
    },
    {
      ...{ name: 'sluice_broken_lists', type: 'gauge', unit: 'count', labels: [] },
      help: 'Filter lists whose file has a problem; the last valid list stays in use.',
      from: 'brokenLists',
      read: ({ view }) => one(view.brokenLists.length),
    },
    {
      ...{ name: 'sluice_broken_sources', type: 'gauge', unit: 'count', labels: [] },
      help: 'Sources of strategies whose last answer was not valid; the last valid data stays in use.',
      from: 'brokenSources',
      read: ({ view }) => one(view.brokenSources.length),
    },
  ],
}

function one(value: number): Sample[] {
  return [{ value }]
}

/** The value divided by `unit`; null if there is no value. */
function known(value: number | null, unit: number): Sample[] {
  return value === null ? [] : one(value / unit)
}

function each<V, S>(values: Readonly<Record<string, V>>, sampleOf: (key: string, value: V) => S): S[] {
  return Object.entries(values).map(([key, value]) => sampleOf(key, value))
}

/** One series for each name in `all`, with this name as the value of the label `label`. Its value is 1 if `present`
 *  contains the name, otherwise 0. */
function oneHot(all: readonly string[], label: string, present: readonly string[], labels: Labels = {}): Sample[] {
  return all.map((name) => ({ labels: { ...labels, [label]: name }, value: present.includes(name) ? 1 : 0 }))
}

/** Sample of the value that `read` returns for the process. If `read` returns labels, the sample has these labels and
 *  the value 1. There is no sample without a process or a value. */
function processed({ process }: View, read: (process: ProcessStatus) => number | null | Labels): Sample[] {
  const found = process === null ? null : read(process)
  if (found === null) return []
  return [typeof found === 'number' ? { value: found } : { labels: found, value: 1 }]
}

const nameOf = ({ name }: BotStatus): Labels => ({ bot: name })
const nameAndMode = ({ name, mode }: BotStatus): Labels => ({ bot: name, mode })

function ofBots(
  { bots }: View,
  read: (bot: BotStatus) => number | null,
  labelsOf: (bot: BotStatus) => Labels = nameAndMode,
): Sample[] {
  return bots.flatMap((bot) => {
    const value = read(bot)
    return value === null ? [] : [{ labels: labelsOf(bot), value }]
  })
}

function ofWallets({ wallets }: View, read: (wallet: View['wallets'][number]) => number | null): Sample[] {
  return wallets.flatMap((wallet) => {
    const value = read(wallet)
    return value === null ? [] : [{ labels: { mode: wallet.mode, bots: wallet.bots.join(',') }, value }]
  })
}

function ofFills({ totals }: View, read: (fills: FillTotals) => number): Sample[] {
  return totals.fills.map((fills) => ({ labels: { bot: fills.bot, side: fills.side }, value: read(fills) }))
}

function ofProviders({ process }: View, read: (use: ProcessStatus['rpc'][number]) => number): Sample[] {
  return (process?.rpc ?? []).map((use, index) => ({ labels: { provider: `${index + 1}` }, value: read(use) }))
}

function feesOf(sums: Omit<FillTotals, 'bot' | 'side'>): Record<string, number> {
  const { venueFeesSol: venue, serviceFeesSol: service, baseFeesSol: base, priorityFeesSol: priority } = sums
  return { venue, service, base, priority, tip: sums.tipsSol }
}

function positionsOf({ positions }: View, name: string): PositionStatus[] {
  return positions.filter(({ bot }) => bot === name)
}

/** Sum of amounts of SOL, rounded to the lamport. */
function sumOf(positions: readonly PositionStatus[], read: (position: PositionStatus) => number): number {
  return Math.round(positions.reduce((sum, position) => sum + read(position), 0) * 1e9) / 1e9
}

function unknownOf({ openOrders }: Scrape['view']): View['openOrders'] {
  return openOrders.filter(({ proof }) => proof !== null)
}
