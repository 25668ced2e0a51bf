// Requests to the process that serves this page. No request goes to another host.
import type { View } from '../../runtime/view/view.ts'
import type { Outside } from './connection.ts'
import type { Me } from './store.ts'

/** An error that the server reported in its answer, as one sentence. */
class Refused extends Error {
  readonly status: number

  constructor(status: number, sentence: string) {
    super(sentence)
    this.status = status
  }
}

/** Time limit of a request, longer than the time for which the desk waits until the main thread has carried out an
 *  action. */
const WAIT_MS = 12_000
const NO_ANSWER = 'The desk does not answer.'

export async function get<Answer>(
  path: string,
  query: Readonly<Record<string, string | undefined>> = {},
): Promise<Answer> {
  const given = Object.entries(query).filter((entry): entry is [string, string] => (entry[1] ?? '') !== '')
  const search = given.length === 0 ? '' : `?${new URLSearchParams(given)}`
  const asked = `${path}${search}`
  const early = EARLY.get(asked)
  EARLY.delete(asked)
  return (early?.promise as Promise<Answer> | undefined) ?? request(asked, { method: 'GET' })
}

interface Early {
  readonly promise: Promise<unknown>
  /** undefined until the answer has arrived. */
  answer: unknown
}

const EARLY = new Map<string, Early>()
const EARLY_MS = 5_000

/** Requests data before a section needs it, so that the answer is on its way while the page draws its first state. */
export function askEarly(path: string): void {
  const early: Early = { promise: request(path, { method: 'GET' }), answer: undefined }
  early.promise.then(
    (answer) => {
      early.answer = answer
    },
    () => {},
  )
  EARLY.set(path, early)
  setTimeout(() => EARLY.delete(path), EARLY_MS)
}

/** Returns the answer to an early request if it has arrived. A section can then draw it at once. */
export function earlyAnswer<Answer>(path: string): Answer | undefined {
  return EARLY.get(path)?.answer as Answer | undefined
}

export async function post<Answer>(path: string, body: object): Promise<Answer> {
  const headers = { 'content-type': 'application/json' }
  return request(path, { method: 'POST', headers, body: JSON.stringify(body) })
}

export async function remove(path: string): Promise<void> {
  await request(path, { method: 'DELETE' })
}

async function request<Answer>(path: string, init: RequestInit): Promise<Answer> {
  const signal = AbortSignal.timeout(WAIT_MS)
  const response = await fetch(path, { ...init, signal, credentials: 'same-origin', redirect: 'error' }).catch(() => {
    throw new Refused(0, NO_ANSWER)
  })
  const text = await response.text()
  const answer = parsed(text) as { error?: unknown } | undefined
  if (!response.ok) {
    const sentence =
      typeof answer?.error === 'string' ? answer.error : `The desk answered with status ${response.status}.`
    throw new Refused(response.status, sentence)
  }
  return answer as Answer
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Text about a failed action. An action without an answer may have been carried out, and must not be repeated. */
export function failureOf(error: unknown): string {
  if (error instanceof Refused && error.status !== 0) return error.message
  return `${NO_ANSWER} The action may have been carried out: look at the orders and the log before you repeat it.`
}

function endOf(error: unknown): 'ended' | 'lost' {
  return error instanceof Refused && error.status === 401 ? 'ended' : 'lost'
}

export const browser: Outside = {
  open(heard, failed) {
    const stream = new EventSource('/events')
    for (const kind of ['view', 'change', 'log'] as const) {
      stream.addEventListener(kind, (event) => heard(kind, (event as MessageEvent<string>).data))
    }
    stream.addEventListener('open', () => heard('open', ''))
    stream.addEventListener('error', () => failed(stream.readyState === EventSource.CLOSED))
    return () => stream.close()
  },
  ask: () => get<View>('/api/view').catch(endOf),
  me: () => get<Me>('/api/me').catch(endOf),
  now: () => Date.now(),
  every: (ms, run) => {
    setInterval(run, ms)
  },
}
