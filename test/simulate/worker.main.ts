import { parentPort, workerData } from 'node:worker_threads'
import { simulateAll } from './batch.ts'
import type { Share } from './jobs.ts'

// Runs a share of the seeds.
const { first, end, stride } = workerData as Share
parentPort?.postMessage(await simulateAll(first, end, stride))
