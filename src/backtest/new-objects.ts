import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/** Largest number of bots for which V8's space for new objects is enlarged. With 8 and 16 bots, a larger space has no
 *  effect. With 64 bots, a run takes 1.5 times as long, probably because the garbage of their handlers leaves no room
 *  in the processor's cache. */
const MOST_BOTS = 4
/** Size to which V8's space for new objects must grow. `bin/sluice.js` starts with a space of 1 MB. In this space, the
 *  columns of a block survive two collections while the block is read, and then only a collection of the whole heap
 *  frees them. */
const ENOUGH_BYTES = 8 * 2 ** 20
/** The space should have grown by the time the loop below has created this number of objects. Otherwise the loop gives
 *  up. */
const MOST_SURVIVORS = 8_000

/** Makes V8 grow its space for new objects once, if the backtest has few bots. V8 has no function for this: it grows
 *  the space when the objects that survived garbage collections amount to the size of the space. Therefore this
 *  function creates such objects. */
export function growSpaceOfNewObjects(bots: number): void {
  if (bots > MOST_BOTS) return
  setFlagsFromString('--semi-space-growth-factor=4')
  const survivors: number[][] = []
  while (sizeOfNewObjects() < ENOUGH_BYTES && survivors.length < MOST_SURVIVORS)
    for (let number = 0; number < 100; number++) survivors.push(new Array<number>(64).fill(0))
  setFlagsFromString('--semi-space-growth-factor=1')
}

function sizeOfNewObjects(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0
}
