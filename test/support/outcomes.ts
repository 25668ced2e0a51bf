import type { ErrorCode } from '../../src/base/errors.ts'
import { lamports } from '../../src/base/units.ts'
import type { Outcome } from '../../src/orders/ports.ts'
import { fillOf, type Script } from './gateway-world.ts'

export const refused = (code: ErrorCode, retry: 'wait' | 'slippage' | 'never', retryAfterMs?: number): Outcome => ({
  kind: 'refused',
  code,
  reason: `because of ${code}`,
  retry,
  ...(retryAfterMs !== undefined && { retryAfterMs }),
})
export const reverted = (code: ErrorCode, final: boolean): Outcome => ({
  kind: 'reverted',
  signature: 's',
  feeLamports: lamports(5_000),
  code,
  final,
})
export const acked: Outcome = { kind: 'acked', signature: 's' }
export const lost: Outcome = { kind: 'unknown', reason: 'ECONNRESET' }
export const unsent: Outcome = { kind: 'unsent', reason: 'ECONNREFUSED' }
export const absent: Outcome = { kind: 'absent' }
export const FILL: Script = [
  [100, acked],
  [1_500, (attempt) => fillOf(attempt, false)],
  [13_000, (attempt) => fillOf(attempt, true)],
]
export const only = (outcome: Outcome): Script => [[100, outcome]]
