import { describe, expect, test } from 'vitest'
import type { HttpResult } from '../../../src/base/machine.ts'
import { verdictOf } from '../../../src/venues/token-service/outcome.ts'
import { signatureOf } from './wire/samples.ts'

const NOW = 1_782_611_393_000
const S = signatureOf(3)
const answered = (status: number, body: unknown, headers: Record<string, string> = {}): HttpResult => ({
  kind: 'answered',
  status,
  headers,
  body: typeof body === 'string' ? body : JSON.stringify(body),
})
/** Returns the kind of the outcome, and the values that determine the next step. */
const summary = (result: HttpResult): string => {
  const verdict = verdictOf(result, NOW)
  if (verdict.kind === 'refused')
    return ['refused', verdict.code, verdict.retry, verdict.retryAfterMs ?? ''].join(' ').trim()
  return verdict.kind === 'unknown' && verdict.signature !== undefined ? 'unknown with signature' : verdict.kind
}

const codes = ['INSUFFICIENT_BALANCE', 'INVALID_MINT', 'SLIPPAGE_EXCEEDED', 'RATE_LIMIT'] as const
const retry = {
  INSUFFICIENT_BALANCE: 'never',
  INVALID_MINT: 'never',
  SLIPPAGE_EXCEEDED: 'slippage',
  RATE_LIMIT: 'wait',
}
const statuses = [
  200, 201, 202, 204, 301, 302, 307, 308, 400, 401, 402, 403, 404, 405, 406, 408, 409, 410, 413, 415, 418, 422, 425,
  429, 451, 500, 501, 502, 503, 504, 520, 524,
]
const refusedWithoutCode: Record<number, string> = {
  400: 'refused INVALID_PARAMETERS never',
  401: 'refused KEY_REFUSED wait',
  402: 'refused PLAN_REFUSED wait',
  403: 'refused PLAN_REFUSED wait',
  404: 'refused INVALID_PARAMETERS never',
  405: 'refused INVALID_PARAMETERS never',
  413: 'refused INVALID_PARAMETERS never',
  415: 'refused INVALID_PARAMETERS never',
  422: 'refused INVALID_PARAMETERS never',
  429: 'refused RATE_LIMIT wait',
}

describe.each(statuses)('status %d', (status) => {
  test(`the outcome of status ${status} with a signature`, () => {
    expect(summary(answered(status, { data: { txid: S } }))).toBe(status < 300 ? 'acked' : 'unknown with signature')
  })
  test.each(codes)(`the outcome of status ${status} with the code %s`, (code) => {
    expect(summary(answered(status, { error: { code } }))).toBe(`refused ${code} ${retry[code]}`)
  })
  test.each([
    ['an empty body', ''],
    ['HTML', '<html>Bad gateway</html>'],
    ['half an answer', `{"signature":"${S.slice(0, 40)}`],
    ['an empty object', {}],
    ['two codes', { code: 'RATE_LIMIT', error: 'INVALID_MINT' }],
    ['an undocumented code', { code: 'OUT_OF_LUCK' }],
    ['two signatures', { signature: S, txid: signatureOf(4) }],
  ])(`the outcome of status ${status} with %s`, (_name, body) => {
    expect(summary(answered(status, body))).toBe(refusedWithoutCode[status] ?? 'unknown')
  })
  test(`the outcome of status ${status} with a signature and a code`, () => {
    const body = { code: 'SLIPPAGE_EXCEEDED', signature: S }
    expect(summary(answered(status, body))).toBe(status < 300 ? 'acked' : 'unknown with signature')
  })
  test(`the outcome of status ${status} with a code in text that is not JSON`, () => {
    const expected = refusedWithoutCode[status] === undefined ? 'unknown' : 'refused SLIPPAGE_EXCEEDED slippage'
    expect(summary(answered(status, 'error: SLIPPAGE_EXCEEDED'))).toBe(expected)
  })
})

test.each<[string, HttpResult, string]>([
  ['a request of which no byte was written', { kind: 'unsent', reason: 'ECONNREFUSED' }, 'unsent'],
  ['a lost answer', { kind: 'lost', reason: 'ECONNRESET' }, 'unknown'],
])('the outcome of %s', (_name, result, expected) => {
  expect(summary(result)).toBe(expected)
})

test.each([
  ['3', 3_000],
  ['0', 0],
  [new Date(NOW + 5_000).toUTCString(), 5_000],
  [new Date(NOW - 5_000).toUTCString(), 0],
  ['soon', undefined],
  ['-1', 0],
])('the header Retry-After with the value %s is read', (value, expected) => {
  const verdict = verdictOf(answered(429, {}, { 'retry-after': value }), NOW)
  expect(verdict).toMatchObject({ kind: 'refused', retry: 'wait' })
  if (expected !== undefined) expect(verdict).toMatchObject({ retryAfterMs: expect.closeTo(expected, -3.1) })
})
