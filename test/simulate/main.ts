import { parseArgs } from 'node:util'
import { digestOf, simulateAll } from './batch.ts'
import { simulateOn } from './jobs.ts'
import { GOOD_TIMES, type Kind, type Times } from './scenario.ts'

/** The number of failed seeds whose traces are printed. */
const SHOWN = 5

/** Values of `--times`. Each replaces the block times and clocks of all scenarios, to measure their effect. */
const TIMES: Readonly<Record<string, Times>> = {
  good: GOOD_TIMES,
  newest: { ...GOOD_TIMES, untold: 60, hasClock: false },
  never: { ...GOOD_TIMES, untold: Number.POSITIVE_INFINITY, hasClock: false },
  old: { ...GOOD_TIMES, oldMs: 15_000 },
  ahead: { ...GOOD_TIMES, aheadMs: 30_000 },
  behind: { ...GOOD_TIMES, aheadMs: -30_000 },
}

/** `npm run simulate -- --seeds 1000 [--seed FIRST] [--kind honest|service|rpc] [--executor local] [--times
 *  good|newest|never|old|ahead|behind] [--jobs N] [--json]`; `--seed S --verbose` prints the whole trace of seed S. */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seeds: { type: 'string', default: '1' },
      seed: { type: 'string', default: '1' },
      kind: { type: 'string' },
      executor: { type: 'string', default: 'cloud' },
      times: { type: 'string' },
      jobs: { type: 'string', default: '1' },
      json: { type: 'boolean', default: false },
      verbose: { type: 'boolean', default: false },
    },
  })
  const first = Number(values.seed)
  const share = {
    first,
    end: first + Number(values.seeds),
    stride: 1,
    kind: values.kind as Kind | undefined,
    executor: values.executor as 'cloud' | 'local',
    times: values.times === undefined ? undefined : TIMES[values.times],
  }
  const jobs = Number(values.jobs)
  const began = performance.now()
  const show = (line: string): void => console.log(line)
  const batch = jobs > 1 ? await simulateOn(jobs, share) : await simulateAll(share, values.verbose ? { show } : {})
  const msEach = (performance.now() - began) / batch.seeds
  if (batch.failed.length > 0) process.exitCode = 1
  const { seeds, kinds, figures, failed, settledMs } = batch
  const summary = { seeds, failed: failed.length, ...kinds, ...figures, msEach: Number(msEach.toFixed(2)) }
  if (values.json) {
    const seedsFailed = failed.map(({ scenario }) => scenario.seed)
    console.log(JSON.stringify({ ...summary, hash: digestOf(batch), seedsFailed }))
    return
  }
  for (const { scenario, complaints, tail } of failed.slice(0, values.verbose ? 0 : SHOWN)) {
    console.log(`\nseed ${scenario.seed} (${scenario.kind}):\n${complaints.join('\n')}\n\n${tail.join('\n')}`)
    console.log(
      `\nfor the whole trace: npm run simulate -- --seed ${scenario.seed}${values.executor === 'local' ? ' --executor local' : ''} --verbose`,
    )
  }
  for (const { scenario, complaints } of failed) console.log(`seed ${scenario.seed}: ${complaints[0]}`)
  for (const [name, value] of Object.entries(summary)) console.log(`${name.padEnd(16)} ${value.toLocaleString('en')}`)
  console.log(`${'absent after s'.padEnd(16)} ${percentiles(settledMs)}`)
  console.log(`${'hash'.padEnd(16)} ${digestOf(batch)}`)
}

/** Formats the percentiles of `settledMs`: for each lost request, the time from its end to the proof that it did not
 *  execute. */
function percentiles(settledMs: readonly number[]): string {
  const sorted = settledMs.toSorted((one, other) => one - other)
  const at = (share: number): string => ((sorted[Math.floor(share * (sorted.length - 1))] ?? 0) / 1_000).toFixed(1)
  return `${sorted.length} requests: p10 ${at(0.1)}, p50 ${at(0.5)}, p90 ${at(0.9)}, most ${at(1)}`
}

await main()
