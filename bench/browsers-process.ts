// A process of browsers: connects them to a desk, and tells when the first change of each seq was read.
import { Browsers, type BrowsersParts } from '../test/support/desk-browsers.ts'
import { stampNow } from './frames.ts'

export type ToBrowsers = Pick<BrowsersParts, 'origin' | 'cookie' | 'reading' | 'stalled'> | 'close'
/** `seen`: [seq, stamp] of each event that a browser read. */
export type FromBrowsers =
  | { readonly kind: 'connected' }
  | { readonly kind: 'closed'; readonly seen: readonly (readonly [number, number])[][] }

const seen: [number, number][][] = []
let browsers: Browsers | undefined

process.on('message', async (message: ToBrowsers) => {
  if (message === 'close') {
    browsers?.close()
    process.send?.({ kind: 'closed', seen } satisfies FromBrowsers, () => process.disconnect())
    return
  }
  for (let browser = 0; browser < message.reading; browser++) seen.push([])
  browsers = new Browsers({ ...message, saw: (browser, seq) => seen[browser]?.push([seq, stampNow()]) })
  await browsers.connect()
  process.send?.({ kind: 'connected' } satisfies FromBrowsers)
})
