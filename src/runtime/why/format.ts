import { ERRORS, type ErrorCode } from '../../base/errors.ts'
import { formatSol, type Millis, wholeTokens } from '../../base/units.ts'
import type { ExitRules } from '../../engine/exits/exit-settings.ts'
import type { Input } from '../../engine/messages.ts'
import type { Order, Size } from '../../engine/order.ts'
import type { RecordedOrder } from '../../journal/reader/history.ts'
import type { MarketEvent } from '../../market/block.ts'
import { type PoolAnswer, poolPrice } from '../../market/pool-price.ts'
import { durationOf } from '../time-text.ts'

const DIGITS = 6

/** Formats a number as a plain decimal with six significant digits. */
export function plain(value: number): string {
  if (!Number.isFinite(value)) return '?'
  if (value === 0) return '0'
  const places = Math.min(30, Math.max(0, DIGITS - 1 - Math.floor(Math.log10(Math.abs(value)))))
  const text = value.toFixed(places)
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text
}

export function priceText(price: number): string {
  return `${plain(price)} SOL per token`
}

export function percentText(ratio: number): string {
  const percent = (ratio - 1) * 100
  return `${percent < 0 ? '' : '+'}${percent.toFixed(1)} %`
}

/** Lamports as SOL with a sign. */
export function signedSol(lamports: number): string {
  return `${lamports < 0 ? '' : '+'}${formatSol(lamports)} SOL`
}

/** Returns `before` and a text such as `340 ms late`; '' if the delay is 0. `eventAgeMs`: how much later the row
 *  arrived than the fastest rows of the feed. */
export function lateText(before: string, eventAgeMs = 0): string {
  return Math.round(eventAgeMs) === 0 ? '' : `${before}${durationOf(eventAgeMs)} late`
}

export function sizeText(size: Size): string {
  switch (size.kind) {
    case 'sol':
      return `for ${formatSol(size.lamports)} SOL`
    case 'all':
      return 'the whole position'
    case 'percent':
      return `${size.percent} % of the position`
    case 'tokens':
      return `${plain(wholeTokens(size.tokens, size.decimals))} tokens`
  }
}

/** Text of a market event. The name and the symbol of a new token come from its creator and are not escaped. */
export function eventText(event: MarketEvent): string {
  switch (event.type) {
    case 'trade': {
      const { side, amount, tokensTraded, price } = event
      return `${side} of ${plain(tokensTraded)} tokens for ${plain(amount)}, at ${plain(price)}`
    }
    case 'newToken':
      return `new token ${event.symbol} (${event.name}), initial liquidity ${plain(event.initialLiquidity)}`
    case 'priceUpdate':
      return `price update: ${plain(event.price)}`
  }
}

/** Text of an input of the engine that is not a market row. */
export function inputText(input: Input): string {
  switch (input.kind) {
    case 'timer':
      return 'a timer'
    case 'report':
      return `report of ${input.report.orderId}: ${input.report.state}${input.report.code === '' ? '' : `, ${input.report.code}`}`
    case 'command':
      return `operator command \`${input.command.name}\`${input.by === undefined ? '' : ` by ${input.by}`}`
    case 'gap':
      return 'the end of a gap in the feed'
    case 'source':
      return `an answer of the source ${input.name}`
    case 'pool':
      return poolText(input.answer)
    case 'start':
      return 'the start of the process'
    default:
      return `an input: ${input.kind}`
  }
}

function poolText(answer: PoolAnswer): string {
  if ('code' in answer) return `the pool could not be read: ${answer.code}`
  const { lamports, tokens, decimals, slot } = answer
  const sides = `${formatSol(Number(lamports))} SOL against ${wholeTokens(tokens, decimals)} tokens`
  return `the pool, read over RPC while the feed was silent: ${priceText(poolPrice(answer))}, ${sides}, slot ${slot}`
}

/** Text of the exits, sorted by name. */
export function exitsText(rules: ExitRules): string {
  const parts = Object.entries(rules)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `${name} ${typeof value === 'number' ? value : JSON.stringify(value)}`)
  return parts.length === 0 ? 'none' : parts.join(', ')
}

/** Text of an error code with its meaning, and with the specific reason if there is one. */
export function codeText(code: string, reason: string): string {
  const meaning = Object.hasOwn(ERRORS, code) ? ERRORS[code as ErrorCode] : ''
  const specific = reason === meaning ? '' : reason
  return [code, specific, meaning].filter((part) => part !== '').join(': ')
}

/** Text of an order's decision: `buys for 0.05 SOL`. */
export function decisionText({ side, size }: Pick<Order, 'side' | 'size'>): string {
  return `${side === 'buy' ? 'buys' : 'sells'} ${sizeText(size)}`
}

/** Text of an order on one line. */
export function orderText({ order, state, code }: RecordedOrder): string {
  return `${order.id} ${order.bot} ${order.side} ${sizeText(order.size)}: ${order.reason}: ${state}${code === '' ? '' : ` (${code})`}`
}

/** One line of an explanation. `text` may contain foreign text that is not escaped. */
export interface Step {
  /** Time of the step; null for a step that describes the present state. */
  readonly at: Millis | null
  readonly what: string
  readonly text: string
}

/** Sorts steps by time, with the present state last. Steps of the same time keep their order. */
export function inOrder(steps: readonly Step[]): Step[] {
  const timeOf = ({ at }: Step): number => at ?? Number.POSITIVE_INFINITY
  return [...steps].sort((one, other) => {
    const [first, second] = [timeOf(one), timeOf(other)]
    return first === second ? 0 : first - second
  })
}
