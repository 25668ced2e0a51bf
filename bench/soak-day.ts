// Shortens the day for `soak.ts`, which loads this file first, in its threads too. Normally, a token is forgotten at
// the end of the day after its last trade, and unused token numbers are released once per 16,384 launches. Both take
// too long for a test. Here, a day lasts 144 seconds. The market of the soak runs at 100 times its speed, so it
// plays four hours in that time.
import { registerHooks } from 'node:module'

/** Length of a day, and the number of launches after which the feed releases unused mint numbers. */
const SHORTER = [
  { file: '/src/base/units.ts', was: /(DAY: Millis = )86_400_000$/m, is: '$1 144_000' },
  { file: '/src/venues/token-service/mint-index.ts', was: /(LEAST_NEW = )1 << 14$/m, is: '$1 2_730' },
]

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    const shorter = SHORTER.find(({ file }) => url.endsWith(file))
    if (shorter === undefined) return loaded
    const source = String(loaded.source)
    if (!shorter.was.test(source)) throw new Error(`${shorter.file} has changed: the soak cannot shorten its day`)
    return { ...loaded, source: source.replace(shorter.was, shorter.is) }
  },
})
