import { afterAll, describe, expect, test } from 'vitest'
import type { Batch } from './batch.ts'
import { Journal } from './disk.ts'
import { simulateOn } from './jobs.ts'
import { canShow, LOCAL_MUTANTS, MUTANTS, type Mutant } from './mutants.ts'
import { scenarioOf } from './scenario.ts'
import { simulate } from './world.ts'

/** The number of seeds. CI runs 3,000 (.ci/run), and 100,000 were run by hand. */
const SEEDS = 40
/**
 * The number of seeds with local signing. CI runs 200. Each seed takes ten times as long, because Solana's runtime
 * executes it.
 */
const LOCAL_SEEDS = 12
/** The number of seeds within which each mutant (a deliberate error) must be detected. */
const FEW = 40
const LONG_MS = 600_000

const journal = new Journal()
afterAll(() => journal.close())

/** Returns the failed seeds, each with its first problem. */
function failures({ failed }: Batch): string[] {
  return failed.map(
    ({ scenario, complaints }) => `npm run simulate -- --seed ${scenario.seed} --verbose: ${complaints[0]}`,
  )
}

test(
  `in ${SEEDS} seeds no order is doubled or lost, every order is decided, and errors of the service or a node raise alarms`,
  async () => {
    const batch = await simulateOn(1, { first: 1, end: SEEDS + 1, stride: 1 })
    expect(failures(batch)).toEqual([])
    expect(batch.seeds).toBe(SEEDS)
    // The seeds must have covered every kind of event.
    const { kinds, figures } = batch
    expect(kinds.honest).toBeGreaterThan(SEEDS / 2)
    for (const [what, count] of Object.entries({ ...kinds, ...figures }))
      if (what !== 'misattributed') expect({ what, isEnough: count > SEEDS / 30 }).toEqual({ what, isEnough: true })
  },
  LONG_MS,
)

// Each of these seeds found a bug before conditional orders existed. Examples are a transaction that was assigned to
// an order with a known execution, and a revert without a known signature.
test.each([13_736, 15_217, 20_877, 74_655, 95_941, 111_551, 112_861, 114_770, 117_043, 287_279, 317_532])(
  'seed %i, which found a bug earlier, has no problems',
  async (seed) => {
    expect((await simulate(seed, journal, { orders: 'plain' })).complaints).toEqual([])
  },
)

// These seeds found a bug: a buy that was being built was signed and sent after a full exit of its mint, or after a
// halt.
test.each([9_133, 30, 36])('seed %i with local signing, which found a bug earlier, has no problems', async (seed) => {
  expect((await simulate(seed, journal, { executor: 'local' })).complaints).toEqual([])
})

test.each([
  ...[1, 2, 3, 11, 14, 21].map((seed) => [seed, 'cloud'] as const),
  ...[3, 11].map((seed) => [seed, 'local'] as const),
])('seed %i gives the same trace twice, line by line; %s', async (seed, executor) => {
  const traces: string[][] = []
  for (const lines of [[], []] as string[][]) {
    const { hash } = await simulate(seed, journal, { executor, show: (line) => lines.push(line) })
    traces.push([...lines, hash])
  }
  expect(traces[0]?.length).toBeGreaterThan(3)
  expect(traces[0]).toEqual(traces[1])
})

test(
  `in ${LOCAL_SEEDS} seeds with local signing each transaction lands at most once or is proved expired, and no order is lost`,
  async () => {
    const batch = await simulateOn(1, { first: 1, end: LOCAL_SEEDS + 1, stride: 1, executor: 'local' })
    expect(failures(batch)).toEqual([])
    const { misattributed, ofSecondWallet: _, ...figures } = batch.figures
    for (const [what, count] of Object.entries(figures)) expect({ what, is: count > 0 }).toEqual({ what, is: true })
    // The signatures are known before the send, so each execution is assigned to its own order.
    expect(misattributed).toBe(0)
  },
  LONG_MS,
)

describe('the simulation detects each deliberate error', () => {
  const LOCALLY = ['sentBeforeCommit', 'heightOfTheFuture'] as const
  const locally = [...Object.entries(LOCAL_MUTANTS), ...LOCALLY.map((mutant) => [mutant, MUTANTS[mutant]] as const)]
  test.each([
    ...Object.entries(MUTANTS).map(([mutant, does]) => [mutant, does, 'cloud'] as const),
    ...locally.map(([mutant, does]) => [mutant, does, 'local'] as const),
  ])(`%s: %s; %s`, async (mutant, _does, executor) => {
    for (let seed = 1; seed <= FEW; seed++) {
      if (!canShow(mutant as Mutant, scenarioOf(seed))) continue
      const { complaints } = await simulate(seed, journal, { mutant: mutant as Mutant, executor })
      if (complaints.length > 0) return
    }
    expect.fail(`not within ${FEW} seeds`)
  })
})
