import { type ComponentChild, h } from 'preact'
import type { View, WalletStatus } from '../../runtime/view/view.ts'
import { walletSums } from '../../runtime/view/wallet-sums.ts'
import { Amount, BotLink, Section } from './elements.ts'
import { NONE, printable, solText, wordsOf } from './format.ts'
import type { ActionRequest, Shown } from './shown.ts'
import { type Column, Table } from './table.ts'

/** A named wallet, or the sum over the wallets of one mode. */
interface Row extends Pick<WalletStatus, 'mode' | 'bots' | 'solBalance' | 'positionsSol'> {
  readonly label: string
  /** Name of the wallet; absent for a sum. */
  readonly name?: string
}

const ACTIONS = [
  ['halt', 'Halt'],
  ['resume', 'Resume'],
  ['flatten', 'Flatten'],
] as const satisfies readonly (readonly [ActionRequest['action'], string])[]

/**
 * The money of each named wallet, the sums for each mode, and the actions that concern one wallet. Shows nothing if the
 * wallets have no names.
 */
export function Wallets({ shown }: { shown: Shown }): ComponentChild {
  const rows = rowsOf(shown.view)
  if (rows.length === 0) return null
  return h(
    Section,
    { title: 'Wallets', about: 'SOL; positions as if sold now, results after all costs' },
    h(Table<Row>, { label: 'Wallets', columns: columnsOf(shown), rows, keyOf: ({ label }) => label }),
  )
}

function rowsOf({ wallets, bots }: View): Row[] {
  const named = wallets.flatMap((wallet) =>
    wallet.name === undefined ? [] : { ...wallet, name: wallet.name, label: printable(wallet.name) },
  )
  const sums = walletSums(named).map((sum) => ({
    ...sum,
    label: `all ${sum.count} wallets (${sum.mode})`,
    bots: bots.filter(({ mode }) => mode === sum.mode).map(({ name }) => name),
  }))
  return [...named, ...sums]
}

function columnsOf(shown: Shown): readonly Column<Row>[] {
  const { view, canAct, act } = shown
  const sumOf = ({ bots }: Row, of: (bot: View['bots'][number]) => number): number =>
    view.bots.reduce((sum, bot) => (bots.includes(bot.name) ? sum + of(bot) : sum), 0)
  const button = ([action, text]: (typeof ACTIONS)[number], wallet: string): ComponentChild =>
    h(
      'button',
      {
        ...{ key: action, type: 'button', class: 'act', disabled: !canAct },
        'aria-label': `${text} the wallet ${printable(wallet)}`,
        onClick: () => act({ action, wallet }),
      },
      text,
    )
  const actions: Column<Row> = {
    head: 'For this wallet',
    isWide: true,
    cell: ({ name }) =>
      name === undefined ? NONE : h('span', { class: 'line' }, ...ACTIONS.map((action) => button(action, name))),
  }
  return [
    { head: 'Wallet', cell: ({ label }) => label },
    { head: 'Mode', cell: ({ mode }) => mode },
    { head: 'Free', isNumber: true, cell: ({ solBalance }) => balanceText(solBalance) },
    { head: 'Held', isNumber: true, cell: ({ positionsSol }) => solText(positionsSol) },
    {
      head: 'In all',
      isNumber: true,
      cell: ({ solBalance, positionsSol }) => balanceText(solBalance === null ? null : solBalance + positionsSol),
    },
    {
      head: 'Net today',
      isNumber: true,
      cell: (row) => h(Amount, { sol: sumOf(row, ({ today }) => today.netSol) }),
    },
    {
      head: 'Net in all',
      isNumber: true,
      cell: (row) => h(Amount, { sol: sumOf(row, ({ sinceBeginning }) => sinceBeginning.netSol) }),
    },
    { head: 'Entries', cell: (row) => h(Entries, { view, row }) },
    {
      head: 'Bots',
      isWide: true,
      cell: ({ bots }) => bots.flatMap((bot, index) => [index === 0 ? '' : ', ', h(BotLink, { key: bot, bot })]),
    },
    ...(view.source === 'running' ? [actions] : []),
  ]
}

function balanceText(sol: number | null): string {
  return sol === null ? 'not read yet' : solText(sol)
}

/** Whether the bots of a wallet may buy. */
function Entries({ view: { stops }, row: { bots } }: { view: View; row: Row }): ComponentChild {
  const own = stops.filter((stop) => stop.bots.some((bot) => bots.includes(bot)))
  if (own.length === 0) return h('span', { class: 'gain' }, 'allowed')
  const isWhole = bots.every((bot) => own.some((stop) => stop.bots.includes(bot)))
  const codes = [...new Set(own.map(({ code }) => wordsOf(code)))].join(', ')
  return h('span', { class: 'bad' }, `${isWhole ? 'stopped' : 'stopped for some bots'}: ${codes}`)
}
