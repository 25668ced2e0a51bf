import type { Config } from '../config/config.ts'
import { type Market, type MarketItem, withItems } from '../journal/tape/market-tape.ts'
import type { Mints } from '../market/mints.ts'
import { type UnitVerdict, UnitWitness } from '../runtime/unit-witness.ts'
import { termsOf } from '../venues/terms.ts'

/** Number of rows of a tape that suffice to find the unit of its amounts. */
const ROWS = 200_000

/** Finds the unit of the amounts on a tape from evidence that is independent of the prices on it. Uses the beginning of
 *  the tape. */
export class TapeUnit {
  readonly #witness = new UnitWitness()
  #rows = 0

  /** Adds an item of the tape. All items must be added, in order. */
  take(item: MarketItem): void {
    if (item.kind !== 'rows' || this.#rows >= ROWS || this.#witness.full) return
    this.#witness.rows(item.block, item.from, item.to)
    this.#rows += item.to - item.from
  }

  /** Returns the unit, and the first line of a report about it. */
  verdict({ service }: Pick<Config, 'service'>): { readonly is: UnitVerdict['unit']; readonly text: string } {
    const verdict = this.#witness.verdict()
    return { is: verdict.unit, text: unitText(verdict, termsOf(service).amountCurrency) }
  }
}

/** Wraps a market. When the wrapped market is read for the first time, `unit` receives its items too, so that finding
 *  the unit needs no extra pass. */
export function seenBy(unit: TapeUnit, market: Market): Market {
  let isFirst = true
  function* items(mints: Mints): Generator<MarketItem, void, undefined> {
    const isSeen = isFirst
    isFirst = false
    for (const item of market.items(mints)) {
      if (isSeen) unit.take(item)
      yield item
    }
  }
  return withItems(market, items)
}

/** Returns the first line of a report about the unit. `declared`: the currency of amounts in the venue's
 *  documentation. */
function unitText({ unit, text }: UnitVerdict, declared: string): string {
  if (unit === 'sol') return `amounts are in SOL: ${text}`
  const by = declared === '' ? '' : ` (the document of the service says ${declared})`
  if (unit === 'assumed') return `amounts are ASSUMED to be in SOL${by}; no second evidence confirms it: ${text}`
  return `amounts are NOT in SOL, and every result below is wrong: ${text}`
}
