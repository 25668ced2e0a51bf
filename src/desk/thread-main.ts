// Entry of the desk's thread.
import { getPriority, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { useJoinedLibraries } from '../config/joined-libraries.ts'
import type { DeskStart, FromDesk, ToDesk } from './messages.ts'
import type { ServedDesk } from './thread.ts'

function say(message: FromDesk): void {
  parentPort?.postMessage(message)
}

async function serve(): Promise<ServedDesk | undefined> {
  try {
    useJoinedLibraries()
    const { serveDesk } = await import('./thread.ts')
    return await serveDesk(workerData as DeskStart, say)
  } catch (error) {
    say({ kind: 'failed', reason: (error as Error).message })
    return undefined
  }
}

/**
 * The priority of this thread is lower by this number. If there are too few processors, the trading threads then run
 * first. Only Linux has a priority for each thread.
 */
const LOWER_PRIORITY = 5
if (process.platform === 'linux') setPriority(Math.min(19, getPriority() + LOWER_PRIORITY))

const served = serve()
parentPort?.on('message', (message: ToDesk) => {
  void served.then(async (desk) => {
    if (message.kind !== 'close') desk?.take(message)
    else {
      await desk?.close()
      parentPort?.close()
    }
  })
})
