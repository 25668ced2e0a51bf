import type { SellAmount } from '../core/asked-trade.ts'
import type { Size } from '../core/order.ts'
import type { TokenAmount } from '../core/units.ts'
import type { Breach } from './ranges.ts'
import { tokenDecimal } from './wire/requests.ts'

/** The document does not say whether a sale's number counts whole tokens or base units: wrong by 10^6 either way, so it is not sent
 *  before one of them is proved. */
export type SellUnit = 'tokens' | 'base' | 'unproved'

const HUNDREDTHS = 10_000n
/** Services count in floating point: one part in so many may be missing. */
const TOLERANCE = 1_000_000n

/** Whether so much was sold as was asked, base units; a unit that is wrong is off by powers of ten. */
export function isAsAsked(sold: TokenAmount, asked: TokenAmount): boolean {
  const off = sold > asked ? sold - asked : asked - sold
  return off <= 1n || off * TOLERANCE <= asked
}

/** How a sale says how much. Shares are rounded down to what a percentage can say; `holding`: base units in the wallet. */
export function sellAmountOf(
  size: Exclude<Size, { kind: 'sol' }>,
  unit: SellUnit,
  holding: TokenAmount | undefined,
): SellAmount | Breach {
  if (size.kind === 'all') return { kind: 'all' }
  if (size.kind === 'percent') return percent(Math.floor(size.percent * 100 + 1e-6))
  if (holding !== undefined && size.tokens >= holding) return { kind: 'all' }
  if (unit === 'base') return { kind: 'number', decimal: size.tokens.toString() }
  if (unit === 'tokens') return { kind: 'number', decimal: tokenDecimal(size.tokens, size.decimals) }
  if (holding === undefined)
    return { code: 'BALANCE_UNKNOWN', reason: 'what the wallet holds is not known, so no share of it can be named' }
  return percent(Number((size.tokens * HUNDREDTHS) / holding))
}

function percent(hundredths: number): SellAmount {
  return hundredths === 10_000 ? { kind: 'all' } : { kind: 'percent', percent: hundredths / 100 }
}
