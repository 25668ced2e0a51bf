import { setFlagsFromString } from 'node:v8'

/** From now on space for new objects stays as small as it is. Left to itself V8 takes 70 MB for it, whatever lives. Call it before anything
 *  is loaded: what it once took it keeps. */
export function keepNewSpaceSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
}

/** And V8 collects sooner: the heap grows by half of what lives in it. For commands whose memory has to be small and whose speed nobody
 *  measures. */
export function keepHeapSmall(): void {
  keepNewSpaceSmall()
  setFlagsFromString('--heap-growing-percent=50')
}
