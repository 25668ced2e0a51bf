import type { ErrorCode } from '../../base/errors.ts'
import type { HttpResult } from '../../base/machine.ts'
import type { Millis } from '../../base/units.ts'
import type { Outcome } from '../../orders/ports.ts'
import { type HttpCode, readAnswer } from './wire/answers.ts'

/** What the answer to a trade request means for its attempt. */
export type Verdict = Extract<Outcome, { kind: 'unsent' | 'acked' | 'refused' | 'unknown' }>

type Retry = Extract<Outcome, { kind: 'refused' }>['retry']

/** Retry rule of each documented error code. An answer with such a code means that the order was refused, regardless of
 *  its HTTP status. */
const BY_CODE: Readonly<Record<HttpCode, Retry>> = {
  INSUFFICIENT_BALANCE: 'never',
  INVALID_MINT: 'never',
  SLIPPAGE_EXCEEDED: 'slippage',
  RATE_LIMIT: 'wait',
}

/** HTTP statuses that mean that the order was refused, even if the answer has no error code. No other status proves a
 *  refusal: a 408, 409, 425, 5xx, redirect or unexpected 200 may come from a proxy after the service has executed the
 *  order. */
const BY_STATUS: Readonly<Record<number, { readonly code: ErrorCode; readonly retry: Retry }>> = {
  400: { code: 'INVALID_PARAMETERS', retry: 'never' },
  401: { code: 'KEY_REFUSED', retry: 'wait' },
  402: { code: 'PLAN_REFUSED', retry: 'wait' },
  403: { code: 'PLAN_REFUSED', retry: 'wait' },
  404: { code: 'INVALID_PARAMETERS', retry: 'never' },
  405: { code: 'INVALID_PARAMETERS', retry: 'never' },
  413: { code: 'INVALID_PARAMETERS', retry: 'never' },
  415: { code: 'INVALID_PARAMETERS', retry: 'never' },
  422: { code: 'INVALID_PARAMETERS', retry: 'never' },
  429: { code: 'RATE_LIMIT', retry: 'wait' },
}

/** Returns what the answer to a trade request means for its attempt. `now`: the current time, needed if Retry-After is
 *  a date. */
export function verdictOf(result: HttpResult, now: Millis): Verdict {
  if (result.kind === 'unsent') return { kind: 'unsent', reason: result.reason }
  if (result.kind === 'lost') return { kind: 'unknown', reason: result.reason }
  const { status, body } = result
  const answer = readAnswer(body)
  const text = `${status} ${answer.message}`.trim()
  const { signature } = answer
  if (signature !== '')
    return isSuccess(status) ? { kind: 'acked', signature } : { kind: 'unknown', reason: text, signature }
  const byStatus = BY_STATUS[status]
  const code = answer.isJson || byStatus !== undefined ? answer.code : ''
  if (code !== '') return refused(code, BY_CODE[code], text, result.headers, now)
  if (byStatus !== undefined) return refused(byStatus.code, byStatus.retry, text, result.headers, now)
  return { kind: 'unknown', reason: `${text}: the answer has neither a signature nor exactly one known error code` }
}

function refused(
  code: ErrorCode,
  retry: Retry,
  reason: string,
  headers: Readonly<Record<string, string>>,
  now: Millis,
): Verdict {
  const retryAfterMs = retry === 'wait' ? retryAfter(headers['retry-after'], now) : undefined
  return { kind: 'refused', code, reason, retry, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }
}

/** Converts a Retry-After header (seconds or an HTTP date) to milliseconds from now; undefined if it is neither. */
function retryAfter(value: string | undefined, now: Millis): number | undefined {
  if (value === undefined) return undefined
  const ms = /^\d{1,6}$/.test(value.trim()) ? Number(value) * 1_000 : Date.parse(value) - now
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300
}
