import { expect, test } from 'vitest'
import type { Rpc } from '../../../src/chain/rpc/rpc.ts'
import { CheckRpcs } from '../../../src/chain/rpc/rpc.ts'
import { RPC_UNREACHABLE } from '../../../src/chain/rpc/rpc-errors.ts'
import { SimulatedClock } from '../../../src/simulation/simulated-clock.ts'
import { settled } from '../scripted-chain.ts'

/** Nodes that answer with their index. `answerMs`: time of each node until its answer. */
function nodesOf(...answerMs: number[]): { clock: SimulatedClock; rpcs: CheckRpcs; check: () => Promise<unknown[]> } {
  const clock = new SimulatedClock()
  const nodes = answerMs.map(
    (ms, index): Rpc =>
      () =>
        new Promise((resolve) => void clock.after(ms, () => resolve({ ok: true, value: index }))),
  )
  const rpcs = new CheckRpcs(nodes, clock)
  /** A check that consists of two consecutive calls. */
  const check = async (): Promise<unknown[]> => {
    const { rpc, end } = rpcs.begin()
    const answers = [await rpc('first', []), await rpc('second', [])]
    end()
    return answers.map((answer) => (answer.ok ? answer.value : answer.message))
  }
  return { clock, rpcs, check }
}

async function pass<T>(clock: SimulatedClock, ms: number, promise: Promise<T>): Promise<T | undefined> {
  let answer: T | undefined
  void promise.then((one) => (answer = one))
  await settled()
  for (const until = clock.now() + ms; clock.now() < until; await settled())
    clock.advanceTo(Math.min(until, clock.nextAt()))
  return answer
}

const LATE = 'the checks took longer than 5 s'

test('all calls of a check share one time limit; after a timeout, checks use the next node for a minute', async () => {
  const { clock, check } = nodesOf(3_000, 10)
  expect(await pass(clock, 4_999, check())).toBeUndefined()
  expect(await pass(clock, 5_000, check())).toEqual([0, LATE])
  expect(await pass(clock, 20, check())).toEqual([1, 1])
  clock.advanceTo(clock.now() + 60_001)
  expect(await pass(clock, 5_000, check())).toEqual([0, LATE])
})

test('two concurrent checks that time out skip only one node', async () => {
  const { clock, check } = nodesOf(6_000, 10)
  const both = Promise.all([check(), check()])
  expect(await pass(clock, 5_000, both)).toEqual(Array(2).fill([LATE, LATE]))
  expect(await pass(clock, 20, check())).toEqual([1, 1])
})

test.each([
  ['it is the only node', [9_900], 0],
  ['all other nodes are slow too', [9_900, 9_900], 2],
])('a check on a slow node may take a minute if %s', async (_what, answerMs, before) => {
  const { clock, check } = nodesOf(...answerMs)
  for (let round = 0; round < before; round++) expect(await pass(clock, 5_000, check())).toEqual([LATE, LATE])
  expect(await pass(clock, 19_800, check())).toEqual([0, 0])
})

test('no node is called after the time limit of a check', async () => {
  const { clock, rpcs } = nodesOf(10, 10)
  const { rpc } = rpcs.begin()
  clock.advanceTo(clock.now() + 5_000)
  expect(await rpc('first', [])).toEqual({ ok: false, code: RPC_UNREACHABLE, message: LATE })
  expect(clock.nextAt()).toBe(Number.POSITIVE_INFINITY)
})
