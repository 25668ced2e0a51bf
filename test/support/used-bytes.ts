import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** What is in use, garbage aside: objects, and what lies beside the heap, such as columns. */
export function usedBytes(): number {
  collect()
  collect() // what the first round has freed frees more
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

const PASSES = 7

/** How much more is in use for each further thing that came and went, bytes. `pass` lets so many come and go, numbered
 *  from `from` on; `first` passes fill whatever remembers the last of them. Then the least of three readings is held
 *  against the least of three later ones: what the machine compiles meanwhile comes and goes too. */
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
