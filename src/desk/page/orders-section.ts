import { type ComponentChild, h } from 'preact'
import { useState } from 'preact/hooks'
import type { OrderStatus, ProofStatus } from '../../runtime/view/view.ts'
import type { OrdersAnswer } from '../api/types.ts'
import { PastOrders } from './bots-section.ts'
import { BotLink, Empty, Filter, Foreign, Section, TokenLink, Waiting } from './elements.ts'
import { ageText, percentText, printable, solText, wordsOf } from './format.ts'
import { Older, useList } from './paged-list.ts'
import type { Shown } from './shown.ts'
import { type Column, Table } from './table.ts'

export function OpenOrders({ shown }: { shown: Shown }): ComponentChild {
  const { openOrders } = shown.view
  const unknown = openOrders.filter(({ proof }) => proof !== null).length
  return h(
    Section,
    {
      title: 'Open orders',
      about: unknown === 0 ? '' : `${unknown} with an unknown outcome, which the chain will show`,
    },
    openOrders.length === 0
      ? h(Empty, {}, 'No order is open.')
      : h(Table<OrderStatus>, {
          label: 'Open orders',
          columns: columnsOf(shown),
          rows: openOrders,
          keyOf: ({ id }) => id,
          stampOf: ({ stageSince }) => ageText(shown.now - stageSince) + shown.canAct,
        }),
  )
}

function columnsOf({ now, canAct, act, explain }: Shown): readonly Column<OrderStatus>[] {
  return [
    {
      head: 'Order',
      cell: ({ id }) =>
        h('button', { type: 'button', class: 'link', 'aria-label': `Why ${id}`, onClick: () => explain(id) }, id),
    },
    { head: 'Bot', sort: ({ bot }) => bot, cell: ({ bot }) => h(BotLink, { bot }) },
    { head: 'What', cell: ({ side, kind }) => `${kind}, ${side}` },
    { head: 'Token', cell: ({ mint, symbol }) => h(TokenLink, { mint, symbol }) },
    {
      head: 'Size',
      isNumber: true,
      cell: ({ sol, percent }) => (sol !== null ? `${solText(sol)} SOL` : percentText(percent)),
    },
    { head: 'Stage', cell: (order) => h(Stage, { order }) },
    {
      head: 'For',
      isNumber: true,
      sort: ({ stageSince }) => -stageSince,
      cell: ({ stageSince }) => ageText(now - stageSince),
    },
    { head: 'Attempts', isNumber: true, cell: ({ attempts }) => String(attempts) },
    { head: 'Reason', isWide: true, cell: ({ reason }) => h(Foreign, { text: reason }) },
    {
      head: 'Cancel',
      cell: ({ id }) =>
        h(
          'button',
          {
            type: 'button',
            class: 'act',
            disabled: !canAct,
            'aria-label': `Cancel ${id}`,
            onClick: () => act({ action: 'cancel', order: id }),
          },
          'Cancel',
        ),
    },
  ]
}

/** The stage of an order. For an order with an unknown outcome, also how far the proof of the outcome has come. */
function Stage({ order: { stage, code, proof } }: { order: OrderStatus }): ComponentChild {
  const name = `${wordsOf(stage)}${code === '' ? '' : ` ${code}`}`
  if (proof === null) return h('span', {}, printable(name))
  return h(
    'span',
    { class: 'proof' },
    h('span', { class: 'warn' }, printable(name)),
    h(Blocks, { proof }),
    h('span', { class: 'quiet' }, h(Foreign, { text: proof.text })),
  )
}

/** The number of blocks that the proof of an order's outcome has checked; nothing if it is unknown. */
function Blocks({ proof: { block, of } }: { proof: ProofStatus }): ComponentChild {
  if (block === null || of === null) return null
  const done = Math.min(block, of)
  return [
    h('progress', {
      key: 'bar',
      value: done,
      max: Math.max(1, of),
      'aria-label': 'Blocks checked to prove the outcome',
    }),
    h('span', { key: 'text', class: 'number' }, `block ${done} of ${of}`),
  ]
}

export function OrdersPage({ shown }: { shown: Shown }): ComponentChild {
  const [bot, setBot] = useState('')
  const { rows, asked, more } = useList<OrdersAnswer, OrdersAnswer['orders'][number]>(
    '/api/orders',
    { bot },
    ({ orders }) => orders,
  )
  return h(
    'div',
    { class: 'stack' },
    h(OpenOrders, { shown }),
    h(
      Section,
      { title: 'Past orders', about: h(BotFilter, { shown, bot, choose: setBot }) },
      h(Waiting, { asked }),
      asked.answer === undefined ? null : h(PastOrders, { shown, orders: rows }),
      h(Older, { more, text: 'Older orders' }),
    ),
  )
}

export function BotFilter({
  shown,
  bot,
  choose,
}: {
  shown: Shown
  bot: string
  choose: (bot: string) => void
}): ComponentChild {
  return h(Filter, { label: 'Bot', values: shown.view.bots.map(({ name }) => name), value: bot, choose })
}
