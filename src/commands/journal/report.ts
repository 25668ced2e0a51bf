import type { Group } from '../../backtest/metrics/groups.ts'
import { type BotTrades, tradesOf } from '../../backtest/report/bot-trades.ts'
import { printable } from '../../base/text.ts'
import { openReader } from '../../journal/reader/reader.ts'
import { dateTimeOf } from '../../runtime/time-text.ts'
import type { Options } from '../options.ts'
import { counted, listed } from '../terminal.ts'

/** `sluice report`: what each bot of a journal has made, and by what. `sluice ledger` has the same money by line. */
export async function run(_args: string[], { journal = 'data/sluice.db', json }: Options): Promise<number> {
  const reader = openReader(journal)
  try {
    const bots = tradesOf(reader)
    if (json === true) console.log(JSON.stringify({ bots }))
    else for (const line of reportText(bots, journal)) console.log(line)
    return 0
  } finally {
    reader.close()
  }
}

/** So many reasons and tokens are shown of each bot: those that moved the result most. */
const REASONS = 5
const TOKENS = 3

/** What each bot has made, for a person. */
export function reportText(bots: readonly BotTrades[], journal: string): string[] {
  if (bots.length === 0) return [`no bot was started in ${journal}`]
  return bots.flatMap((bot, index) => [...(index === 0 ? [] : ['']), ...botLines(bot)])
}

function botLines(one: BotTrades): string[] {
  const { bot, mode, netSol, since, starts, orders, buys, sales, notFilled, refused, feeSol, failedSol } = one
  const ended = listed(Object.entries(notFilled))
  return [
    `${printable(bot)}, ${mode}: ${signed(netSol)} SOL net since ${dateTimeOf(since)} UTC, ${counted(starts, 'start')}`,
    ...heldLine(one),
    ...tradeLines(one),
    `  costs     ${sol(feeSol)} SOL fees and rent${failedSol === 0 ? '' : `, ${sol(failedSol)} of it for failed transactions`}; those of venue and service are inside the prices`,
    `  orders    ${orders}; filled ${counted(buys, 'buy')} and ${counted(sales, 'sale')}${ended === '' ? '' : `; not filled: ${ended}`}`,
    `  refused   ${listed(Object.entries(refused)) || 'no request'}`,
  ]
}

function heldLine({ held: { count, costSol, valueSol, unpriced } }: BotTrades): string[] {
  if (count === 0) return []
  const blind = unpriced === 0 ? '' : `; of ${unpriced} no price is known, they count as nothing`
  return [
    `  held      ${count}, bought for ${sol(costSol)} SOL, worth ${sol(valueSol)} SOL if they were sold now${blind}`,
  ]
}

function tradeLines({ trades, withoutBest, byEntry, byExit, byToken }: BotTrades): string[] {
  if (trades === null) return ['  trades    none']
  const { winPercent, medianSol, profitFactor, holdingSeconds } = trades
  const without = withoutBest.map(({ tokens, netSol }) => `${tokens} ${signed(netSol)} SOL`)
  return [
    `  trades    ${trades.trades}, ${figure(winPercent, 1)} % won, median ${figure(medianSol, 4)} SOL, profit factor ${figure(profitFactor, 2)}, held for ${figure(holdingSeconds, 0)} s on average`,
    `  entries   ${groups(byEntry, REASONS)}`,
    `  exits     ${groups(byExit, REASONS)}`,
    `  tokens    ${groups(byToken, TOKENS)}`,
    `  without   the best token, three, five: ${without.join(', ')}`,
  ]
}

/** Those that moved most. */
function groups(all: readonly Group[], count: number): string {
  const most = all.toSorted((one, other) => Math.abs(other.netSol) - Math.abs(one.netSol)).slice(0, count)
  const shown = most.map(({ name, trades, netSol }) => `${printable(name)} ${signed(netSol)} SOL (${trades})`)
  return [...shown, ...(all.length > count ? [`and ${all.length - count} more`] : [])].join('; ')
}

function sol(amount: number): string {
  return amount.toFixed(4)
}

function signed(amount: number): string {
  return `${amount > 0 ? '+' : ''}${sol(amount)}`
}

function figure(value: number | null, digits: number): string {
  return value === null ? 'n/a' : value.toFixed(digits)
}
