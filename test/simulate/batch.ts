import { createHash } from 'node:crypto'
import { Journal } from './disk.ts'
import { type Kind, scenarioOf } from './scenario.ts'
import { type Figure, type Options, type Result, simulate } from './world.ts'

/** The results of many seeds. Each seed is one simulated run. */
export interface Batch {
  readonly seeds: number
  readonly kinds: Record<Kind, number>
  readonly figures: Record<Figure, number>
  readonly failed: Pick<Result, 'scenario' | 'complaints' | 'tail'>[]
  /** The time until the proof that a lost request did not execute, for each such request, ms. */
  readonly settledMs: readonly number[]
  /** For each seed, the hash of its trace. */
  readonly hashes: (readonly [seed: number, hash: string])[]
}

function emptyBatch(): Batch {
  const figures = {
    virtualSeconds: 0,
    orders: 0,
    requests: 0,
    executions: 0,
    ofSecondWallet: 0,
    lies: 0,
    misattributed: 0,
    crashes: 0,
    forks: 0,
    conditionals: 0,
    triggered: 0,
    cancelled: 0,
    standing: 0,
    restored: 0,
    stalls: 0,
    firings: 0,
    sellsOnShortDisk: 0,
    buysAfterShortDisk: 0,
    commands: 0,
    steps: 0,
  }
  return { seeds: 0, kinds: { honest: 0, service: 0, rpc: 0 }, figures, failed: [], settledMs: [], hashes: [] }
}

/**
 * The seeds that a worker simulates: every `stride`-th seed from `first` on, below `end`. They may be limited to one
 * kind of scenario.
 */
export interface Share {
  readonly first: number
  readonly end: number
  readonly stride: number
  readonly kind?: Kind | undefined
  readonly executor?: Options['executor']
  readonly times?: Options['times']
}

export async function simulateAll(share: Share, options: Options = {}): Promise<Batch> {
  const { first, end, stride, kind, executor, times } = share
  const journal = new Journal()
  let batch = emptyBatch()
  try {
    for (let seed = first; seed < end; seed += stride) {
      if (kind !== undefined && scenarioOf(seed).kind !== kind) continue
      batch = added(batch, await simulate(seed, journal, { executor, times, ...options }))
    }
  } finally {
    journal.close()
  }
  return batch
}

function added(batch: Batch, { scenario, hash, complaints, tail, figures, settledMs }: Result): Batch {
  if (complaints.length > 0) batch.failed.push({ scenario, complaints, tail })
  batch.hashes.push([scenario.seed, hash])
  batch.kinds[scenario.kind]++
  for (const [name, value] of Object.entries(figures)) batch.figures[name as Figure] += value
  return { ...batch, seeds: batch.seeds + 1, settledMs: [...batch.settledMs, ...settledMs] }
}

/** Merges the results of several workers. */
export function together(batches: readonly Batch[]): Batch {
  const sum = emptyBatch()
  let seeds = 0
  for (const { seeds: count, kinds, figures, failed, hashes } of batches) {
    seeds += count
    for (const [kind, value] of Object.entries(kinds)) sum.kinds[kind as Kind] += value
    for (const [name, value] of Object.entries(figures)) sum.figures[name as Figure] += value
    sum.failed.push(...failed)
    sum.hashes.push(...hashes)
  }
  sum.failed.sort((one, other) => one.scenario.seed - other.scenario.seed)
  sum.hashes.sort(([one], [other]) => one - other)
  return { ...sum, seeds, settledMs: batches.flatMap(({ settledMs }) => settledMs) }
}

/** Returns one hash over the traces of all seeds. If two batches simulate the same seeds, their hashes are equal. */
export function digestOf({ hashes }: Batch): string {
  return createHash('sha256').update(JSON.stringify(hashes)).digest('hex').slice(0, 16)
}
