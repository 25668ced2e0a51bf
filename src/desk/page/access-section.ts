import { type ComponentChild, h } from 'preact'
import { useState } from 'preact/hooks'
import { Empty, Foreign, Pairs, Section, useAnswer, Waiting } from './elements.ts'
import { bytesText, countText, printable, timeText } from './format.ts'
import { remove, sentenceOf } from './server.ts'
import type { Shown } from './shown.ts'
import type { Me } from './store.ts'
import { Table } from './table.ts'

/** A session of the desk, as `GET /api/sessions` lists it. */
interface Session {
  readonly id: string
  readonly name: string
  readonly readOnly: boolean
  readonly since: number
  readonly seenAt: number
  readonly address: string
  readonly browser: string
  /** Whether this session is the session of the page itself. */
  readonly isOwn: boolean
}

export function Access({ shown, me }: { shown: Shown; me: Me | null }): ComponentChild {
  const { view } = shown
  return h(
    'div',
    { class: 'stack' },
    h(Sessions, { shown, me }),
    h(
      Section,
      { title: 'This process' },
      h(Pairs, {
        pairs: [
          ['Configuration', printable(view.title)],
          ['Started', timeText(view.startedAt, shown.now)],
          ['First start that the journal records', timeText(view.beganAt, shown.now)],
          ['Journal', h('code', {}, printable(view.journal.path))],
          ['Size', bytesText(view.journal.bytes)],
          ['Last row', countText(view.seq)],
          ['Rows since the start', countText(view.rows)],
          ['Shown state', view.id],
        ],
      }),
    ),
    h(Notices, {}),
  )
}

function Sessions({ shown, me }: { shown: Shown; me: Me | null }): ComponentChild {
  const [revoked, setRevoked] = useState(0)
  const [problem, setProblem] = useState('')
  const asked = useAnswer<{ sessions: readonly Session[] }>('/api/sessions', 0, revoked)
  const fail = (error: unknown): void => setProblem(sentenceOf(error))
  const revoke = (id: string): void =>
    void remove(`/api/sessions/${encodeURIComponent(id)}`).then(() => setRevoked((count) => count + 1), fail)
  const rows = asked.answer?.sessions ?? []
  return h(
    Section,
    {
      title: 'Sessions',
      about: h('form', { method: 'post', action: '/logout' }, h('button', { type: 'submit' }, 'Log out')),
    },
    h(
      'p',
      {},
      me === null ? '' : `You are ${printable(me.name)}${me.readOnly ? ' and may only read' : ''}. `,
      'A new link: ',
      h('code', {}, 'sluice desk link'),
      ' in a terminal of the machine.',
    ),
    h(Waiting, { asked }),
    problem === '' ? null : h('p', { class: 'problem', role: 'alert' }, printable(problem)),
    asked.answer !== undefined && rows.length === 0 ? h(Empty, {}, 'There is no other session.') : null,
    rows.length === 0
      ? null
      : h(Table<Session>, {
          label: 'Sessions',
          rows,
          keyOf: ({ id }) => id,
          columns: [
            { head: 'Name', cell: ({ name, isOwn }) => `${printable(name)}${isOwn ? ' (this one)' : ''}` },
            { head: 'May', cell: ({ readOnly }) => (readOnly ? 'read' : 'read and act') },
            { head: 'Since', cell: ({ since }) => timeText(since, shown.now) },
            { head: 'Last seen', cell: ({ seenAt }) => timeText(seenAt, shown.now) },
            {
              head: 'From',
              isWide: true,
              cell: ({ address, browser }) => h(Foreign, { text: `${address}, ${browser}` }),
            },
            {
              head: 'Revoke',
              cell: ({ id, name, isOwn }) =>
                isOwn
                  ? ''
                  : h(
                      'button',
                      {
                        type: 'button',
                        class: 'act',
                        'aria-label': `Revoke ${printable(name)}`,
                        onClick: () => revoke(id),
                      },
                      'Revoke',
                    ),
            },
          ],
        }),
  )
}

/**
 * Notices that the licences of the libraries require. The page loads nothing from the host of the link in a notice. The
 * link is opened only if the user clicks it.
 */
function Notices(): ComponentChild {
  const away = { target: '_blank', rel: 'noopener noreferrer' }
  return h(
    Section,
    { title: 'Libraries' },
    h(
      'p',
      {},
      'TradingView Lightweight Charts™, Copyright (c) 2023 TradingView, Inc. ',
      h('a', { href: 'https://www.tradingview.com/', ...away }, 'https://www.tradingview.com/'),
      ' (Apache License 2.0). Preact, Copyright (c) 2015-present Jason Miller; uPlot, Copyright (c) 2022 Leon Sorokin (MIT License). ',
      h('a', { href: '/app/licences.txt', ...away }, 'The licences'),
      '.',
    ),
  )
}
