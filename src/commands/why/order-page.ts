import { styleText } from 'node:util'
import type { Millis } from '../../core/units.ts'
import type { FoundToken } from '../../journal/tape-search.ts'
import type { OrderStory } from './order-story.ts'
import { pageOf, paragraph } from './page.ts'
import type { Step } from './step.ts'
import { stampOf } from './time.ts'
import { codeText, sizeText } from './words.ts'

export function orderLines({ recorded, token, steps }: OrderStory, columns: number): string[] {
  const { order, state, code, outcome } = recorded
  const end = `${state}${code === '' ? '' : `: ${codeText(code, outcome)}`}`
  const head = `${order.id}  ${order.bot} ${order.side === 'buy' ? 'buys' : 'sells'} ${sizeText(order.size)}`
  return [
    styleText('bold', head),
    ...headLines(token, columns - 2).map((line) => `  ${line}`),
    ...paragraph(`${order.account.split('|', 1)[0]}, ${stampOf(order.time)}`, columns, 2),
    ...paragraph(end, columns, 2),
    '',
    ...pageOf(steps, order.time, columns),
  ]
}

export function orderJson({ recorded, token, steps, attempts, fills }: OrderStory): object {
  const { order, state, code, outcome } = recorded
  return {
    ...{ kind: 'order', id: order.id, bot: order.bot, account: order.account, ...token, side: order.side },
    ...{ state, code, outcome, reason: order.reason, time: order.time, seq: order.seq, price: order.price },
    eventAgeMs: order.eventAgeMs ?? null,
    steps: stepsJson(steps, order.time),
    attempts: attempts.map((attempt) => ({
      ...{ id: attempt.id, executor: attempt.executor, state: attempt.state, code: attempt.code },
      ...{ signature: attempt.signature, armedAt: attempt.armedAt, waitedMs: attempt.waitedMs ?? null },
      ...{ slippagePercent: attempt.slippagePercent, trail: attempt.trail ?? [] },
    })),
    fills,
  }
}

export function stepsJson(steps: readonly Step[], zero: Millis): object[] {
  return steps.map(({ at, what, text }) => ({ at, afterMs: at === null ? null : at - zero, what, text }))
}

/** A mint, and what whoever made it chose to call it. */
export function headLines({ mint, symbol, name }: FoundToken, columns: number): string[] {
  const words = [symbol, name === symbol ? '' : name].filter((word) => word !== '')
  return [styleText('bold', mint), ...(words.length === 0 ? [] : paragraph(words.join(', '), columns, 2))]
}
