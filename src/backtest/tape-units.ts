import type { Config } from '../config/config.ts'
import type { Market } from '../journal/tape/market-tape.ts'
import { Mints } from '../market/mints.ts'
import { type UnitVerdict, UnitWitness } from '../runtime/unit-witness.ts'
import { venueOf } from '../venues/registry.ts'

/** Number of rows of a tape that suffice to find its unit. */
const ROWS = 200_000

/** Unit of a tape's amounts, and the first line of a report about it. */
export function tapeUnit(
  { service }: Pick<Config, 'service'>,
  market: Pick<Market, 'items'>,
): {
  readonly is: UnitVerdict['unit']
  readonly text: string
} {
  const verdict = tapeUnits(market)
  return { is: verdict.unit, text: unitText(verdict, venueOf(service).amountCurrency) }
}

/** Finds the unit of a tape's amounts from a witness that is independent of the tape's prices. Reads the beginning of
 *  the tape. */
function tapeUnits(market: Pick<Market, 'items'>): UnitVerdict {
  const witness = new UnitWitness()
  let rows = 0
  for (const item of market.items(new Mints())) {
    if (item.kind !== 'rows') continue
    witness.rows(item.block, item.from, item.to)
    rows += item.to - item.from
    if (witness.full || rows >= ROWS) break
  }
  return witness.verdict()
}

/** Returns the first line of a report about the unit. `declared`: the currency of amounts in the venue's
 *  documentation. */
function unitText({ unit, text }: UnitVerdict, declared: string): string {
  if (unit === 'sol') return `amounts are in SOL: ${text}`
  const by = declared === '' ? '' : ` (the document of the service says ${declared})`
  if (unit === 'assumed') return `amounts are ASSUMED to be in SOL${by}; no second witness agrees: ${text}`
  return `amounts are NOT in SOL, and every result below is wrong: ${text}`
}
