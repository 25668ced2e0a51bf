import { type ComponentChild, h } from 'preact'
import { useState } from 'preact/hooks'
import type { LedgerRow, MoneyAnswer } from '../api/types.ts'
import { waterfallSteps } from './chart-data.ts'
import { Amount, Choice, Empty, Section, useAnswer, Waiting } from './elements.ts'
import { DailyChart, EquityChart } from './equity-chart.ts'
import { countText, NONE, printable, timeText } from './format.ts'
import { BotFilter } from './orders-section.ts'
import type { Shown } from './shown.ts'
import { Table } from './table.ts'

const EVERY_MS = 30_000

export function Money({ shown, theme }: { shown: Shown; theme: string }): ComponentChild {
  const [bot, setBot] = useState('')
  const [mode, setMode] = useState('')
  const query = new URLSearchParams(Object.entries({ bot, mode }).filter(([, value]) => value !== ''))
  const asked = useAnswer<MoneyAnswer>(`/api/money?${query}`, EVERY_MS)
  const { answer } = asked
  const modes = answer?.modes ?? []
  return h(
    'div',
    { class: 'stack' },
    h(
      Section,
      { title: 'Equity', about: h(BotFilter, { shown, bot, choose: setBot }) },
      h(EquityChart, { key: `${bot} ${mode} ${theme}`, bot, mode, now: shown.now }),
    ),
    modes.length < 2
      ? null
      : h(Choice<string>, {
          label: 'Mode',
          options: modes.map((value) => ({ value, text: value })),
          value: answer?.mode ?? '',
          choose: setMode,
        }),
    h(Waiting, { asked }),
    answer === undefined
      ? null
      : [
          h(
            'div',
            { class: 'columns', key: 'money' },
            h(
              Section,
              { title: 'From gross to net', about: 'SOL' },
              h(Waterfall, { rows: answer.waterfall }),
              h(Rest, { answer }),
            ),
            h(
              Section,
              { title: 'Each day', about: 'net SOL of the round trips that closed, UTC' },
              h(DailyChart, { key: theme, daily: answer.daily }),
              h(Days, { daily: answer.daily }),
            ),
          ),
          h(
            Section,
            {
              key: 'ledger',
              title: 'Ledger',
              about: 'accounts for every lamport of the wallet, and is compared with the chain',
            },
            h(Ledger, { rows: answer.ledger, now: shown.now }),
          ),
        ],
  )
}

function Waterfall({ rows }: { rows: MoneyAnswer['waterfall'] }): ComponentChild {
  if (rows.length === 0) return h(Empty, {}, 'The journal has no results yet.')
  return h(
    'table',
    { class: 'waterfall', 'aria-label': 'From gross to net' },
    h(
      'tbody',
      {},
      waterfallSteps(rows).map(({ label, sol, left, width, isTotal }) =>
        h(
          'tr',
          { key: label, class: isTotal ? 'total' : '' },
          h('th', { scope: 'row' }, printable(label)),
          h('td', { class: 'right' }, h(Amount, { sol })),
          h(
            'td',
            { class: 'bar', 'aria-hidden': true },
            h('i', { class: sol < 0 ? 'loss' : 'gain', style: { marginLeft: `${left}%`, width: `${width}%` } }),
          ),
        ),
      ),
    ),
  )
}

/** Explains the parts of the net result that belong to no day. */
function Rest({ answer: { openSol, straySol } }: { answer: MoneyAnswer }): ComponentChild {
  return h(
    'p',
    { class: 'quiet' },
    'The net result is the sum of the days, plus ',
    h(Amount, { sol: openSol }),
    ' SOL for the open positions if they were sold now, plus ',
    h(Amount, { sol: straySol }),
    ' SOL for failed transactions that belong to no round trip.',
  )
}

function Days({ daily }: { daily: MoneyAnswer['daily'] }): ComponentChild {
  if (daily.length === 0) return null
  return h(
    'details',
    {},
    h('summary', {}, 'Days as a table'),
    h(Table<MoneyAnswer['daily'][number]>, {
      label: 'Days',
      rows: [...daily].reverse(),
      keyOf: ({ day }) => day,
      columns: [
        { head: 'Day', sort: ({ day }) => day, cell: ({ day }) => day },
        {
          head: 'Net SOL',
          isNumber: true,
          sort: ({ netSol }) => netSol,
          cell: ({ netSol }) => h(Amount, { sol: netSol }),
        },
        { head: 'Trades', isNumber: true, sort: ({ trades }) => trades, cell: ({ trades }) => String(trades) },
      ],
    }),
  )
}

function Ledger({ rows, now }: { rows: readonly LedgerRow[]; now: number }): ComponentChild {
  if (rows.length === 0) return h(Empty, {}, 'The journal has no ledger.')
  const lamports = (value: number | null): string => (value === null ? NONE : countText(value))
  return h(Table<LedgerRow>, {
    label: 'Ledger',
    rows,
    keyOf: ({ account }) => account,
    columns: [
      ...(rows.some(({ wallet }) => wallet !== undefined)
        ? [{ head: 'Wallet', cell: ({ wallet = '' }: LedgerRow) => printable(wallet) }]
        : []),
      { head: 'Account', isWide: true, cell: ({ account }) => h('code', {}, printable(account)) },
      { head: 'Ledger, lamports', isNumber: true, cell: ({ ledgerLamports }) => lamports(ledgerLamports) },
      {
        head: 'Remainder, lamports',
        isNumber: true,
        cell: ({ remainderLamports }) =>
          remainderLamports === null
            ? h('span', { class: 'quiet' }, 'not compared yet')
            : h(
                'span',
                { class: remainderLamports === 0 ? '' : 'bad' },
                `${lamports(remainderLamports)}${remainderLamports === 0 ? ' (all explained)' : ' unexplained'}`,
              ),
      },
      { head: 'Largest remainder, lamports', isNumber: true, cell: ({ worstLamports }) => lamports(worstLamports) },
      { head: 'Compared', cell: ({ auditedAt }) => (auditedAt === null ? NONE : timeText(auditedAt, now)) },
    ],
  })
}
