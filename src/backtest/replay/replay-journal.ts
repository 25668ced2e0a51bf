import { Worker } from 'node:worker_threads'
import { errorOf } from '../../base/errors.ts'
import { openReader } from '../../journal/reader/reader.ts'
import { type ReplayReport, readableSegments, replaySegments } from './segments.ts'
import type { FromReplayThread } from './segments-thread.ts'

/** Replays every segment (start of a process) of a journal, and proves the rows of its tables. If the strategies ran in
 *  a thread of their own, the replay runs them in a thread too: when that thread ends, all timers that the strategies
 *  left running end. */
export async function replayJournal(journal: string, report: ReplayReport): Promise<void> {
  if (!isIsolated(journal)) return replaySegments(journal, report)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const thread = new Worker(new URL('./segments-thread.ts', import.meta.url), { workerData: journal })
  thread.on('error', reject)
  thread.on('exit', () => reject(new Error('the replay thread exited before the replay was complete')))
  thread.on('message', (message: FromReplayThread) => {
    if (message.kind === 'outcome') report.outcome(message.outcome)
    else if (message.kind === 'finding') report.finding(message.finding)
    else if (message.kind === 'progress') report.progress?.(message.rows, message.of)
    else if (message.kind === 'done') resolve()
    else reject(errorOf(message))
  })
  try {
    await promise
  } finally {
    await thread.terminate()
  }
}

function isIsolated(journal: string): boolean {
  const reader = openReader(journal)
  try {
    return readableSegments(reader).some(({ start }) => start.isolated === true)
  } finally {
    reader.close()
  }
}
