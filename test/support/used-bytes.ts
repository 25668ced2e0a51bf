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

/** How much more is in use for each further thing that came and went, bytes. `pass` lets so many come and go, numbered from `from` on;
 *  `first` passes fill whatever remembers the last of them, and `then` further ones are measured. */
export async function bytesLeftBehind(
  [first, then]: readonly [number, number],
  things: number,
  pass: (from: number, to: number) => void | Promise<void>,
): Promise<number> {
  let before = 0
  for (let number = 0; number < first + then; number++) {
    if (number === first) before = usedBytes()
    await pass(number * things, (number + 1) * things)
  }
  return (usedBytes() - before) / (then * things)
}
