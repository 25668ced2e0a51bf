import { Worker } from 'node:worker_threads'
import { type Batch, together } from './batch.ts'

/** Every `stride`-th seed from `first` on, below `end`. */
export interface Share {
  readonly first: number
  readonly end: number
  readonly stride: number
}

/** The seeds from `first` on, below `end`, on so many threads. */
export async function simulateOn(jobs: number, first: number, end: number): Promise<Batch> {
  const shares = Array.from({ length: jobs }, (_none, job): Share => ({ first: first + job, end, stride: jobs }))
  return together(await Promise.all(shares.map(onThread)))
}

function onThread(share: Share): Promise<Batch> {
  const { promise, resolve, reject } = Promise.withResolvers<Batch>()
  const worker = new Worker(new URL('./worker.main.ts', import.meta.url), { workerData: share })
  worker.once('message', resolve)
  worker.once('error', reject)
  return promise
}
