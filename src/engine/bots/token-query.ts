import { describe } from '../exits/exit-rules.ts'
import type { TokenQuery } from '../strategy.ts'
import type { TokenView } from './views.ts'

const DEFAULT_LIMIT = 100
const MOST_TOKENS = 1_000

type Checked = Pick<TokenQuery, 'where' | 'by'> & { readonly limit: number }

/** Reads the options of `bot.tokens`. Throws TypeError or RangeError for invalid values. */
export function readTokenQuery({ where, by, limit = DEFAULT_LIMIT }: TokenQuery): Checked {
  for (const [name, given] of Object.entries({ where, by }))
    if (given !== undefined && typeof given !== 'function')
      throw new TypeError(`bot.tokens: ${name} must be a function`)
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST_TOKENS)
    throw new RangeError(`bot.tokens: limit must be a whole number from 1 to ${MOST_TOKENS}, got ${describe(limit)}`)
  return { ...(where && { where }), ...(by && { by }), limit }
}

/** Selects tokens. `views`: in the order in which the bot first saw them. */
export function selectTokens(views: Iterable<TokenView>, { where, by, limit }: Checked): TokenView[] {
  // The list is copied, because the strategy's functions may create further views during the loop.
  const newestFirst = [...views].reverse()
  const found = where === undefined ? newestFirst : newestFirst.filter((view) => where(view) === true)
  return by === undefined ? found.slice(0, limit) : largest(found, by, limit)
}

/** Returns the views with the largest values, largest first. Views of the same value keep the order of `views`. Sorting
 *  all views would take ten times as long. */
function largest(views: readonly TokenView[], by: NonNullable<TokenQuery['by']>, limit: number): TokenView[] {
  const best: { readonly view: TokenView; readonly value: number }[] = []
  for (const view of views) {
    const value = sortValue(by(view))
    if (best.length === limit && value <= (best[limit - 1]?.value ?? 0)) continue
    if (best.length === limit) best.pop()
    let [from, to] = [0, best.length]
    while (from < to) {
      const middle = (from + to) >> 1
      if ((best[middle]?.value ?? 0) >= value) from = middle + 1
      else to = middle
    }
    best.splice(from, 0, { view, value })
  }
  return best.map(({ view }) => view)
}

function sortValue(value: unknown): number {
  return typeof value === 'number' && !Number.isNaN(value) ? value : Number.NEGATIVE_INFINITY
}
