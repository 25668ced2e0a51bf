import { parseArgs } from 'node:util'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { type Batch, digestOf, simulateAll, together } from './batch.ts'

/** Replayed traces shown of a run with many that fail. */
const SHOWN = 5

interface Share {
  readonly first: number
  readonly end: number
  readonly stride: number
}

/** `npm run simulate -- --seeds 1000 [--seed FIRST] [--jobs N] [--json]`; `--seed S --verbose` shows all that happens in one. */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seeds: { type: 'string', default: '1' },
      seed: { type: 'string', default: '1' },
      jobs: { type: 'string', default: '1' },
      json: { type: 'boolean', default: false },
      verbose: { type: 'boolean', default: false },
    },
  })
  const first = Number(values.seed)
  const end = first + Number(values.seeds)
  const jobs = Number(values.jobs)
  const began = performance.now()
  const show = (line: string): void => console.log(line)
  const batch =
    jobs > 1 ? await shared(first, end, jobs) : await simulateAll(first, end, 1, values.verbose ? { show } : {})
  const msEach = (performance.now() - began) / batch.seeds
  if (batch.failed.length > 0) process.exitCode = 1
  const { seeds, kinds, figures, failed } = batch
  const summary = { seeds, failed: failed.length, ...kinds, ...figures, msEach: Number(msEach.toFixed(2)) }
  if (values.json) {
    const seedsFailed = failed.map(({ scenario }) => scenario.seed)
    console.log(JSON.stringify({ ...summary, hash: digestOf(batch), seedsFailed }))
    return
  }
  for (const { scenario, complaints, tail } of failed.slice(0, values.verbose ? 0 : SHOWN)) {
    console.log(`\nseed ${scenario.seed} (${scenario.kind}):\n${complaints.join('\n')}\n\n${tail.join('\n')}`)
    console.log(`\nagain, with all of it: npm run simulate -- --seed ${scenario.seed} --verbose`)
  }
  for (const { scenario, complaints } of failed) console.log(`seed ${scenario.seed}: ${complaints[0]}`)
  for (const [name, value] of Object.entries(summary)) console.log(`${name.padEnd(16)} ${value.toLocaleString('en')}`)
  console.log(`${'hash'.padEnd(16)} ${digestOf(batch)}`)
}

function shared(first: number, end: number, jobs: number): Promise<Batch> {
  const shares = Array.from({ length: jobs }, (_none, job): Share => ({ first: first + job, end, stride: jobs }))
  return Promise.all(
    shares.map((share) => {
      const { promise, resolve, reject } = Promise.withResolvers<Batch>()
      const worker = new Worker(new URL('./main.ts', import.meta.url), { workerData: share })
      worker.once('message', resolve)
      worker.once('error', reject)
      return promise
    }),
  ).then(together)
}

if (isMainThread) await main()
else {
  const { first, end, stride } = workerData as Share
  parentPort?.postMessage(await simulateAll(first, end, stride))
}
