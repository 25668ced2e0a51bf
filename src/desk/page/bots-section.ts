import { type ComponentChild, h } from 'preact'
import { useRef, useState } from 'preact/hooks'
import type { BotStatus } from '../../runtime/view/view.ts'
import type { OrdersAnswer, RefusalsAnswer, RoundTripsAnswer } from '../api/types.ts'
import {
  Amount,
  BotLink,
  Empty,
  Filter,
  Foreign,
  Pairs,
  Percent,
  Section,
  TokenLink,
  useAnswer,
  Waiting,
} from './elements.ts'
import { EquityChart } from './equity-chart.ts'
import { ageText, NONE, percentText, printable, solText, timeText, wordsOf } from './format.ts'
import { Older, useList } from './paged-list.ts'
import { addressOf } from './route.ts'
import type { Shown } from './shown.ts'
import { type Column, Table } from './table.ts'

const TRADES_EVERY_MS = 15_000
const TRADES_SHOWN = 100

export function Bots({ shown }: { shown: Shown }): ComponentChild {
  const { bots } = shown.view
  return h(
    Section,
    { title: 'Bots', about: `results in SOL, after all costs` },
    h(Table<BotStatus>, {
      label: 'Bots',
      columns: columnsAt(
        shown.now,
        bots.some(({ wallet }) => wallet !== undefined),
      ),
      rows: bots,
      keyOf: ({ name }) => name,
      stampOf: ({ last }) => (last === null ? '' : ageText(shown.now - last.time)),
    }),
  )
}

/** `areNamed`: whether the wallets have names. */
function columnsAt(now: number, areNamed: boolean): readonly Column<BotStatus>[] {
  const walletColumn: Column<BotStatus> = {
    head: 'Wallet',
    sort: ({ wallet = '' }) => wallet,
    cell: ({ wallet = '' }) => printable(wallet),
  }
  return [
    { head: 'Bot', sort: ({ name }) => name, cell: ({ name }) => h(BotLink, { bot: name }) },
    ...(areNamed ? [walletColumn] : []),
    { head: 'Mode', cell: ({ mode, executor }) => (mode === 'live' ? `live, ${executor}` : mode) },
    {
      head: 'Net today',
      isNumber: true,
      sort: (bot) => bot.today.netSol,
      cell: (bot) => h(Amount, { sol: bot.today.netSol }),
    },
    {
      head: 'Net in all',
      isNumber: true,
      sort: (bot) => bot.sinceBeginning.netSol,
      cell: (bot) => h(Amount, { sol: bot.sinceBeginning.netSol }),
    },
    {
      head: 'Fees in all',
      isNumber: true,
      sort: (bot) => bot.sinceBeginning.feesSol,
      cell: (bot) => h(Amount, { sol: -bot.sinceBeginning.feesSol }),
    },
    { head: 'Trades', isNumber: true, sort: ({ trades }) => trades, cell: ({ trades }) => String(trades) },
    {
      head: 'Won',
      isNumber: true,
      sort: ({ winPercent }) => winPercent ?? -1,
      cell: ({ winPercent }) => percentText(winPercent),
    },
    { head: 'Holds', isNumber: true, sort: ({ positions }) => positions, cell: ({ positions }) => String(positions) },
    {
      head: 'Open orders',
      isNumber: true,
      sort: ({ openOrders }) => openOrders,
      cell: ({ openOrders }) => String(openOrders),
    },
    {
      head: 'Last decision',
      isWide: true,
      cell: ({ last }) =>
        last === null
          ? h('span', { class: 'quiet' }, 'none yet')
          : [h('span', { class: 'quiet' }, `${ageText(now - last.time)} ago `), h(Foreign, { text: last.text })],
    },
  ]
}

/** One bot: equity, refusals, round trips, orders, parameters. */
export function OneBot({ shown, name }: { shown: Shown; name: string }): ComponentChild {
  const bot = shown.view.bots.find((one) => one.name === name)
  if (bot === undefined)
    return h(Section, { title: 'Bot' }, h(Empty, {}, `There is no bot with the name “${printable(name)}”.`))
  const { sinceStart, sinceBeginning, today, winPercent, trades } = bot
  return h(
    'div',
    { class: 'stack' },
    h(
      Section,
      { title: `Bot ${name}`, about: h('a', { href: addressOf('bots') }, 'all bots') },
      h(Pairs, {
        pairs: [
          ['Strategy', h(Foreign, { text: bot.strategy })],
          ['Mode', bot.mode === 'live' ? `live, ${bot.executor}` : bot.mode],
          ...(bot.wallet === undefined ? [] : [['Wallet', printable(bot.wallet)] as const]),
          ['Net today', [h(Amount, { sol: today.netSol }), ' SOL']],
          ['Net since start', [h(Amount, { sol: sinceStart.netSol }), ' SOL']],
          ['Net in all', [h(Amount, { sol: sinceBeginning.netSol }), ' SOL']],
          ['Realised in all', [h(Amount, { sol: sinceBeginning.realizedSol }), ' SOL']],
          ['Unrealised now', [h(Amount, { sol: sinceBeginning.unrealizedSol }), ' SOL']],
          ['Fees in all', [h(Amount, { sol: -sinceBeginning.feesSol }), ' SOL']],
          ['Trades', trades],
          ['Won', percentText(winPercent)],
          ['Holds', bot.positions],
          ['Stops', bot.ownStops.length === 0 ? 'none' : bot.ownStops.map(wordsOf).join(', ')],
        ],
      }),
    ),
    h(Section, { title: 'Equity', about: 'since the first start' }, h(EquityChart, { bot: name, now: shown.now })),
    h('div', { class: 'columns' }, h(Refusals, { bot }), h(Parameters, { bot })),
    h(LastRefusals, { key: name, shown, bot }),
    h(RoundTrips, { shown, name }),
    h(LastOrders, { shown, name }),
  )
}

function Refusals({ bot }: { bot: BotStatus }): ComponentChild {
  const rows = Object.entries(bot.refusals).sort(([, one], [, other]) => other - one)
  return h(
    Section,
    { title: 'Refusals by code', about: 'since this start' },
    rows.length === 0
      ? h(Empty, {}, 'No order of this bot was refused.')
      : h(Table<[string, number]>, {
          label: 'Refusals by code',
          rows,
          keyOf: ([code]) => code,
          columns: [
            { head: 'Code', cell: ([code]) => h('code', {}, printable(code)) },
            { head: 'Number', isNumber: true, sort: ([, count]) => count, cell: ([, count]) => String(count) },
          ],
        }),
  )
}

/** Refused requests of the bot, with a button that explains each. */
function LastRefusals({ shown, bot }: { shown: Shown; bot: BotStatus }): ComponentChild {
  type Refused = RefusalsAnswer['refusals'][number]
  const [code, setCode] = useState('')
  const { rows, asked, more } = useList<RefusalsAnswer, Refused>(
    '/api/refusals',
    { bot: bot.name, code },
    ({ refusals }) => refusals,
  )
  const codes = useRef(new Set<string>())
  for (const one of [...Object.keys(bot.refusals), ...rows.map((row) => row.code)]) codes.current.add(one)
  return h(
    Section,
    {
      title: 'Refusals',
      about: [
        h(Filter, { key: 'code', label: 'Code', values: [...codes.current].sort(), value: code, choose: setCode }),
        ' newest first; since the journal began',
      ],
    },
    h(Waiting, { asked }),
    asked.answer === undefined
      ? null
      : rows.length === 0 && more === null
        ? h(
            Empty,
            {},
            code === '' ? 'The journal has no refusal of this bot.' : 'No refusal of this bot has this code.',
          )
        : h(Table<Refused>, {
            label: 'Refusals',
            rows,
            keyOf: ({ id }) => id,
            columns: [
              { head: 'Time', sort: ({ time }) => time, cell: ({ time }) => timeText(time, shown.now) },
              { head: 'Token', cell: ({ mint, symbol }) => h(TokenLink, { mint, symbol }) },
              { head: 'Code', sort: ({ code }) => code, cell: ({ code }) => h('code', {}, printable(code)) },
              { head: 'Reason', isWide: true, cell: ({ text }) => h(Foreign, { text }) },
              {
                head: 'Why',
                cell: ({ id }) =>
                  h(
                    'button',
                    { type: 'button', 'aria-label': `Why ${id}`, onClick: () => shown.explain(id) },
                    `why ${id}`,
                  ),
              },
            ],
          }),
    h(Older, { more, text: 'Older refusals' }),
  )
}

function Parameters({ bot }: { bot: BotStatus }): ComponentChild {
  return h(
    Section,
    { title: 'Parameters' },
    h('pre', { tabIndex: 0, 'aria-label': 'Parameters' }, printableLines(bot.params)),
  )
}

function printableLines(value: unknown): string {
  return (JSON.stringify(value, null, 2) ?? NONE).split('\n').map(printable).join('\n')
}

function RoundTrips({ shown, name }: { shown: Shown; name: string }): ComponentChild {
  type Trip = RoundTripsAnswer['roundTrips'][number]
  const { rows, asked, more } = useList<RoundTripsAnswer, Trip>(
    '/api/round-trips',
    { bot: name },
    ({ roundTrips }) => roundTrips,
  )
  return h(
    Section,
    { title: 'Round trips', about: 'newest first; amounts in SOL' },
    h(Waiting, { asked }),
    asked.answer === undefined
      ? null
      : rows.length === 0
        ? h(Empty, {}, 'No position of this bot has closed.')
        : h(Table<Trip>, {
            label: 'Round trips',
            rows,
            keyOf: ({ mint, openedAt, closedAt }) => `${mint}${openedAt}-${closedAt}`,
            columns: [
              {
                head: 'Closed',
                sort: ({ closedAt }) => closedAt,
                cell: ({ closedAt }) => timeText(closedAt, shown.now),
              },
              { head: 'Token', cell: ({ mint, symbol }) => h(TokenLink, { mint, symbol }) },
              {
                head: 'Held',
                isNumber: true,
                sort: (trip) => trip.heldSeconds,
                cell: (trip) => ageText(trip.heldSeconds * 1000),
              },
              { head: 'Cost', isNumber: true, sort: ({ costSol }) => costSol, cell: ({ costSol }) => solText(costSol) },
              { head: 'Fees', isNumber: true, sort: ({ feesSol }) => feesSol, cell: ({ feesSol }) => solText(feesSol) },
              {
                head: 'Net',
                isNumber: true,
                sort: ({ netSol }) => netSol,
                cell: ({ netSol }) => h(Amount, { sol: netSol }),
              },
              {
                head: 'Return',
                isNumber: true,
                sort: ({ netPercent }) => netPercent,
                cell: ({ netPercent }) => h(Percent, { value: netPercent }),
              },
              { head: 'Entry', isWide: true, cell: ({ entryReason }) => h(Foreign, { text: entryReason }) },
              { head: 'Exit', isWide: true, cell: ({ exitReason }) => h(Foreign, { text: exitReason }) },
            ],
          }),
    h(Older, { more, text: 'Older round trips' }),
  )
}

/** The bot's last orders, with a button that explains each. */
function LastOrders({ shown, name }: { shown: Shown; name: string }): ComponentChild {
  const asked = useAnswer<OrdersAnswer>(
    `/api/orders?bot=${encodeURIComponent(name)}&limit=${TRADES_SHOWN}`,
    TRADES_EVERY_MS,
  )
  return h(
    Section,
    { title: 'Orders of this bot', about: `the last ${TRADES_SHOWN}` },
    h(Waiting, { asked }),
    asked.answer === undefined ? null : h(PastOrders, { shown, orders: asked.answer.orders }),
  )
}

export function PastOrders({ shown, orders }: { shown: Shown; orders: OrdersAnswer['orders'] }): ComponentChild {
  type Past = OrdersAnswer['orders'][number]
  if (orders.length === 0) return h(Empty, {}, 'The journal has no orders.')
  return h(Table<Past>, {
    label: 'Past orders',
    rows: orders,
    keyOf: ({ id }) => id,
    columns: [
      { head: 'Time', sort: ({ time }) => time, cell: ({ time }) => timeText(time, shown.now) },
      { head: 'Bot', cell: ({ bot }) => h(BotLink, { bot }) },
      { head: 'Side', cell: ({ side }) => side },
      { head: 'Token', cell: ({ mint, symbol }) => h(TokenLink, { mint, symbol }) },
      { head: 'State', cell: ({ state, code }) => [wordsOf(state), code === '' ? '' : h('code', {}, ` ${code}`)] },
      { head: 'Reason', isWide: true, cell: ({ reason }) => h(Foreign, { text: reason }) },
      {
        head: 'Why',
        cell: ({ id }) =>
          h('button', { type: 'button', 'aria-label': `Why ${id}`, onClick: () => shown.explain(id) }, `why ${id}`),
      },
    ],
  })
}
