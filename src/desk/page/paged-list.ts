import { type ComponentChild, h } from 'preact'
import { useState } from 'preact/hooks'
import { type Asked, useAnswer } from './elements.ts'
import { printable } from './format.ts'
import { get, sentenceOf } from './server.ts'

const PAGE_ROWS = 100
const EVERY_MS = 15_000
/** Maximum number of rows that the page loads. `sluice orders --csv` prints longer lists. */
const MOST_ROWS = 5_000

interface Listed {
  readonly next: string | null
}

interface PagedList<Row, Answer> {
  readonly rows: readonly Row[]
  readonly asked: Asked<Answer>
  readonly more: More | null
}

/** The next older rows of a list; null if there are none. */
interface More {
  readonly load: () => void
  /** Why the last try to load them failed; '' if it did not fail. */
  readonly error: string
}

/**
 * A list of the journal, newest rows first. While only the first page is shown, it is read again at intervals. Older
 * pages are read on request.
 */
export function useList<Answer extends Listed, Row>(
  path: string,
  query: Readonly<Record<string, string>>,
  rowsOf: (answer: Answer) => readonly Row[],
): PagedList<Row, Answer> {
  const search = new URLSearchParams(
    Object.entries({ ...query, limit: String(PAGE_ROWS) }).filter(([, value]) => value !== ''),
  )
  const key = `${path}?${search}`
  const [long, setLong] = useState<{ key: string; rows: readonly Row[]; next: string | null } | null>(null)
  const isLong = long !== null && long.key === key
  const asked = useAnswer<Answer>(key, isLong ? 0 : EVERY_MS)
  const first = asked.answer === undefined ? [] : rowsOf(asked.answer)
  const rows = isLong ? long.rows : first
  const next = isLong ? long.next : (asked.answer?.next ?? null)
  const [failed, setFailed] = useState<{ key: string; error: string } | null>(null)
  const read = async (): Promise<void> => {
    setFailed(null)
    const answer = await get<Answer>(`${key}&before=${encodeURIComponent(next ?? '')}`)
    // From now on, the first page is not read again, because newer rows in it would leave a gap before the older rows.
    setLong({ key, rows: [...rows, ...rowsOf(answer)], next: answer.next })
  }
  const load = (): void => void read().catch((error: unknown) => setFailed({ key, error: sentenceOf(error) }))
  const more = { load, error: failed?.key === key ? failed.error : '' }
  return { rows, asked, more: next === null || rows.length >= MOST_ROWS ? null : more }
}

/** A button that loads older rows. If that failed, it shows the reason, and the button tries again. */
export function Older({ more, text }: { more: More | null; text: string }): ComponentChild {
  if (more === null) return null
  const button = h('button', { type: 'button', class: 'more', onClick: more.load }, text)
  if (more.error === '') return button
  return [
    h(
      'p',
      { key: 'problem', class: 'problem', role: 'alert' },
      `The older rows were not read: ${printable(more.error)}`,
    ),
    h('button', { key: 'again', type: 'button', class: 'more', onClick: more.load }, `${text}: try again`),
  ]
}
