import { describe, expect, test } from 'vitest'
import type { TokenChecks } from '../../src/engine/limits/token-checks.ts'
import { VettedExecutor } from '../../src/live/executor-routes.ts'
import type { Attempt, CalledOff } from '../../src/orders/attempt.ts'
import type { Executor, Outcome } from '../../src/orders/ports.ts'
import { SimulatedClock } from '../../src/simulation/simulated-clock.ts'
import type { MintFacts } from '../../src/solana/mint.ts'
import { type ExecutorWorld, executorContract } from '../contracts/executor.contract.ts'
import { buyAttempt, sellAttempt } from '../support/attempts.ts'

const PLAIN: MintFacts = { program: 'token', traits: [] }
const FREEZABLE: MintFacts = { program: 'token', traits: ['freezeAuthority'] }
const BEFORE: TokenChecks = { when: 'before', allow: [] }

/**
 * An executor to which orders pass only after the token checks. All of its attempts end as `absent` after 100 ms.
 * `readMs`: time that the checks need to read a mint from the chain.
 */
class Vetted implements ExecutorWorld {
  readonly clock = new SimulatedClock()
  readonly executed: number[] = []
  readonly outcomes: Outcome[] = []
  readonly executor: Executor
  readonly attempt: Attempt
  refusal: CalledOff | 'TTL' | undefined

  constructor(attempt: Attempt, checks: TokenChecks, facts: MintFacts | undefined, readMs = 50) {
    this.attempt = attempt
    const execute: Executor['execute'] = (_attempt, done) => {
      this.executed.push(this.clock.now())
      this.clock.after(100, () => done({ kind: 'absent' }))
    }
    const resume: Executor['resume'] = (_attempt, done) => void this.clock.after(100, () => done({ kind: 'absent' }))
    this.executor = new VettedExecutor({
      ...{ clock: this.clock, executor: { execute, resume }, checksOf: () => checks },
      read: (_mint, told) => (readMs === 0 ? told(facts) : this.clock.after(readMs, () => told(facts))),
      refusalOf: () => this.refusal,
    })
  }

  run(): this {
    this.executor.execute(this.attempt, (outcome) => this.outcomes.push(outcome))
    this.settle()
    return this
  }

  settle(): void {
    this.clock.advanceTo(this.clock.now() + 10_000)
  }

  sent(): number {
    return this.executed.length
  }
}

const buy = buyAttempt('mint', 0.1)

executorContract('the executor that checks the mint', [
  { what: 'a mint that is known and harmless', ends: 'absent', build: () => new Vetted(buy, BEFORE, PLAIN, 0) },
  { what: 'a mint that has to be read', ends: 'absent', build: () => new Vetted(buy, BEFORE, PLAIN) },
  { what: 'a mint that is known and refused', ends: 'refused', build: () => new Vetted(buy, BEFORE, FREEZABLE, 0) },
  { what: 'a mint that is read and refused', ends: 'refused', build: () => new Vetted(buy, BEFORE, FREEZABLE) },
  { what: 'a mint that cannot be read', ends: 'refused', build: () => new Vetted(buy, BEFORE, undefined) },
  {
    what: 'an attempt of an earlier process is looked up, with any mint',
    ends: 'absent',
    call: 'resume',
    build: () => new Vetted(buy, BEFORE, FREEZABLE),
  },
])

describe('a buy', () => {
  test('a buy waits until its mint is read, and is sent at once if the mint is known', () => {
    expect(new Vetted(buy, BEFORE, PLAIN).run().executed).toEqual([50])
    expect(new Vetted(buy, BEFORE, PLAIN, 0).run().executed).toEqual([0])
  })

  test.each<[string, MintFacts | undefined, string]>([
    ['a mint with a freeze authority', FREEZABLE, 'FREEZE_AUTHORITY'],
    ['an account that is not a mint', { program: 'none', traits: [] }, 'MINT_PROGRAM'],
    ['a mint that cannot be read', undefined, 'MINT_UNREAD'],
  ])('a buy of %s is not sent and not retried', (_what, facts, code) => {
    const { executed, outcomes } = new Vetted(buy, BEFORE, facts).run()
    expect([executed, outcomes]).toEqual([[], [expect.objectContaining({ kind: 'refused', code, retry: 'never' })]])
  })

  test.each([
    ['the time to live of the buy has ended', 'TTL', undefined],
    ['a full exit of the mint has begun', 'EXIT_UNPROVED', 'EXIT_UNPROVED'],
    ['entries have been halted', 'HALTED', 'HALTED'],
  ] as const)('a buy that waits for its mint is not sent if %s', (_what, refusal, code) => {
    const vetted = new Vetted(buy, BEFORE, PLAIN)
    vetted.refusal = refusal
    const { outcomes } = vetted.run()
    expect(outcomes).toEqual([{ kind: 'unsent', reason: expect.any(String), ...(code && { code }) }])
    expect(vetted.executed).toEqual([])
  })

  test.each<[string, Attempt, TokenChecks]>([
    ['a buy of a mint with a trait that the bot allows', buy, { when: 'before', allow: ['freezeAuthority'] }],
    ['a buy of any mint at once with `when: after`', buy, { when: 'after', allow: [] }],
    ['a buy with the checks switched off', buy, { when: 'off', allow: [] }],
    ['a sale without waiting for its mint', sellAttempt('mint'), BEFORE],
  ])('the executor with token checks sends %s', (_what, attempt, checks) => {
    const { executed, outcomes } = new Vetted(attempt, checks, FREEZABLE).run()
    const waits = checks.when === 'before' && attempt.side === 'buy'
    expect([executed, outcomes]).toEqual([[waits ? 50 : 0], [{ kind: 'absent' }]])
  })
})
