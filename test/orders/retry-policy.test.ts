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
  ['an unsent exit is repeated after 0.5 s', unsent, exit, again(500)],
  ['an exit that was unsent four times is repeated after 4 s', unsent, { ...exit, waits: 3 }, again(4_000)],
  ['an exit that was unsent ten times is repeated after 8 s', unsent, { ...exit, waits: 9 }, again(8_000)],
  ['an unsent entry is repeated after 0.5 s', unsent, entry, again(500)],
  ['an exit that gets a 429 is repeated after 0.5 s', throttled, exit, again(500)],
  [
    'an entry that gets a 429 with Retry-After is repeated after that time',
    throttled,
    { ...entry, retryAfterMs: 1_700 },
    again(1_700),
  ],
  [
    'an exit that gets a 429 with a Retry-After of an hour is repeated after a minute',
    throttled,
    { ...exit, retryAfterMs: 3_600_000 },
    again(60_000),
  ],
  ['an exit refused for slippage is retried at once with more slippage', slippage, exit, climb(0)],
  [
    'an exit that reverted for slippage is retried at once with more slippage',
    reverted('SLIPPAGE_EXCEEDED'),
    exit,
    climb(0),
  ],
  ['an exit refused for its last slippage ends', slippage, { ...exit, step: 3 }, end],
  ['a buy with one slippage that is refused for it ends', slippage, entry, end],
  [
    'a buy refused for its first slippage is retried with the next one after 0.5 s',
    slippage,
    { ...entry, steps: 9 },
    climb(500),
  ],
  [
    'a buy refused for its second slippage is retried with the next one after 1 s',
    slippage,
    { ...entry, steps: 9, step: 1 },
    climb(1_000),
  ],
  [
    'a buy refused for slippage ends if its time to live is shorter than the delay',
    slippage,
    { ...entry, steps: 9, leftMs: 499 },
    end,
  ],
  ['a buy refused for slippage ends after two retries', slippage, { ...entry, steps: 9, step: 2 }, end],
  [
    'a buy refused for slippage ends if the retry would come more than 3 s after the decision',
    slippage,
    { ...entry, steps: 9, sinceDecisionMs: 2_501 },
    end,
  ],
  [
    'an exit whose priority fee is refused is retried with another fee',
    refused('PRIORITY_FEE', 'never'),
    exit,
    { kind: 'otherFee' },
  ],
  [
    'an exit whose last priority fee is refused ends',
    refused('PRIORITY_FEE', 'never'),
    { ...exit, hasOtherFee: false },
    end,
  ],
  ['an entry whose priority fee is refused ends', refused('PRIORITY_FEE', 'never'), entry, end],
  [
    'an exit refused because of the key waits until the key is accepted',
    refused('AUTHENTICATION_FAILED', 'never'),
    exit,
    { kind: 'hold' },
  ],
  ['an entry refused because of the key ends', refused('AUTHENTICATION_FAILED', 'never'), entry, end],
  [
    'an exit refused because of the plan is repeated after a minute',
    refused('PLAN_REFUSED', 'never'),
    exit,
    again(60_000),
  ],
  ['an entry refused because of the plan ends', refused('PLAN_REFUSED', 'wait'), entry, end],
  ['an entry refused for too low a balance ends', refused('INSUFFICIENT_BALANCE', 'never'), entry, end],
  ['an exit refused for an invalid mint ends', refused('INVALID_MINT', 'never'), exit, end],
  ['an exit that reverted for another reason than slippage ends', reverted('REVERTED'), exit, end],
  ['an exit that is proved absent ends', { kind: 'absent' }, exit, end],
])('%s', (_what, failure, tries, move) => {
  expect(moveAfter(causeOf(failure), tries)).toEqual(move)
})

test.each<[Failure, string]>([
  [unsent, 'UNSENT'],
  [{ kind: 'absent' }, 'ABSENT'],
  [{ kind: 'absent', code: 'CRASHED' }, 'CRASHED'],
  [refused('AUTHENTICATION_FAILED', 'never'), 'KEY_REFUSED'],
  [slippage, 'SLIPPAGE_EXCEEDED'],
])('the failure %o has the code %s', (failure, code) => {
  expect(codeOf(failure)).toBe(code)
})
