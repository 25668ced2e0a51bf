import { afterAll, describe, expect, test } from 'vitest'
import type { Batch } from './batch.ts'
import { Journal } from './disk.ts'
import { simulateOn } from './jobs.ts'
import { canShow, LOCAL_MUTANTS, MUTANTS, type Mutant } from './mutants.ts'
import { scenarioOf } from './scenario.ts'
import { simulate } from './world.ts'

/** Number of seeds in this test. CI runs 3,000 seeds (.ci/run); a manual run covered 100,000. */
const SEEDS = 40
/**
 * Number of seeds with local signing in this test. CI runs 200. Such a seed takes ten times as long, because Solana's
 * runtime executes its transactions.
 */
const LOCAL_SEEDS = 12
/** Number of seeds within which the simulation must detect each mutant (a deliberate error). */
const FEW = 40
const LONG_MS = 600_000

const journal = new Journal()
afterAll(() => journal.close())

/** Returns a text for each seed that failed, with its first problem. */
function failures({ failed }: Batch): string[] {
  return failed.map(
    ({ scenario, complaints }) => `npm run simulate -- --seed ${scenario.seed} --verbose: ${complaints[0]}`,
  )
}

test(
  `in ${SEEDS} simulated runs no order is doubled or lost, every order is decided, and errors of the service or a node raise alarms`,
  async () => {
    const batch = await simulateOn(1, { first: 1, end: SEEDS + 1, stride: 1 })
    expect(failures(batch)).toEqual([])
    expect(batch.seeds).toBe(SEEDS)
    // Every kind of event must have occurred in the run of at least one seed.
    const { kinds, figures } = batch
    expect(kinds.honest).toBeGreaterThan(SEEDS / 2)
    for (const [what, count] of Object.entries({ ...kinds, ...figures }))
      if (what !== 'misattributed') expect({ what, isEnough: count > SEEDS / 30 }).toEqual({ what, isEnough: true })
  },
  LONG_MS,
)

// Each of these seeds once found a bug, before conditional orders existed. For example, a transaction was assigned to
// an order whose execution was already known, or a failed transaction ended an attempt whose signature was unknown.
test.each([13_736, 15_217, 20_877, 74_655, 95_941, 111_551, 112_861, 114_770, 117_043, 287_279, 317_532])(
  'the run of seed %i, which once found a bug, has no problems',
  async (seed) => {
    expect((await simulate(seed, journal, { orders: 'plain' })).complaints).toEqual([])
  },
)

// Each of these seeds once found a bug: a buy whose transaction was being built was signed and sent after a full exit
// of its mint, or after a halt.
test.each([9_133, 30, 36])(
  'the run of seed %i with local signing, which once found a bug, has no problems',
  async (seed) => {
    expect((await simulate(seed, journal, { executor: 'local' })).complaints).toEqual([])
  },
)

test.each([
  ...[1, 2, 3, 11, 14, 21].map((seed) => [seed, 'cloud'] as const),
  ...[3, 11].map((seed) => [seed, 'local'] as const),
])('two runs of seed %i with the %s executor have the same trace, line by line', async (seed, executor) => {
  const traces: string[][] = []
  for (const lines of [[], []] as string[][]) {
    const { hash } = await simulate(seed, journal, { executor, show: (line) => lines.push(line) })
    traces.push([...lines, hash])
  }
  expect(traces[0]?.length).toBeGreaterThan(3)
  expect(traces[0]).toEqual(traces[1])
})

test(
  `in ${LOCAL_SEEDS} simulated runs with local signing, each transaction lands at most once or is proved expired, and no order is lost`,
  async () => {
    const batch = await simulateOn(1, { first: 1, end: LOCAL_SEEDS + 1, stride: 1, executor: 'local' })
    expect(failures(batch)).toEqual([])
    const { misattributed, ofSecondWallet: _, ...figures } = batch.figures
    for (const [what, count] of Object.entries(figures)) expect({ what, is: count > 0 }).toEqual({ what, is: true })
    // With local signing, each signature is known before the send, so each execution is assigned to its own order.
    expect(misattributed).toBe(0)
  },
  LONG_MS,
)

describe('the simulation detects each mutant (a deliberate error)', () => {
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
