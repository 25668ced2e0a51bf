import type { Group } from '../../backtest/metrics/groups.ts'
import { type BotTrades, tradesOf } from '../../backtest/report/bot-trades.ts'
import { counted, printable } from '../../base/text.ts'
import { type JournalReader, openReader } from '../../journal/reader/reader.ts'
import { dateTimeOf } from '../../runtime/time-text.ts'
import { defineCommand, JOURNAL, JSON_LINE } from '../options.ts'
import { tagLines } from '../tag-lines.ts'
import { listed, signedShortSol } from '../terminal.ts'

/** Shows the profit of each bot. `sluice ledger` shows the same money, divided by kind of posting. */
export const command = defineCommand({
  options: { journal: JOURNAL, json: JSON_LINE },
  async run(_args, { journal, json }) {
    const reader = openReader(journal)
    try {
      const bots = tradesOf(reader)
      if (json) console.log(JSON.stringify({ bots }))
      else for (const line of reportText(bots, journal, symbolsOf(reader, bots))) console.log(line)
      return 0
    } finally {
      reader.close()
    }
  },
})

/** Number of exit reasons, and of tokens, that are shown for each bot: those with the largest profit or loss. */
const REASONS = 5
const TOKENS = 3

/** Symbols of the tokens that are shown, by mint; '' if the tape does not contain the token's launch. */
function symbolsOf(reader: JournalReader, bots: readonly BotTrades[]): ReadonlyMap<string, string> {
  const mints = new Set(bots.flatMap(({ byToken }) => largest(byToken, TOKENS).map(({ name }) => name)))
  return mints.size === 0 ? new Map() : reader.look((_history, tape) => tape.symbolsOf(mints))
}

export function reportText(
  bots: readonly BotTrades[],
  journal: string,
  symbols: ReadonlyMap<string, string> = new Map(),
): string[] {
  if (bots.length === 0) return [`no bot ran in ${journal}`]
  const lines = bots.flatMap((bot, index) => [...(index === 0 ? [] : ['']), ...botLines(bot, symbols)])
  const sums = walletLines(bots)
  return sums.length === 0 ? lines : [...lines, '', ...sums]
}

/**
 * Net result of each named wallet, and the sum of these results for each mode. Results of two modes are never added up,
 * because paper money is not real.
 */
function walletLines(bots: readonly BotTrades[]): string[] {
  const named = bots.filter(({ wallet }) => wallet !== undefined)
  const sumOf = (label: string, own: readonly BotTrades[]): string => {
    const net = own.reduce((sum, { netSol }) => sum + Math.round(netSol * 1e9), 0) / 1e9
    return `${label}: ${signedShortSol(net)} SOL net of ${counted(own.length, 'bot')}`
  }
  return [...Map.groupBy(named, ({ mode }) => mode)].flatMap(([mode, ofMode]) => {
    const wallets = [...Map.groupBy(ofMode, ({ wallet }) => wallet)]
    return [
      ...wallets.map(([name, own]) => sumOf(`wallet ${printable(name ?? '')}, ${mode}`, own)),
      ...(wallets.length > 1 ? [sumOf(`${wallets.length} wallets, ${mode}`, ofMode)] : []),
    ]
  })
}

function botLines(one: BotTrades, symbols: ReadonlyMap<string, string>): string[] {
  const { bot, mode, wallet, netSol, since, starts, orders, buys, sales, notFilled, refused, feeSol, failedSol } = one
  const ended = listed(Object.entries(notFilled))
  return [
    `${printable(bot)}, ${mode}${wallet === undefined ? '' : `, wallet ${printable(wallet)}`}: ${signedShortSol(netSol)} SOL net since ${dateTimeOf(since)} UTC, ${counted(starts, 'start')}`,
    ...heldLine(one),
    ...tradeLines(one, symbols),
    `  costs     ${sol(feeSol)} SOL fees and rent${failedSol === 0 ? '' : `, including ${sol(failedSol)} for failed transactions`}; prices include the fees of venue and service`,
    `  orders    ${orders}; filled ${counted(buys, 'buy')} and ${counted(sales, 'sale')}${ended === '' ? '' : `; not filled: ${ended}`}`,
    `  refused   ${listed(Object.entries(refused)) || 'no request'}`,
    ...tagLines(one),
  ]
}

function heldLine({ held: { count, costSol, valueSol, unpriced } }: BotTrades): string[] {
  if (count === 0) return []
  const blind = unpriced === 0 ? '' : `; ${unpriced} of the positions have no known price and count as zero`
  return [`  held      ${count}, bought for ${sol(costSol)} SOL, worth ${sol(valueSol)} SOL if sold now${blind}`]
}

function tradeLines(
  { trades, withoutBest, byEntry, byExit, byToken }: BotTrades,
  symbols: ReadonlyMap<string, string>,
): string[] {
  if (trades === null) return ['  trades    none']
  const { winPercent, medianSol, profitFactor, holdingSeconds } = trades
  const without = withoutBest.map(({ tokens, netSol }) => `${tokens} ${signedShortSol(netSol)} SOL`)
  const held = holdingSeconds === null ? '' : `, held for ${holdingSeconds.toFixed(0)} s on average`
  return [
    `  trades    ${trades.trades}, ${figure(winPercent, 1)} % won, median ${figure(medianSol, 4)} SOL, profit factor ${figure(profitFactor, 2)}${held}`,
    `  entries   ${groups(byEntry, REASONS)}`,
    `  exits     ${groups(byExit, REASONS)}`,
    `  tokens    ${groups(byToken, TOKENS, (mint) => `${symbols.get(mint) ?? ''} ${mint}`.trim())}`,
    `  without   the best 1, 3, 5 tokens: ${without.join(', ')}`,
  ]
}

/** Returns the `count` groups of trades with the largest profits and losses. */
function largest(all: readonly Group[], count: number): Group[] {
  return all.toSorted((one, other) => Math.abs(other.netSol) - Math.abs(one.netSol)).slice(0, count)
}

/** One line with the `count` groups of trades that have the largest profit or loss. Each group has its result, and its
 *  number of trades in brackets. */
function groups(all: readonly Group[], count: number, textOf = (name: string): string => name): string {
  const most = largest(all, count)
  const shown = most.map(
    ({ name, trades, netSol }) => `${printable(textOf(name))} ${signedShortSol(netSol)} SOL (${trades})`,
  )
  return [...shown, ...(all.length > count ? [`and ${all.length - count} more`] : [])].join('; ')
}

function sol(amount: number): string {
  return amount.toFixed(4)
}

function figure(value: number | null, digits: number): string {
  return value === null ? 'n/a' : value.toFixed(digits)
}
