import { styleText } from 'node:util'
import type { Moment } from './moment.ts'
import { headLines } from './order-page.ts'
import { paragraph } from './page.ts'
import { stampOf } from './time.ts'

export function momentLines({ token, instant, segment, market, bots }: Moment, columns: number): string[] {
  const { from, to } = instant
  const when = from === to ? stampOf(to) : `${stampOf(from)} to ${stampOf(to)}`
  return [
    ...headLines(token, columns),
    ...paragraph(`${when}, segment ${segment}`, columns, 2),
    ...market.flatMap((line) => paragraph(line, columns, 2)),
    ...bots.flatMap(({ bot, lines: [answer = '', ...rest] }) => [
      '',
      styleText('bold', bot),
      ...paragraph(answer, columns, 2),
      ...rest.flatMap((line) => paragraph(line, columns, 4)),
    ]),
  ]
}

export function momentJson({ token, instant, segment, market, bots }: Moment): object {
  return { kind: 'moment', ...token, ...instant, segment, market, bots }
}
