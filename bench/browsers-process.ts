// A process that simulates browsers: it connects them to a desk on request, and reports when each browser first
// read a change with each sequence number (seq) of the journal.
import { Browsers, type BrowsersParts } from '../test/support/desk-browsers.ts'
import { stampNow } from './frames.ts'

export type ToBrowsers = Pick<BrowsersParts, 'origin' | 'cookie' | 'reading' | 'stalled'> | 'leave' | 'close'
/** `seen`: for each browser, [seq, time on the clock of `stampNow`] of each event that it read. */
export type FromBrowsers =
  | { readonly kind: 'connected' | 'left' }
  | { readonly kind: 'closed'; readonly seen: readonly (readonly [number, number])[][] }

const seen: [number, number][][] = []
let browsers: Browsers | undefined

process.on('message', async (message: ToBrowsers) => {
  if (message === 'close') {
    browsers?.close()
    process.send?.({ kind: 'closed', seen } satisfies FromBrowsers, () => process.disconnect())
  } else if (message === 'leave') {
    browsers?.close()
    process.send?.({ kind: 'left' } satisfies FromBrowsers)
  } else {
    const first = seen.length
    for (let browser = 0; browser < message.reading; browser++) seen.push([])
    browsers = new Browsers({ ...message, saw: (browser, seq) => seen[first + browser]?.push([seq, stampNow()]) })
    await browsers.connect()
    process.send?.({ kind: 'connected' } satisfies FromBrowsers)
  }
})
