import type { Http, HttpResult } from '../../base/machine.ts'

/** Result of a call of the Bot API. */
export type Called =
  | { readonly kind: 'done'; readonly result: unknown }
  /** `retryMs`: time after which the call may be repeated, if the API states one. */
  | { readonly kind: 'refused'; readonly status: number; readonly text: string; readonly retryMs: number | undefined }
  /** There was no answer, or the answer does not come from the Bot API. */
  | { readonly kind: 'lost'; readonly reason: string }

export type CallBot = (method: string, parameters: object) => Promise<Called>

const LONGEST_REASON = 200

/** Returns a function that calls methods of the Bot API. The token is a part of the address; no result contains it. */
export function botClient(http: Http, api: string, token: string): CallBot {
  return async (method, parameters) => {
    const url = `${api}/bot${token}/${method}`
    const headers = { 'content-type': 'application/json' }
    return calledOf(await http({ method: 'POST', url, headers, body: JSON.stringify(parameters) }))
  }
}

function calledOf(answer: HttpResult): Called {
  if (answer.kind !== 'answered') return { kind: 'lost', reason: answer.reason }
  const body = objectOf(answer.body)
  if (body?.ok === true) return { kind: 'done', result: body.result }
  if (body?.ok !== false) return { kind: 'lost', reason: `the answer ${answer.status} does not come from the Bot API` }
  const seconds = (body.parameters as { retry_after?: unknown } | undefined)?.retry_after
  return {
    kind: 'refused',
    status: answer.status,
    text: String(body.description).slice(0, LONGEST_REASON),
    retryMs: typeof seconds === 'number' && seconds >= 0 ? Math.min(seconds, 3_600) * 1_000 : undefined,
  }
}

function objectOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
