import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeJson } from '../../src/base/json.ts'
import type { WhenStale } from '../../src/engine/exits/exit-settings.ts'
import type { Command, Input, Output } from '../../src/engine/messages.ts'
import type { PoolAnswer } from '../../src/market/pool-price.ts'
import { EngineWorld, type Print, WORLD_MINTS } from '../support/engine-world.ts'
import { runs } from '../support/runs.ts'

const mint = fc.constantFrom(...WORLD_MINTS)
const price = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 60, max: 170 }).map((percent) => percent * 1e-8) },
  { weight: 1, arbitrary: fc.constantFrom(2e-7, 9e-6, Number.NaN, Number.POSITIVE_INFINITY, 0, -1) },
)
const print = fc.record({
  mint,
  price,
  sol: fc.constantFrom(0.5, 1, 3, 0.001, Number.NaN),
  wish: fc.oneof({ weight: 4, arbitrary: fc.constantFrom(1, 2, 3, 4) }, fc.integer({ min: 0, max: 11 })),
  more: fc.constantFrom(0, 0.01, 0.03),
  ms: fc.constantFrom(0, 1, 300, 20_000),
})
const command: fc.Arbitrary<Command> = fc.oneof(
  fc.constantFrom<Command>({ name: 'halt' }, { name: 'resume' }, { name: 'resume' }, { name: 'flatten' }),
  mint.map((held): Command => ({ name: 'sell', mint: held })),
)
type Step =
  | { kind: 'prints'; prints: Print[] }
  | { kind: 'report'; which: number; choice: number; percent: number }
  | { kind: 'command'; command: Command }
  | { kind: 'timer'; ms: number }
  | { kind: 'pool'; mint: string; percent: number; slots: number; ageMs: number }
  | { kind: 'gap'; keys: readonly string[] }
  | { kind: 'unknown' }
  | { kind: 'restart' }

const fraction = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true })
const report = fc.record({
  kind: fc.constant('report' as const),
  which: fc.oneof(
    fraction,
    fraction.map((part) => 1 - part / 8 - 1e-9),
  ),
  choice: fc.nat(11),
  percent: fc.integer({ min: 60, max: 170 }),
})
/** `percent` 0: unknown. */
const pool = fc.record({
  kind: fc.constant('pool' as const),
  mint,
  percent: fc.oneof(
    { weight: 1, arbitrary: fc.constantFrom(0, 1, 900) },
    { weight: 6, arbitrary: fc.integer({ min: 60, max: 170 }) },
  ),
  slots: fc.constantFrom(-3, 0, 0, 1, 9),
  ageMs: fc.constantFrom(-40_000, 0, 0, 1_000, 1_000, 4_000, 70_000),
})
const settled = fc.record({
  kind: fc.constant('prints' as const),
  prints: fc.array(print, { minLength: 1, maxLength: 8 }),
})
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: settled },
  { weight: 8, arbitrary: report },
  { weight: 1, arbitrary: command.map((one) => ({ kind: 'command' as const, command: one })) },
  { weight: 2, arbitrary: fc.constantFrom(3_000, 120_000, 4_000_000).map((ms) => ({ kind: 'timer' as const, ms })) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(['trades'], [...WORLD_MINTS], ['newTokens'])
      .map((keys) => ({ kind: 'gap' as const, keys })),
  },
  { weight: 1, arbitrary: fc.constantFrom({ kind: 'unknown' as const }, { kind: 'restart' as const }) },
)

/** Steps in which time passes and the pool of one mint is read several times. */
const silence: fc.Arbitrary<Step[]> = fc
  .tuple(mint, fc.array(pool, { minLength: 1, maxLength: 5 }))
  .map(([held, pools]) =>
    pools.flatMap((one): Step[] => [
      { kind: 'timer', ms: 120_000 },
      { kind: 'timer', ms: 3_000 },
      { ...one, mint: held },
    ]),
  )
const stepOrSilence = fc.oneof({ weight: 8, arbitrary: step.map((one) => [one]) }, { weight: 1, arbitrary: silence })

function inputOf(world: EngineWorld, one: Exclude<Step, { kind: 'prints' | 'restart' }>): Input | undefined {
  switch (one.kind) {
    case 'report':
      return world.report(one.which, one.choice, one.percent * 1e-8)
    case 'command':
      return { kind: 'command', command: one.command }
    case 'timer':
      return world.timer(one.ms)
    case 'pool':
      return { kind: 'pool', mint: one.mint, answer: poolOf(one, world.now) }
    case 'gap':
      return { kind: 'gap', from: world.now, to: world.now, keys: one.keys }
    case 'unknown':
      return {
        kind: 'report',
        id: 0,
        report: { orderId: 'o999999', attemptId: '', state: 'working', code: '', reason: '', reversed: 'nobody' },
      }
  }
}

function poolOf({ percent, slots, ageMs }: Extract<Step, { kind: 'pool' }>, now: number): PoolAnswer {
  if (percent === 0) return { code: 'POOL_SILENT', reason: 'nobody answers' }
  const sides = { lamports: BigInt(percent) * 10_000_000n, tokens: 1_000_000_000_000n, decimals: 6 }
  return { slot: Math.floor(now / 400) + slots, time: now - ageMs, ...sides }
}

/** Carries out the same step in every engine. The state of the first engine decides the details of the step. */
function take(worlds: readonly EngineWorld[], one: Step): Output[][] {
  const [first] = worlds as [EngineWorld]
  if (one.kind === 'restart') return []
  if (one.kind === 'prints') return worlds.map((world) => one.prints.flatMap((each) => world.print(each)))
  const input = inputOf(first, one)
  if (input === undefined) return []
  return worlds.map((world) => {
    world.now = first.now
    return world.input(input)
  })
}

/**
 * Returns the decisions that a restart must not change, as texts with sorted keys. Refusals (recorded once a second)
 * and CHASED (recorded once) are left out, because a restart forgets that they were recorded.
 */
function decisions(outputs: readonly Output[]): string[] {
  const isChase = (output: Output): boolean => output.kind === 'cancel' && output.code === 'CHASED'
  return outputs
    .filter((output) => output.kind !== 'refused' && output.kind !== 'keys' && !isChase(output))
    .map((output) => encodeJson(output))
}

const policy = fc.constantFrom<WhenStale>(
  { policy: 'poll', afterSeconds: 2 },
  { policy: 'poll', afterSeconds: 90 },
  { policy: 'flatten', afterSeconds: 90 },
)

describe('an engine under random events', () => {
  it('an engine under random events keeps its books, limits, open orders and exits consistent, also over restarts', () => {
    fc.assert(
      fc.property(fc.array(stepOrSilence, { minLength: 20, maxLength: 120 }), policy, (steps, whenStale) => {
        const world = new EngineWorld(whenStale)
        for (const one of steps.flat()) {
          if (one.kind === 'restart') world.restart()
          else take([world], one)
        }
        expect(
          world.outputs.map((output) => encodeJson(output)),
          'an output does not change after the engine has made it',
        ).toEqual(world.texts)
      }),
      { numRuns: runs(50) },
    )
  })

  it('after a restart, the engine makes the same decisions as without a restart', () => {
    fc.assert(
      fc.property(
        fc.array(step, { minLength: 20, maxLength: 80 }),
        fc.array(step, { minLength: 10, maxLength: 60 }),
        (before, after) => {
          const [world, restarted] = [new EngineWorld(), new EngineWorld()]
          for (const one of before) take([world, restarted], one)
          restarted.restart()
          take([world], { kind: 'gap', keys: ['trades'] }) // a restart forgets the prices
          restarted.seq = world.seq
          for (const one of after) {
            const [went, resumed] = take([world, restarted], one)
            expect(decisions(resumed ?? [])).toEqual(decisions(went ?? []))
          }
        },
      ),
      { numRuns: runs(50) },
    )
  })
})
