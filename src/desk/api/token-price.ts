import type { Millis } from '../../base/units.ts'
import type { MarketGap } from '../../journal/reader/pages.ts'
import type { BarWidth } from '../../market/bar-width.ts'
import { Bars } from '../../market/bars.ts'
import { FeedGaps } from '../../market/feed-gaps.ts'
import { isSized, ROBUST_WINDOW, robustPrice } from '../../market/price.ts'
import type { PrintColumns } from './token-prints.ts'
import type { TokenBar } from './types.ts'

/** Index of the token in `Bars`. `Bars` can compute the bars of many tokens, but here there is only one token. */
const TOKEN = 0

/** Returns the robust price after each print, as the engine computes it. The value is 0 if the print is too small to
 *  count, or if there are too few prints for a robust price. After a gap of the feed, earlier prints do not count. */
export function robustPrices({ times, prices, sol }: PrintColumns, gaps: readonly MarketGap[]): Float64Array {
  const priced = new Float64Array(times.length)
  const ring = new Float64Array(ROBUST_WINDOW)
  const ends = gaps.flatMap(({ cause, to }) => (cause === 'feed' ? [to] : []))
  let [count, gap] = [0, 0]
  for (let print = 0; print < times.length; print++) {
    for (; gap < ends.length && (ends[gap] as Millis) <= (times[print] as Millis); gap++) count = 0
    const price = prices[print] as number
    if (!isSized(sol[print] as number, price)) continue
    ring[count % ROBUST_WINDOW] = price
    count++
    priced[print] = robustPrice(ring, Math.min(count, ROBUST_WINDOW)) ?? 0
  }
  return priced
}

/** Closed bars of a token that end after `from`, oldest first. */
export function barsOf(
  width: BarWidth,
  { times, prices, sol, sells }: PrintColumns,
  priced: Float64Array,
  { from, to }: { readonly from: Millis; readonly to: Millis },
): TokenBar[] {
  const prints = { kind: sells, amount: sol, time: times }
  const bars = new Bars(width, new FeedGaps())
  bars.keep = Number.MAX_SAFE_INTEGER
  const closed: TokenBar[] = []
  const add = (): void => {
    const { closeTime, open, high, low, close, volumeSol } = bars.newest(TOKEN)
    if (closeTime > from) closed.push({ t: closeTime, o: open, h: high, l: low, c: close, v: volumeSol })
  }
  const advance = (now: Millis): void => {
    while (bars.hasPrints && bars.closesAt <= now) if (bars.endInterval(bars.closesAt).length > 0) add()
    if (bars.closesAt <= now) bars.endInterval(now)
  }
  for (let print = 0; print < times.length; print++) {
    const now = times[print] as Millis
    advance(now)
    if (!isSized(sol[print] as number, prices[print] as number)) continue
    const isComplete = bars.print(prints, print, TOKEN, { numberAt: () => priced[print] as number })
    if (isComplete && bars.close(TOKEN)) add()
  }
  advance(to)
  return closed
}
