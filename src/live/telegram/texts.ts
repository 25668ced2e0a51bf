import { counted, printable } from '../../base/text.ts'
import type { Millis } from '../../base/units.ts'
import { dateTimeOf, durationOf, utcDateOf } from '../../runtime/time-text.ts'
import { botsByWallet, summedBots, totalOf } from '../../runtime/view/bot-results.ts'
import type { OrderStatus, PositionStatus, View, WalletStatus } from '../../runtime/view/view.ts'
import { walletSums } from '../../runtime/view/wallet-sums.ts'

/** Longest text of a message. Telegram accepts 4,096 UTF-16 units. */
const LONGEST_TEXT = 4_000
const HELP = [
  '/status     feed, plan, and the reasons that stop entries',
  '/positions  open positions and their value if sold now',
  '/pnl        result of each bot',
  '/orders     open orders and the last fills',
  '/budget     requests left in this minute',
  '/why ID     why an order was made, or why a token is held or not held',
  '/report     results and costs over all starts of the journal',
]
const OPERATOR_HELP = [
  'Each of these commands first shows its effect and asks for a confirmation:',
  '/halt       stop buying; exits continue',
  '/resume     allow buying again',
  '/sell MINT  sell a token; the beginning of its mint suffices',
  '/flatten    stop buying and sell everything',
]

/** Returns the lines that answer a question. An unknown command receives the list of commands. */
export function answerTo(command: string, view: View, isOperator: boolean): string[] {
  switch (command) {
    case '/status':
      return statusLines(view)
    case '/positions':
      return positionLines(view)
    case '/pnl':
      return resultLines(view)
    case '/orders':
      return orderLines(view)
    case '/budget':
      return budgetLines(view)
    default:
      return isOperator ? [...HELP, ...OPERATOR_HELP, ...walletHelp(view)] : HELP
  }
}

function walletHelp({ wallets }: View): string[] {
  const names = wallets.flatMap(({ name }) => name ?? [])
  return names.length === 0 ? [] : [`With the name of a wallet at the end, only for this wallet: ${names.join(', ')}`]
}

/** The result of the UTC day. */
export function summaryOf(view: View): string {
  return textOf([`summary of ${utcDateOf(view.time)} (UTC)`, ...resultLines(view), ...stopLines(view)])
}

/** Joins lines into one message. Each line is escaped, and lines that do not fit are only counted. */
export function textOf(lines: readonly string[]): string {
  const shown: string[] = []
  let length = 0
  for (const line of lines) {
    // Cutting may leave half of a character (a lone surrogate), and Telegram refuses a message with one.
    const safe = printable(line).slice(0, 500).toWellFormed()
    length += safe.length + 1
    if (length > LONGEST_TEXT) {
      shown.push(`and ${counted(lines.length - shown.length, 'more line')}`)
      break
    }
    shown.push(safe)
  }
  return shown.join('\n').slice(0, LONGEST_TEXT + 90)
}

function statusLines(view: View): string[] {
  const { title, feed, time, startedAt, plan, bots, journal, gaps, feedLagMs } = view
  const modes = [...new Set(bots.map(({ mode }) => mode))].join(', ')
  const lag = feedLagMs === null ? '' : `, ${Math.round(feedLagMs)} ms behind`
  return [
    `${title === '' ? 'sluice' : title} (${modes}), for ${durationOf(time - startedAt)}`,
    `feed ${feed}${lag}, ${counted(gaps, 'gap')}; plan ${plan.name}`,
    `journal: ${(journal.freeBytes / 2 ** 30).toFixed(1)} GiB free`,
    ...walletLines(view),
    ...stopLines(view),
    ...view.undecided.map(({ orderId, text }) => `in doubt: ${orderId}, ${text}`),
  ]
}

function walletLines({ wallets }: View): string[] {
  const line = (label: string, { solBalance, positionsSol }: Pick<WalletStatus, 'solBalance' | 'positionsSol'>) =>
    `${label}: ${solBalance === null ? 'not read yet' : sol(solBalance)}, and positions worth ${sol(positionsSol)}`
  return [
    ...wallets.map((wallet) => line(`wallet ${wallet.name ?? ''}`.trim().concat(` (${wallet.mode})`), wallet)),
    ...walletSums(wallets).map((sum) => line(`${sum.count} wallets (${sum.mode})`, sum)),
  ]
}

function stopLines({ stops }: View): string[] {
  if (stops.length === 0) return ['entries are allowed']
  return stops.map(({ code, bots, text, until }) => {
    const end = until === null ? '' : `, until ${dateTimeOf(until)} UTC`
    return `entries stopped (${bots.join(', ')}): ${code}: ${text}${end}`
  })
}

function positionLines({ positions, time }: View): string[] {
  const held = positions.filter(({ tokens }) => tokens > 0)
  if (held.length === 0) return ['no open positions']
  return held.flatMap((position) => positionText(position, time))
}

function positionText(position: PositionStatus, time: Millis): string[] {
  const { bot, wallet, mint, symbol, costSol, valueSol, openedAt, unsellable, selling } = position
  const name = symbol === '' ? shortOf(mint) : `${symbol} ${shortOf(mint)}`
  const value = valueSol === null ? 'no price' : `${sol(valueSol)} if sold now (${signed(valueSol - costSol)})`
  const notes = [selling, unsellable ? 'unsellable' : ''].filter((note) => note !== '')
  const whose = wallet === undefined ? bot : `${bot} (${wallet})`
  return [`${whose}: ${name}, cost ${sol(costSol)}, ${value}, ${[durationOf(time - openedAt), ...notes].join(', ')}`]
}

function resultLines({ bots }: View): string[] {
  const all = [...bots.map((bot) => [bot.name, bot] as const)]
  const lines = all.map(
    ([name, { today, sinceBeginning, trades, winPercent }]) =>
      `${name}: today ${signed(today.netSol)}, in all ${signed(sinceBeginning.netSol)}, ${counted(trades, 'trade')}${winPercent === null ? '' : `, ${Math.round(winPercent)} % won`}`,
  )
  const sums = [...botsByWallet(bots), ...summedBots(bots)].map(({ label, bots: summed }) => {
    const today = totalOf(summed.map((bot) => bot.today))
    const inAll = totalOf(summed.map((bot) => bot.sinceBeginning))
    return `${label}: today ${signed(today.netSol)}, in total ${signed(inAll.netSol)}`
  })
  return [...lines, ...sums]
}

function orderLines({ openOrders, lastFills, time }: View): string[] {
  const open = openOrders.map((order) => orderText(order, time))
  const fills = lastFills.map((fill) => {
    const done = fill.side === 'buy' ? 'bought for' : 'sold for'
    return `${dateTimeOf(fill.time).slice(11)} ${fill.bot}: ${shortOf(fill.mint)} ${done} ${sol(fill.sol)}`
  })
  return [
    ...(open.length === 0 ? ['no open orders'] : open),
    ...(fills.length === 0 ? ['no fills since this start'] : ['last fills (UTC):', ...fills]),
  ]
}

function orderText({ id, bot, side, sol: amount, percent, mint, stage, stageSince, proof }: OrderStatus, now: Millis) {
  const size = amount !== null ? sol(amount) : percent !== null ? `${percent} %` : 'tokens'
  const proved = proof === null ? '' : `; ${proof.text}`
  return `${id} ${bot}: ${side} ${size} of ${shortOf(mint)}, ${stage} for ${durationOf(now - stageSince)}${proved}`
}

function budgetLines({ requests }: View): string[] {
  const { held, allowed, perMinute, waiting, holds } = requests
  return [
    `${Math.max(0, allowed - held)} of ${perMinute} requests left in this minute, ${waiting} waiting`,
    ...holds.map(({ text }) => text),
  ]
}

function shortOf(mint: string): string {
  return `${mint.slice(0, 6)}...`
}

function sol(amount: number): string {
  return `${amount.toFixed(4)} SOL`
}

function signed(amount: number): string {
  return `${amount < 0 ? '-' : '+'}${Math.abs(amount).toFixed(4)} SOL`
}
