import { styleText } from 'node:util'
import { stampOf } from '../../runtime/time-text.ts'
import { codeText, decisionText } from '../../runtime/why/format.ts'
import type { OrderStory } from '../../runtime/why/order-story.ts'
import { headLines, pageOf, paragraph, stepsJson } from './step-lines.ts'

export function orderLines({ recorded, token, steps }: OrderStory, columns: number): string[] {
  const { order, state, code, outcome } = recorded
  const end = `${state}${code === '' ? '' : `: ${codeText(code, outcome)}`}`
  const head = `${order.id}  ${order.bot} ${decisionText(order)}`
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
