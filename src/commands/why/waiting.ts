import { type Attempt, isUndecided } from '../../core/order.ts'
import type { RecordedOrder } from '../../journal/history.ts'
import { durationOf } from './time.ts'
import { codeText } from './words.ts'

/** What an open order waits for, and what would decide it; '' where it is over and nothing of it can still execute. */
export function waitingText(
  { order, state, code }: RecordedOrder,
  attempts: readonly Attempt[],
  progress: string,
): string {
  const out = attempts.filter((attempt) => isUndecided(attempt.state))
  const proof = progress === '' ? '' : `; so far: ${progress}`
  if (state === 'held')
    return `for evidence, or a person: the chain contradicts itself${proof}; \`sluice resolve ${order.id}\` shows it and decides`
  if (state === 'accepted') return lineText(order.notAfter === null ? null : order.notAfter - order.time, code)
  if (out.length === 0) return ''
  const what = out.map((attempt) => `${attempt.id} ${outText(attempt)}`).join('; ')
  const over = state === 'working' ? '' : `the order is ${state}, and `
  return `${over}${what}${proof}`
}

function lineText(ttlMs: number | null, code: string): string {
  const bound =
    ttlMs === null
      ? 'exits go before entries, and wait without bound'
      : `given up (LIMIT_WAIT, TTL) ${durationOf(Math.min(ttlMs, 2_000))} after the decision at the latest`
  const again = code === '' ? '' : `; it goes again after ${codeText(code, '')}`
  return `for a free request of the plan; ${bound}${again}`
}

/** What an attempt that may still execute waits for. */
function outText({ state, executor }: Attempt): string {
  switch (state) {
    case 'armed':
      return executor === 'paper'
        ? 'is under way; its simulated fill decides'
        : 'was sent or is about to be; its answer decides'
    case 'acked':
      return 'has a signature; seen on the chain decides, or the proof that it cannot land any more'
    case 'unknown':
      return 'lost its answer: not sent again; a transaction of the wallet decides, or the proof that none can come any more'
    case 'landed':
      return 'was seen on the chain; its finality decides'
    case 'undecided':
      return 'is contradicted by the chain; later evidence or a person decides'
    default:
      return `is ${state}; landing decides, or the height at which it expires`
  }
}
