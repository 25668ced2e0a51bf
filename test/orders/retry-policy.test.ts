import { expect, test } from 'vitest'
import { lamports } from '../../src/base/units.ts'
import { causeOf, codeOf, type Failure, type Move, moveAfter, type Tries } from '../../src/orders/retry-policy.ts'

const refused = (
  code: Extract<Failure, { kind: 'refused' }>['code'],
  retry: 'wait' | 'slippage' | 'never',
): Failure => ({
  kind: 'refused',
  code,
  reason: '',
  retry,
})
const reverted = (code: Extract<Failure, { kind: 'reverted' }>['code']): Failure => ({
  kind: 'reverted',
  signature: 's',
  feeLamports: lamports(5000),
  code,
  final: true,
})
const unsent: Failure = { kind: 'unsent', reason: 'ECONNREFUSED' }
const throttled = refused('RATE_LIMIT', 'wait')
const slippage = refused('SLIPPAGE_EXCEEDED', 'slippage')

const exit: Tries = {
  ...{
    class: 'exit',
    waits: 0,
    step: 0,
    steps: 4,
    hasOtherFee: true,
    sinceDecisionMs: 60_000,
    leftMs: Number.POSITIVE_INFINITY,
  },
  retryAfterMs: undefined,
}
const entry: Tries = { ...exit, class: 'entry', steps: 1, sinceDecisionMs: 100 }
const again = (afterMs: number): Move => ({ kind: 'again', afterMs })
const climb = (afterMs: number): Move => ({ kind: 'climb', afterMs })
const end: Move = { kind: 'end' }

test.each<[string, Failure, Tries, Move]>([
  ['an unsent exit', unsent, exit, again(500)],
  ['an unsent exit, the fourth time', unsent, { ...exit, waits: 3 }, again(4_000)],
  ['an unsent exit, the tenth time', unsent, { ...exit, waits: 9 }, again(8_000)],
  ['an unsent entry', unsent, entry, again(500)],
  ['429', throttled, exit, again(500)],
  ['429 with Retry-After', throttled, { ...entry, retryAfterMs: 1_700 }, again(1_700)],
  ['429 with a Retry-After of an hour', throttled, { ...exit, retryAfterMs: 3_600_000 }, again(60_000)],
  ['slippage of an exit', slippage, exit, climb(0)],
  ['slippage of an exit that landed and reverted', reverted('SLIPPAGE_EXCEEDED'), exit, climb(0)],
  ['slippage of an exit at its last slippage', slippage, { ...exit, step: 3 }, end],
  ['slippage of a buy', slippage, entry, end],
  ['slippage of a buy with several slippages', slippage, { ...entry, steps: 9 }, climb(500)],
  [
    'slippage of a buy with several slippages, the second time',
    slippage,
    { ...entry, steps: 9, step: 1 },
    climb(1_000),
  ],
  [
    'slippage of a buy with several slippages, with less time to live than the delay',
    slippage,
    { ...entry, steps: 9, leftMs: 499 },
    end,
  ],
  ['slippage of a buy with several slippages, after two retries', slippage, { ...entry, steps: 9, step: 2 }, end],
  [
    'slippage of a buy with several slippages, if the retry would come 3 s after the decision',
    slippage,
    { ...entry, steps: 9, sinceDecisionMs: 2_501 },
    end,
  ],
  ['a refused fee, exit', refused('PRIORITY_FEE', 'never'), exit, { kind: 'otherFee' }],
  [
    'a refused fee, exit without another fee to try',
    refused('PRIORITY_FEE', 'never'),
    { ...exit, hasOtherFee: false },
    end,
  ],
  ['a refused fee, entry', refused('PRIORITY_FEE', 'never'), entry, end],
  ['a refused key, exit', refused('AUTHENTICATION_FAILED', 'never'), exit, { kind: 'hold' }],
  ['a refused key, entry', refused('AUTHENTICATION_FAILED', 'never'), entry, end],
  ['a refused plan, exit', refused('PLAN_REFUSED', 'never'), exit, again(60_000)],
  ['a refused plan, entry', refused('PLAN_REFUSED', 'wait'), entry, end],
  ['no balance', refused('INSUFFICIENT_BALANCE', 'never'), entry, end],
  ['an invalid mint, exit', refused('INVALID_MINT', 'never'), exit, end],
  ['a revert', reverted('REVERTED'), exit, end],
  ['absence', { kind: 'absent' }, exit, end],
])('%s', (_what, failure, tries, move) => {
  expect(moveAfter(causeOf(failure), tries)).toEqual(move)
})

test.each<[Failure, string]>([
  [unsent, 'UNSENT'],
  [{ kind: 'absent' }, 'ABSENT'],
  [{ kind: 'absent', code: 'CRASHED' }, 'CRASHED'],
  [refused('AUTHENTICATION_FAILED', 'never'), 'KEY_REFUSED'],
  [slippage, 'SLIPPAGE_EXCEEDED'],
])('the code of the failure %o', (failure, code) => {
  expect(codeOf(failure)).toBe(code)
})
