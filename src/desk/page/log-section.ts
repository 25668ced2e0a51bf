import { type ComponentChild, h } from 'preact'
import { useState } from 'preact/hooks'
import type { LogLine } from '../../runtime/view/view.ts'
import type { LogAnswer, LogLevel } from '../api/types.ts'
import { Choice, Empty, Foreign, Section, TokenLink, Waiting } from './elements.ts'
import { printable, shortKey, timeText } from './format.ts'
import { BotFilter } from './orders-section.ts'
import { Older, useList } from './paged-list.ts'
import type { Shown } from './shown.ts'

const LEVELS: readonly { value: LogLevel; text: string }[] = [
  { value: 'error', text: 'errors' },
  { value: 'warn', text: 'warnings' },
  { value: 'info', text: 'all' },
]
const MOST_LINES = 5_000

/** `news`: lines that arrived since the page was opened. */
export function Log({ shown, news }: { shown: Shown; news: readonly LogLine[] }): ComponentChild {
  const [level, setLevel] = useState<LogLevel>('info')
  const [bot, setBot] = useState('')
  const { rows, asked, more } = useList<LogAnswer, LogLine>('/api/log', { level, bot }, ({ lines }) => lines)
  const newest = rows[0]?.seq ?? 0
  const least = LEVELS.findIndex(({ value }) => value === level)
  const wanted = new Set(LEVELS.slice(0, least + 1).map(({ value }) => value))
  const fresh = news.filter((line) => line.seq > newest && wanted.has(line.level) && (bot === '' || line.bot === bot))
  const lines = asked.answer === undefined ? [] : [...fresh, ...rows].slice(0, MOST_LINES)
  return h(
    'div',
    { class: 'stack' },
    h(ProcessNotices, { shown }),
    h(
      Section,
      { title: 'Log', about: h(BotFilter, { shown, bot, choose: setBot }) },
      h(Choice<LogLevel>, {
        label: 'Least level',
        options: LEVELS,
        value: level,
        choose: setLevel,
      }),
      h(Waiting, { asked }),
      asked.answer !== undefined && lines.length === 0 ? h(Empty, {}, 'No line of this level.') : null,
      h(
        'ol',
        { class: 'log', 'aria-label': 'Log, newest first' },
        lines.map((line, index) => h(Line, { key: `${line.seq}-${line.code}-${index}`, line, shown })),
      ),
      h(Older, { more, text: 'Older lines' }),
    ),
  )
}

/** The last alerts, warnings and errors of the process, and the number of alerts of each kind since its start. The
 *  journal does not record them, so a recorded journal has none. */
function ProcessNotices({ shown: { view, now } }: { shown: Shown }): ComponentChild {
  const { notices, process } = view
  if (view.source !== 'running') return null
  const raised = Object.entries(process?.alerts ?? {}).map(([kind, count]) => `${printable(kind)} ${count}`)
  const lost = process === null || process.lostAlerts === 0 ? '' : `; the webhook did not receive ${process.lostAlerts}`
  return h(
    Section,
    {
      title: 'Alerts and warnings of the process',
      about: `alerts since the start: ${raised.length === 0 ? 'none' : raised.join(', ')}${lost}`,
    },
    notices.length === 0
      ? h(Empty, {}, 'The process has raised no alert and no warning since it started.')
      : h(
          'ol',
          { class: 'log', 'aria-label': 'Alerts and warnings of the process, newest first' },
          notices.map(({ time, level, kind, bot, text }, index) =>
            h(
              'li',
              { key: `${notices.length - index}-${time}`, class: level === 'alert' ? 'error' : level },
              h('time', {}, timeText(time, now)),
              h('span', { class: 'level' }, level),
              h('span', { class: 'bot' }, printable(bot)),
              h('span', {}, kind === '' ? null : h('code', {}, printable(kind)), ' ', h(Foreign, { text })),
            ),
          ),
        ),
  )
}

function Line({
  line: { time, level, bot, mint, decision, code, text },
  shown,
}: {
  line: LogLine
  shown: Shown
}): ComponentChild {
  return h(
    'li',
    { class: level },
    h('time', {}, timeText(time, shown.now)),
    h('span', { class: 'level' }, level),
    h('span', { class: 'bot' }, printable(bot)),
    h(
      'span',
      {},
      h('code', {}, printable(code)),
      ' ',
      h(Foreign, { text }),
      ...(mint === '' ? [] : [' ', h(TokenLink, { mint, symbol: '' }), ' ', h(Why, { mint, bot, decision, shown })]),
    ),
  )
}

/** A button that explains the refusal or the note of a line; for another line, the bot's decisions about the token. */
function Why({
  mint,
  bot,
  decision,
  shown,
}: Pick<LogLine, 'mint' | 'bot' | 'decision'> & { shown: Shown }): ComponentChild {
  const label = decision === '' ? `Why ${shortKey(mint)} at ${printable(bot)}` : `Why ${decision}`
  const explain = (): void => (decision === '' ? shown.explain(mint, bot) : shown.explain(decision))
  return h('button', { type: 'button', class: 'link', 'aria-label': label, onClick: explain }, 'why')
}
