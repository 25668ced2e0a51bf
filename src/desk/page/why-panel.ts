import { type ComponentChild, type ComponentChildren, h } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { WhyAnswer } from '../api/types.ts'
import { Foreign, Key, TokenLink, useAnswer, Waiting } from './elements.ts'
import { counted, printable, timeText } from './format.ts'

/** The subject of an explanation: an order, a refusal, a note or a token. For a token, the explanation may be limited
 *  to one bot. */
export interface Question {
  readonly subject: string
  readonly bot: string
}

/** The explanation of `sluice why`, in a dialog. */
export function WhyPanel({
  question,
  now,
  close,
}: {
  question: Question
  now: number
  close: () => void
}): ComponentChild {
  const { subject, bot } = question
  const asked = useAnswer<WhyAnswer>(
    `/api/why/${encodeURIComponent(subject)}${bot === '' ? '' : `?bot=${encodeURIComponent(bot)}`}`,
  )
  const { answer } = asked
  return h(
    Dialog,
    { label: `Why ${subject}`, close },
    h('h2', {}, answer === undefined ? `Why ${printable(subject)}` : h(Foreign, { text: answer.title })),
    h(Waiting, { asked }),
    answer === undefined
      ? null
      : h(
          'p',
          { class: 'line' },
          h(TokenLink, { mint: answer.mint, symbol: answer.symbol }),
          h(Foreign, { text: answer.name }),
          h(Key, { text: answer.mint }),
        ),
    answer === undefined || answer.omitted === 0
      ? null
      : h(
          'p',
          { class: 'quiet' },
          `Omitted: ${counted(answer.omitted, 'earlier line')}. \`sluice why ${subject}${bot === '' ? '' : ` --bot ${printable(bot)}`} --json\` prints all.`,
        ),
    answer === undefined
      ? null
      : h(
          'ol',
          { class: 'why' },
          answer.lines.map(({ time, what, text, level }, index) =>
            h(
              'li',
              { key: index, class: level },
              h('time', {}, time === null ? 'now' : timeText(time, now)),
              h('b', {}, printable(what)),
              h('span', {}, level === 'info' ? '' : `${level}: `, h(Foreign, { text })),
            ),
          ),
        ),
    h('div', { class: 'buttons' }, h('button', { type: 'button', onClick: close }, 'Close')),
  )
}

/** A modal dialog of the browser: it keeps the focus, and Escape closes it. */
export function Dialog(props: { label: string; close: () => void; children?: ComponentChildren }): ComponentChild {
  const { label, close, children } = props
  const dialog = useRef<HTMLDialogElement>(null)
  const isGone = useRef(false)
  useEffect(() => {
    const element = dialog.current
    element?.showModal()
    return () => {
      isGone.current = true
      // Closing the dialog returns the focus to the element that had it before.
      element?.close()
    }
  }, [])
  return h('dialog', { ref: dialog, 'aria-label': label, onClose: () => isGone.current || close() }, children)
}
