import { styleText } from 'node:util'
import { stampOf } from '../../runtime/time-text.ts'
import type { DecisionStory } from '../../runtime/why/decision-story.ts'
import { headLines, pageOf, paragraph, stepsJson } from './step-lines.ts'

export function decisionLines({ id, word, token, steps }: DecisionStory, columns: number): string[] {
  const { bot, kind, code, time } = word
  return [
    styleText('bold', kind === 'note' ? `${id}  note of ${bot}` : `${id}  request of ${bot} refused: ${code}`),
    ...headLines(token, columns - 2).map((line) => `  ${line}`),
    ...paragraph(stampOf(time), columns, 2),
    '',
    ...pageOf(steps, time, columns),
  ]
}

export function decisionJson({ id, word, token, steps }: DecisionStory): object {
  const { kind: decision, bot, code, reason, time, seq } = word
  return { kind: 'decision', id, decision, bot, ...token, code, reason, time, seq, steps: stepsJson(steps, time) }
}
