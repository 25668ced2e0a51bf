import type { HttpResult } from '../../src/base/machine.ts'
import type { TradeResult } from '../../src/sandbox/service/trading-desk.ts'

type Answered = Extract<HttpResult, { kind: 'answered' }>

export type Reply =
  | { readonly kind: 'trade'; readonly result: TradeResult }
  | { readonly kind: 'answer'; readonly answer: Answered }
  | { readonly kind: 'silence' }

const answer = (status: number, body: string, headers = {}): Answered => ({ kind: 'answered', status, headers, body })
const refusal = (status: number, code: string, headers = {}): Answered =>
  answer(status, JSON.stringify({ error: { code, message: 'no' } }), headers)

/** The service refuses the request because of the rate limit. The order itself is not the cause. */
export const TOO_MANY = refusal(429, 'RATE_LIMIT')

/** Answers with which the service refuses an order that it has not executed and will not execute. */
export const REFUSALS: readonly Answered[] = [
  refusal(400, 'SLIPPAGE_EXCEEDED'),
  refusal(400, 'SLIPPAGE_EXCEEDED'),
  refusal(200, 'SLIPPAGE_EXCEEDED'),
  refusal(400, 'INSUFFICIENT_BALANCE'),
  refusal(404, 'INVALID_MINT'),
  refusal(400, 'INVALID_PARAMETERS'),
  refusal(429, 'RATE_LIMIT'),
  refusal(429, 'RATE_LIMIT', { 'retry-after': '2' }),
  answer(429, 'slow down', { 'retry-after': '7' }),
  answer(401, '{"message":"invalid API key"}'),
  answer(403, ''),
  answer(422, 'no'),
]

/** Answers that do not show whether the order executed. */
export const ANSWERS: readonly Answered[] = [
  answer(500, '<html>Internal Server Error</html>'),
  answer(502, '<html>Bad Gateway</html>'),
  answer(503, '{"error":"try again"}'),
  answer(504, ''),
  answer(408, ''),
  answer(409, '{"error":{"code":"CONFLICT"}}'),
  answer(425, ''),
  answer(302, '', { location: 'https://elsewhere.invalid' }),
  answer(200, '<html>Welcome</html>'),
  answer(200, '{"success":true}'),
  answer(200, ''),
  answer(200, '{"error":{"code":"SLIPPAGE_EXCEEDED"},"also":"RATE_LIMIT"}'),
]
