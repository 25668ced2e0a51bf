import { expect, test } from 'vitest'
import { networkFee, tradeOf, walletChange } from '../../src/engine/accounting/fill-costs.ts'
import type { Attempt } from '../../src/orders/attempt.ts'
import type { Executor, Outcome } from '../../src/orders/ports.ts'

/** A test case with one attempt, whose final outcome is known. */
export interface ExecutorCase {
  readonly what: string
  /** Kind of the final outcome of the attempt. */
  readonly ends: Outcome['kind']
  /** `resume` if an earlier process recorded the attempt and did not send it. */
  readonly call?: 'execute' | 'resume'
  build(): ExecutorWorld | Promise<ExecutorWorld>
}

export interface ExecutorWorld {
  readonly executor: Executor
  readonly attempt: Attempt
  /** Advances a simulated clock, or waits, until no outcome is pending. */
  settle(): void | Promise<void>
  /** Returns the number of requests that the executor has sent. Absent if the test case cannot count them. */
  sent?(): number
  close?(): void | Promise<void>
}

/** Tests that every adapter of the port `Executor` (orders/ports.ts) has to pass. */
export function executorContract(name: string, cases: readonly ExecutorCase[]): void {
  test.each(cases)(`${name}: $what`, async ({ ends, call = 'execute', build }) => {
    const world = await build()
    try {
      const outcomes: Outcome[] = []
      let returned = false
      world.executor[call](world.attempt, (outcome) => {
        expect(returned, 'the executor reported an outcome before the call returned').toBe(true)
        outcomes.push(outcome)
      })
      returned = true
      await world.settle()
      expectOneEnd(outcomes, ends)
      expectFills(outcomes, world.attempt)
      if (call === 'resume') expect(world.sent?.() ?? 0, 'a resumed attempt was sent again').toBe(0)
      const count = outcomes.length
      await world.settle()
      expect(outcomes.slice(count), 'the executor reported an outcome after the final one').toEqual([])
    } finally {
      await world.close?.()
    }
  })
}

/** Returns whether the outcome is final. */
function isEnd(outcome: Outcome): boolean {
  if (outcome.kind === 'filled' || outcome.kind === 'reverted') return outcome.final
  return outcome.kind !== 'acked' && outcome.kind !== 'unknown'
}

function expectOneEnd(outcomes: readonly Outcome[], ends: Outcome['kind']): void {
  const kinds = outcomes.map(({ kind }) => kind)
  expect(outcomes.filter(isEnd), `exactly one of the outcomes ${kinds.join(', ')} is final`).toHaveLength(1)
  const last = outcomes.at(-1) as Outcome
  expect(isEnd(last), `the last of the outcomes ${kinds.join(', ')} is final`).toBe(true)
  expect(last.kind).toBe(ends)
}

function expectFills(outcomes: readonly Outcome[], attempt: Attempt): void {
  const fills = outcomes.flatMap((outcome) => (outcome.kind === 'filled' ? [outcome] : []))
  for (const { fill, final } of fills) {
    expect(fill.final).toBe(final)
    const { orderId, account, bot, mint, side } = attempt
    expect(fill).toMatchObject({ attemptId: attempt.id, orderId, account, bot, mint, side })
    expect(fill.signature).not.toBe('')
    expect(fill.tokens > 0n, 'tokens changed hands').toBe(true)
    const { costs } = fill
    expect(fill.walletLamports, 'the change of the wallet is the sum of the parts of a fill').toBe(
      walletChange(side, costs),
    )
    expect(fill.tradeLamports).toBe(tradeOf(side, costs))
    expect(fill.feeLamports).toBe(networkFee(costs))
    expect(fill.rentLamports).toBe(costs.rentPaidLamports - costs.rentReturnedLamports)
  }
  expect(
    new Set(fills.map(({ fill }) => JSON.stringify([fill.signature, `${fill.tokens}`, fill.walletLamports]))).size,
  ).toBeLessThan(2)
}
