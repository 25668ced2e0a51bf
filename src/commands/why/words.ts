import { ERRORS, type ErrorCode } from '../../base/errors.ts'
import { formatSol, type Millis, wholeTokens } from '../../base/units.ts'
import type { ExitRules } from '../../engine/exits/exit-rules.ts'
import type { Input } from '../../engine/messages.ts'
import type { Size } from '../../engine/order.ts'
import type { RecordedOrder } from '../../journal/reader/history.ts'
import type { MarketEvent } from '../../market/block.ts'
import { type PoolAnswer, poolPrice } from '../../market/pool-price.ts'
import { durationOf } from '../../runtime/time-text.ts'

const DIGITS = 6

/** A number as plain decimals, to six places that count. */
export function plain(value: number): string {
  if (!Number.isFinite(value)) return '?'
  if (value === 0) return '0'
  const places = Math.min(30, Math.max(0, DIGITS - 1 - Math.floor(Math.log10(Math.abs(value)))))
  const text = value.toFixed(places)
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text
}

export function priceText(price: number): string {
  return `${plain(price)} SOL a token`
}

export function percentText(ratio: number): string {
  const percent = (ratio - 1) * 100
  return `${percent < 0 ? '' : '+'}${percent.toFixed(1)} %`
}

/** A number of lamports with its sign. */
export function signedSol(lamports: number): string {
  return `${lamports < 0 ? '' : '+'}${formatSol(lamports)} SOL`
}

/** Of a row that came late, behind `before`; '' of one that came as soon as any. */
export function lateText(before: string, eventAgeMs = 0): string {
  return Math.round(eventAgeMs) === 0 ? '' : `${before}${durationOf(eventAgeMs)} later than usual`
}

export function sizeText(size: Size): string {
  switch (size.kind) {
    case 'sol':
      return `for ${formatSol(size.lamports)} SOL`
    case 'all':
      return 'all of it'
    case 'percent':
      return `${size.percent} % of it`
    case 'tokens':
      return `${plain(wholeTokens(size.tokens, size.decimals))} tokens`
  }
}

/** What the feed showed; the texts of a new token are a stranger's. */
export function eventText(event: MarketEvent): string {
  switch (event.type) {
    case 'trade': {
      const { side, amount, tokensTraded, price } = event
      return `${side} of ${plain(tokensTraded)} tokens for ${plain(amount)}, at ${plain(price)}`
    }
    case 'newToken':
      return `new token ${event.symbol} (${event.name}), first liquidity ${plain(event.initialLiquidity)}`
    case 'priceUpdate':
      return `price update: ${plain(event.price)}`
  }
}

/** What else a decision was made on. */
export function inputText(input: Input): string {
  switch (input.kind) {
    case 'timer':
      return 'a timer'
    case 'report':
      return `what became of ${input.report.orderId}: ${input.report.state}${input.report.code === '' ? '' : `, ${input.report.code}`}`
    case 'command':
      return `an operator's \`${input.command.name}\``
    case 'gap':
      return 'the end of a gap in the feed'
    case 'pool':
      return poolText(input.answer)
    case 'start':
      return 'the start of the process'
    default:
      return `an input: ${input.kind}`
  }
}

function poolText(answer: PoolAnswer): string {
  if ('code' in answer) return `its pool could not be read: ${answer.code}`
  const { lamports, tokens, decimals, slot } = answer
  const sides = `${formatSol(Number(lamports))} SOL against ${wholeTokens(tokens, decimals)} tokens`
  return `its pool, read over RPC while the feed said nothing: ${priceText(poolPrice(answer))}, ${sides}, slot ${slot}`
}

/** In an order that does not hang on who set which. */
export function exitsText(rules: ExitRules): string {
  const parts = Object.entries(rules)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `${name} ${typeof value === 'number' ? value : JSON.stringify(value)}`)
  return parts.length === 0 ? 'none' : parts.join(', ')
}

/** A code with what it means, and what was said with it where that is something else. */
export function codeText(code: string, reason: string): string {
  const meaning = Object.hasOwn(ERRORS, code) ? ERRORS[code as ErrorCode] : ''
  const said = reason === meaning ? '' : reason
  return [code, said, meaning].filter((part) => part !== '').join(': ')
}

/** An order in a line. */
export function orderText({ order, state, code }: RecordedOrder): string {
  return `${order.id} ${order.bot} ${order.side} ${sizeText(order.size)}: ${order.reason}: ${state}${code === '' ? '' : ` (${code})`}`
}

/** One link of the chain that an answer is: when, what kind of thing, and what happened, in words. `text` may hold a
 *  stranger's. */
export interface Step {
  /** null: it is as it is now. */
  readonly at: Millis | null
  readonly what: string
  readonly text: string
}

/** In the order of time, those of now last; what happened at once stays as it was told. */
export function inOrder(steps: readonly Step[]): Step[] {
  const timeOf = ({ at }: Step): number => at ?? Number.POSITIVE_INFINITY
  return [...steps].sort((one, other) => {
    const [first, second] = [timeOf(one), timeOf(other)]
    return first === second ? 0 : first - second
  })
}
