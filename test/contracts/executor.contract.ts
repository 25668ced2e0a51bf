import { expect, test } from 'vitest'
import { networkFee, tradeOf, walletChange } from '../../src/engine/accounting/fill-costs.ts'
import type { Attempt } from '../../src/orders/attempt.ts'
import type { Executor, Outcome } from '../../src/orders/ports.ts'

/** A test case: a world in which one attempt ends in a known way. */
export interface ExecutorCase {
  readonly what: string
  /** The kind of the final outcome. */
  readonly ends: Outcome['kind']
  /** `resume` if an earlier process armed the attempt. */
  readonly call?: 'execute' | 'resume'
  build(): ExecutorWorld | Promise<ExecutorWorld>
}

export interface ExecutorWorld {
  readonly executor: Executor
  readonly attempt: Attempt
  /** Advances a simulated clock, or waits, until no outcome is pending. */
  settle(): void | Promise<void>
  /** Number of requests that were sent, if the world can count them. */
  sent?(): number
  close?(): void | Promise<void>
}

/** Rules of the port `Executor` (orders/ports.ts), for every adapter. */
export function executorContract(name: string, cases: readonly ExecutorCase[]): void {
  test.each(cases)(`${name}: $what`, async ({ ends, call = 'execute', build }) => {
    const world = await build()
    try {
      const outcomes: Outcome[] = []
      let returned = false
      world.executor[call](world.attempt, (outcome) => {
        expect(returned, 'an outcome came from inside the call').toBe(true)
        outcomes.push(outcome)
      })
      returned = true
      await world.settle()
      expectOneEnd(outcomes, ends)
      expectFills(outcomes, world.attempt)
      if (call === 'resume') expect(world.sent?.() ?? 0, 'a resumed attempt was sent again').toBe(0)
      const count = outcomes.length
      await world.settle()
      expect(outcomes.slice(count), 'something came after the end').toEqual([])
    } finally {
      await world.close?.()
    }
  })
}

/** Whether the outcome is final. */
function isEnd(outcome: Outcome): boolean {
  if (outcome.kind === 'filled' || outcome.kind === 'reverted') return outcome.final
  return outcome.kind !== 'acked' && outcome.kind !== 'unknown'
}

function expectOneEnd(outcomes: readonly Outcome[], ends: Outcome['kind']): void {
  const kinds = outcomes.map(({ kind }) => kind)
  expect(outcomes.filter(isEnd), `exactly one end among ${kinds.join(', ')}`).toHaveLength(1)
  const last = outcomes.at(-1) as Outcome
  expect(isEnd(last), `the end is last in ${kinds.join(', ')}`).toBe(true)
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
    expect(fill.walletLamports, 'the parts of a fill are the change of the wallet').toBe(walletChange(side, costs))
    expect(fill.tradeLamports).toBe(tradeOf(side, costs))
    expect(fill.feeLamports).toBe(networkFee(costs))
    expect(fill.rentLamports).toBe(costs.rentPaidLamports - costs.rentReturnedLamports)
  }
  expect(
    new Set(fills.map(({ fill }) => JSON.stringify([fill.signature, `${fill.tokens}`, fill.walletLamports]))).size,
  ).toBeLessThan(2)
}
