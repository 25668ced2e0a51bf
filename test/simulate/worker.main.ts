import { parentPort, workerData } from 'node:worker_threads'
import { type Share, simulateAll } from './batch.ts'

// Simulates the seeds that the parent thread assigned to this worker.
parentPort?.postMessage(await simulateAll(workerData as Share))
