// Small elements that all sections use.
import { type ComponentChild, type ComponentChildren, h } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { printable, shortKey, signedPercent, signedSol, tokenText, toneOf } from './format.ts'
import { addressOf } from './route.ts'
import { earlyAnswer, get, sentenceOf } from './server.ts'

export function Amount({ sol, places }: { sol: number | null | undefined; places?: number }): ComponentChild {
  return h('span', { class: `number ${toneOf(sol)}` }, signedSol(sol, places))
}

export function Percent({ value }: { value: number | null | undefined }): ComponentChild {
  return h('span', { class: `number ${toneOf(value)}` }, signedPercent(value))
}

/**
 * Text of a third party, shown as one line without hidden characters. A text from right to left does not change the
 * direction of the text around it.
 */
export function Foreign({ text }: { text: string }): ComponentChild {
  return h('bdi', {}, printable(text))
}

export function TokenLink({ mint, symbol }: { mint: string; symbol: string }): ComponentChild {
  const about = `${printable(symbol)} ${mint}`.trim()
  return h('a', { href: addressOf('token', mint), title: about }, h('bdi', { class: 'name' }, tokenText(symbol, mint)))
}

export function BotLink({ bot }: { bot: string }): ComponentChild {
  return h('a', { class: 'name', href: addressOf('bots', bot) }, printable(bot))
}

export function Key({ text }: { text: string }): ComponentChild {
  return h('code', { title: text }, shortKey(text))
}

export interface SectionProps {
  readonly title: string
  /** Text at the right of the title. */
  readonly about?: ComponentChildren
  readonly children?: ComponentChildren
}

export function Section({ title, about, children }: SectionProps): ComponentChild {
  const id = `section-${title.toLowerCase().replaceAll(/[^a-z]+/g, '-')}`
  return h(
    'section',
    { 'aria-labelledby': id },
    h('div', { class: 'section-head' }, h('h2', { id }, title), h('div', { class: 'about' }, about)),
    children,
  )
}

/** A choice between all rows of a list (value '') and the rows with one value. */
export function Filter({
  label,
  values,
  value,
  choose,
}: {
  label: string
  values: readonly string[]
  value: string
  choose: (value: string) => void
}): ComponentChild {
  return h(
    'label',
    {},
    `${label} `,
    h(
      'select',
      { value, onChange: (event: Event) => choose((event.currentTarget as HTMLSelectElement).value) },
      h('option', { value: '' }, 'all'),
      values.map((one) => h('option', { key: one, value: one }, printable(one))),
    ),
  )
}

export function Empty({ children }: { children?: ComponentChildren }): ComponentChild {
  return h('p', { class: 'empty' }, children)
}

/** Name and value pairs. */
export function Pairs({
  pairs,
}: {
  pairs: readonly (readonly [name: string, value: ComponentChildren])[]
}): ComponentChild {
  return h(
    'dl',
    { class: 'pairs' },
    pairs.map(([name, value]) => h('div', { key: name }, h('dt', {}, name), h('dd', {}, value))),
  )
}

/** A row of buttons; the user chooses one of them. */
export function Choice<Value extends string>(props: {
  label: string
  options: readonly { value: Value; text: string }[]
  value: Value
  choose: (value: Value) => void
}): ComponentChild {
  const { label, options, value, choose } = props
  return h(
    'div',
    { class: 'choice', role: 'group', 'aria-label': label },
    options.map((option) =>
      h(
        'button',
        {
          key: option.value,
          type: 'button',
          'aria-pressed': option.value === value,
          onClick: () => choose(option.value),
        },
        option.text,
      ),
    ),
  )
}

/** State of a request: undefined before the first answer. While the next answer is loading, the previous answer is
 *  kept. */
export interface Asked<Answer> {
  readonly answer: Answer | undefined
  readonly error: string
}

/** Reads `path` now, again when `path` or `version` changes, and every `everyMs` while the page can be seen. */
export function useAnswer<Answer>(path: string | null, everyMs = 0, version = 0): Asked<Answer> {
  const [asked, setAsked] = useState<Asked<Answer> & { path: string | null }>(() => {
    const answer = path === null ? undefined : earlyAnswer<Answer>(path)
    return { path, answer, error: '' }
  })
  useEffect(() => {
    if (path === null) return
    let isGone = false
    const read = (): void => {
      if (document.hidden) return
      get<Answer>(path).then(
        (answer) => !isGone && setAsked({ path, answer, error: '' }),
        (error) =>
          !isGone &&
          setAsked((last) => ({
            path,
            answer: last.path === path ? last.answer : undefined,
            error: sentenceOf(error),
          })),
      )
    }
    read()
    const timer = everyMs > 0 ? setInterval(read, everyMs) : undefined
    return () => {
      isGone = true
      clearInterval(timer)
    }
  }, [path, everyMs, version])
  return asked.path === path ? asked : { answer: undefined, error: '' }
}

/** Shows that an answer is loading or was refused; shows nothing once there is an answer. */
export function Waiting<Answer>({ asked }: { asked: Asked<Answer> }): ComponentChild {
  if (asked.error !== '') return h('p', { class: 'problem', role: 'alert' }, printable(asked.error))
  return asked.answer === undefined ? h('p', { class: 'empty' }, 'Reading the journal…') : null
}
