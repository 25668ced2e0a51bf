import { Worker } from 'node:worker_threads'
import { type Batch, type Share, together } from './batch.ts'

/** Divides the seeds of a `Share` among several threads, which simulate them. */
export async function simulateOn(jobs: number, { first, stride, ...rest }: Share): Promise<Batch> {
  const shares = Array.from({ length: jobs }, (_none, job) => {
    return { ...rest, first: first + job * stride, stride: jobs * stride }
  })
  return together(await Promise.all(shares.map(onThread)))
}

function onThread(share: Share): Promise<Batch> {
  const { promise, resolve, reject } = Promise.withResolvers<Batch>()
  const worker = new Worker(new URL('./worker.main.ts', import.meta.url), { workerData: share })
  worker.once('message', resolve)
  worker.once('error', reject)
  return promise
}
