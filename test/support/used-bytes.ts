import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Returns the memory in use after garbage collection: the heap, and memory outside of it, such as columns. */
export function usedBytes(): number {
  collect()
  collect() // the first round makes more memory collectable
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

const PASSES = 7

/**
 * Returns the memory that each thing leaves in use after it was added and removed, bytes. `pass` adds and removes the
 * things with the numbers from `from` to `to`. The first `first` passes are not measured, because they fill caches. The
 * memory of compiled code varies, so the lowest of the last three measurements is compared with the lowest of the first
 * three.
 */
export async function bytesLeftBehind(
  first: number,
  things: number,
  pass: (from: number, to: number) => void | Promise<void>,
): Promise<number> {
  const readings: number[] = []
  for (let number = 0; number < first + PASSES; number++) {
    await pass(number * things, (number + 1) * things)
    if (number >= first) readings.push(usedBytes())
  }
  return (Math.min(...readings.slice(-3)) - Math.min(...readings.slice(0, 3))) / ((PASSES - 3) * things)
}
