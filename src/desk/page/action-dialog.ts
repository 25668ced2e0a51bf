import { type ComponentChild, h } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Foreign } from './elements.ts'
import { printable } from './format.ts'
import { failureOf, post, sentenceOf } from './server.ts'
import type { ActionRequest } from './shown.ts'
import { Dialog } from './why-panel.ts'

/**
 * Effect of an action, as the server describes it. The nonce is the code with which the user confirms the action; it
 * works once, until it expires.
 */
interface Preview {
  readonly text: string
  readonly warning?: string
  readonly nonce: string
  readonly expiresAt: number
}

type Step =
  | { readonly is: 'asking' }
  | { readonly is: 'preview'; readonly preview: Preview; readonly until: number }
  | { readonly is: 'doing' }
  | { readonly is: 'done'; readonly text: string }
  | { readonly is: 'failed'; readonly text: string }

const NAMES: Readonly<Record<ActionRequest['action'], string>> = {
  ...{ halt: 'Halt', resume: 'Resume', flatten: 'Flatten', sell: 'Sell', cancel: 'Cancel the order', buy: 'Buy' },
}

/** Name of an action; if the action concerns only one wallet, with the name of that wallet. */
function nameOf({ action, wallet }: ActionRequest): string {
  return wallet === undefined ? NAMES[action] : `${NAMES[action]} in the wallet ${printable(wallet)}`
}

/** Shows the effect of an action, asks for a confirmation, and shows the answer. `clockAhead`: ms that the server's
 *  clock is ahead of the browser's. */
export function ActionDialog(props: { request: ActionRequest; clockAhead: number; close: () => void }): ComponentChild {
  const { request, clockAhead, close } = props
  const [step, setStep] = useState<Step>({ is: 'asking' })
  const name = nameOf(request)
  const fail = (error: unknown): void => setStep({ is: 'failed', text: sentenceOf(error) })
  const ask = (): void => {
    setStep({ is: 'asking' })
    post<Preview>('/api/actions/preview', request).then(
      (preview) => setStep({ is: 'preview', preview, until: preview.expiresAt - clockAhead }),
      fail,
    )
  }
  const confirm = (nonce: string): void => {
    setStep({ is: 'doing' })
    post<{ text: string }>('/api/actions/confirm', { nonce }).then(
      ({ text }) => setStep({ is: 'done', text }),
      (error) => setStep({ is: 'failed', text: failureOf(error) }),
    )
  }
  useEffect(ask, [request])
  const isOver = step.is === 'done' || step.is === 'failed'
  return h(
    Dialog,
    { label: name, close },
    h('h2', {}, name),
    h(
      'div',
      { 'aria-live': 'polite' },
      step.is === 'asking' ? h('p', {}, 'Asking the process for the effect of this action…') : null,
      step.is === 'preview' ? h(Previewed, { preview: step.preview }) : null,
      step.is === 'doing' ? h('p', {}, 'Sent; waiting for the answer…') : null,
      step.is === 'done' ? h('p', {}, h(Foreign, { text: step.text })) : null,
      step.is === 'failed' ? h('p', { class: 'problem' }, printable(step.text)) : null,
    ),
    h(
      'div',
      { class: 'buttons' },
      h(
        'button',
        { type: 'button', onClick: close, ...(isOver ? { autoFocus: true } : {}) },
        isOver ? 'Close' : 'Do nothing',
      ),
      step.is === 'preview'
        ? h(Confirm, {
            key: step.preview.nonce,
            name,
            until: step.until,
            confirm: () => confirm(step.preview.nonce),
            again: ask,
          })
        : null,
    ),
  )
}

function Previewed({ preview: { text, warning } }: { preview: Preview }): ComponentChild {
  return h(
    'div',
    {},
    h('p', {}, h(Foreign, { text })),
    warning === undefined || warning === '' ? null : h('p', { class: 'problem' }, `Warning: ${printable(warning)}`),
  )
}

/** The button that confirms an action. It shows how many seconds the preview of the action is still valid. */
function Confirm(props: { name: string; until: number; confirm: () => void; again: () => void }): ComponentChild {
  const { name, until, confirm, again } = props
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000)
    return () => clearInterval(timer)
  }, [])
  const left = Math.ceil((until - now) / 1000)
  if (left <= 0) return h('button', { type: 'button', onClick: again }, 'The preview has expired: request a new one')
  return h(
    'button',
    { type: 'button', class: 'act strong', onClick: confirm },
    `${name} now`,
    h('span', { class: 'quiet' }, ` (${left} s left)`),
  )
}
