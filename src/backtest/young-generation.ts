import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/** Largest number of bots for which the young generation grows. With 8 and 16 bots, a larger one has no effect. With 64
 *  bots, a run takes 1.5 times as long, probably because the garbage of their handlers leaves no room in the
 *  processor's cache. */
const MOST_BOTS = 4
/** Size of V8's young generation (its space for new objects) after the growth. In the 1 MB that `bin/sluice.js` keeps,
 *  the columns of a block survive two collections while the block is read, and then only a collection of the whole heap
 *  frees them. */
const ENOUGH_BYTES = 8 * 2 ** 20
/** Highest number of objects that the loop below creates, in case the young generation does not grow. */
const MOST_SURVIVORS = 8_000

/** Makes V8 grow its young generation once, if the backtest has few bots. V8 has no function for this: the young
 *  generation grows when as many bytes have survived collections as it holds. */
export function growYoungGeneration(bots: number): void {
  if (bots > MOST_BOTS) return
  setFlagsFromString('--semi-space-growth-factor=4')
  const survivors: number[][] = []
  while (youngBytes() < ENOUGH_BYTES && survivors.length < MOST_SURVIVORS)
    for (let number = 0; number < 100; number++) survivors.push(new Array<number>(64).fill(0))
  setFlagsFromString('--semi-space-growth-factor=1')
}

function youngBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0
}
