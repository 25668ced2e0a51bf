import { parentPort, workerData } from 'node:worker_threads'
import { type Share, simulateAll } from './batch.ts'

// Runs a share of the seeds.
parentPort?.postMessage(await simulateAll(workerData as Share))
