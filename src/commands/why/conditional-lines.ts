import { styleText } from 'node:util'
import { printable } from '../../base/text.ts'
import { stampOf } from '../../runtime/time-text.ts'
import type { ConditionalStory } from '../../runtime/why/conditional-story.ts'
import { codeText } from '../../runtime/why/format.ts'
import { headLines, pageOf, paragraph, stepsJson } from './step-lines.ts'

export function conditionalLines({ order, token, steps }: ConditionalStory, columns: number): string[] {
  const { id, bot, action, account, time, state, code } = order
  return [
    styleText('bold', printable(`${id}  conditional ${action.side} by ${bot}`)),
    ...headLines(token, columns - 2).map((line) => `  ${line}`),
    ...paragraph(`${account.split('|', 1)[0]}, ${stampOf(time)}`, columns, 2),
    ...paragraph(`${state}${code === '' ? '' : `: ${codeText(code, '')}`}`, columns, 2),
    '',
    ...pageOf(steps, time, columns),
  ]
}

export function conditionalJson({ order, token, steps }: ConditionalStory): object {
  const { id, bot, account, state, code, reason, time, when, action, orderId } = order
  return {
    ...{ kind: 'conditional', id, bot, account, ...token, side: action.side, state, code, reason, time, when, orderId },
    steps: stepsJson(steps, time),
  }
}
