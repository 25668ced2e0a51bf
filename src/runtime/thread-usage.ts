import { readFileSync, readlinkSync } from 'node:fs'

/** What the system knows of a thread: how long it has run, ms, and whether it sleeps by its own doing. */
export interface ThreadUsage {
  readonly cpuMs: number
  readonly sleeps: boolean
}

/** Linux counts in hundredths of a second, on every architecture that Node runs on. */
const MS_A_TICK = 10

/** The system's number of the calling thread; 0 where it has none to be known. */
export function threadId(): number {
  try {
    return Number(readlinkSync('/proc/thread-self').split('/').at(-1))
  } catch {
    return 0
  }
}

/** Of a thread of this process; undefined where the system does not say. */
export function threadUsage(id: number): ThreadUsage | undefined {
  if (id === 0) return undefined
  try {
    const stat = readFileSync(`/proc/self/task/${id}/stat`, 'latin1')
    const [state, ...numbers] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { cpuMs: (Number(numbers[10]) + Number(numbers[11])) * MS_A_TICK, sleeps: state === 'S' }
  } catch {
    return undefined
  }
}
