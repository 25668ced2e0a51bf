import { type ComponentChild, h } from 'preact'
import type { ExitStatus, PositionStatus } from '../../runtime/view/view.ts'
import { BotLink, Empty, Foreign, Percent, Section, TokenLink } from './elements.ts'
import { ageText, exitName, NONE, priceText, printable, signedPercent, solText, tokenText, wordsOf } from './format.ts'
import { type Shown, saleOf } from './shown.ts'
import { type Column, Table } from './table.ts'

export function Positions({ shown }: { shown: Shown }): ComponentChild {
  const { positions, bots } = shown.view
  const worth = positions.reduce((sum, { valueSol, costSol }) => sum + (valueSol ?? costSol), 0)
  const cost = positions.reduce((sum, { costSol }) => sum + costSol, 0)
  // Sums are shown only if all bots have the same mode, because paper money and real money are never added up.
  const isOneMode = new Set(bots.map(({ mode }) => mode)).size === 1
  const sums = isOneMode ? `: cost ${solText(cost)} SOL, worth ${solText(worth)} SOL if sold now` : ''
  const about = positions.length === 0 ? '' : `${positions.length} open${sums}`
  return h(
    Section,
    { title: 'Positions', about },
    positions.length === 0
      ? h(Empty, {}, 'No position is open.')
      : h(Table<PositionStatus>, {
          label: 'Positions',
          columns: columnsOf(shown),
          rows: positions,
          keyOf: ({ id }) => id,
          stampOf: ({ openedAt, exits }) =>
            [openedAt, ...exits.map(({ at }) => at ?? 0)].map((at) => ageText(Math.abs(shown.now - at))).join() +
            shown.canAct,
        }),
  )
}

function columnsOf(shown: Shown): readonly Column<PositionStatus>[] {
  const { now, canAct, act } = shown
  const hasNames = shown.view.wallets.some(({ name }) => name !== undefined)
  const walletOf = ({ wallet = '' }: PositionStatus): string => wallet
  return [
    {
      head: 'Token',
      sort: ({ symbol, mint }) => symbol || mint,
      cell: ({ mint, symbol }) => h(TokenLink, { mint, symbol }),
    },
    { head: 'Bot', sort: ({ bot }) => bot, cell: ({ bot }) => h(BotLink, { bot }) },
    ...(!hasNames
      ? []
      : [{ head: 'Wallet', sort: walletOf, cell: (position: PositionStatus) => printable(walletOf(position)) }]),
    { head: 'Cost SOL', isNumber: true, sort: ({ costSol }) => costSol, cell: ({ costSol }) => solText(costSol) },
    {
      head: 'If sold now SOL',
      isNumber: true,
      sort: ({ valueSol }) => valueSol ?? -1,
      cell: ({ valueSol }) => (valueSol === null ? h('span', { class: 'quiet' }, 'no price') : solText(valueSol)),
    },
    {
      head: 'Change',
      isNumber: true,
      sort: ({ changePercent }) => changePercent ?? Number.NEGATIVE_INFINITY,
      cell: ({ changePercent }) => h(Percent, { value: changePercent }),
    },
    { head: 'Price SOL', isNumber: true, sort: ({ price }) => price ?? -1, cell: ({ price }) => priceText(price) },
    { head: 'Age', isNumber: true, sort: ({ openedAt }) => -openedAt, cell: ({ openedAt }) => ageText(now - openedAt) },
    { head: 'Exits', isWide: true, cell: (position) => h(Exits, { position, now }) },
    {
      head: 'Entry reason',
      isWide: true,
      cell: ({ entryReason, orderId }) => [
        h(Foreign, { text: entryReason || NONE }),
        orderId === '' ? '' : ' ',
        orderId === ''
          ? ''
          : h('button', { type: 'button', class: 'link', onClick: () => shown.explain(orderId) }, `why ${orderId}`),
      ],
    },
    {
      head: 'Sell',
      cell: (position) =>
        h(
          'button',
          {
            ...{ type: 'button', class: 'act', disabled: !canAct },
            'aria-label': `Sell ${tokenText(position.symbol, position.mint)} of ${position.bot}`,
            onClick: () => act(saleOf(position)),
          },
          'Sell',
        ),
    },
  ]
}

export function Exits({ position, now }: { position: PositionStatus; now: number }): ComponentChild {
  const { exits, selling, unsellable, state } = position
  const own = selling === '' ? '' : unsellable ? selling : `selling: ${selling}`
  return h(
    'ul',
    { class: 'exits' },
    own === '' ? null : h('li', { class: 'warn' }, h(Foreign, { text: own })),
    state === 'open' || selling !== '' ? null : h('li', { class: 'quiet' }, wordsOf(state)),
    exits.map((exit) => h('li', { key: exit.kind + exit.price }, exitText(exit, now))),
    exits.length === 0 && own === '' ? h('li', { class: 'quiet' }, 'no exit rule') : null,
  )
}

/**
 * Text of an exit with its price and the distance of the present price from it, or with the time at which the exit
 * acts.
 */
function exitText({ kind, price, distancePercent, at }: ExitStatus, now: number): string {
  const name = exitName(kind)
  if (price !== null) return `${name} ${priceText(price)} (${signedPercent(distancePercent)})`
  return at === null ? name : `${name} in ${ageText(at - now)}`
}
