// A thread that replays segments whose strategies ran in a thread of their own. When this thread ends, all timers that
// the strategies left running end.
import { parentPort, workerData } from 'node:worker_threads'
import { type Failed, failedOf } from '../../base/errors.ts'
import type { Finding } from '../../journal/proof/finding.ts'
import { hardenGlobals, takeConsole } from '../../runtime/harden.ts'
import { type Outcome, replaySegments } from './segments.ts'

export type FromReplayThread =
  | { readonly kind: 'outcome'; readonly outcome: Outcome }
  | { readonly kind: 'finding'; readonly finding: Finding }
  | { readonly kind: 'progress'; readonly rows: number; readonly of: number }
  | { readonly kind: 'done' }
  | Failed

function say(message: FromReplayThread): void {
  parentPort?.postMessage(message)
}

takeConsole(() => {})
hardenGlobals()
try {
  await replaySegments(workerData as string, {
    outcome: (outcome) => say({ kind: 'outcome', outcome }),
    finding: (finding) => say({ kind: 'finding', finding }),
    progress: (rows, of) => say({ kind: 'progress', rows, of }),
  })
  say({ kind: 'done' })
} catch (error) {
  say(failedOf(error))
}
