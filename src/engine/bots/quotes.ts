import { lamportsToSol, ZERO } from '../../base/units.ts'
import { BASE_FEE, TOKEN_ACCOUNT_RENT } from '../../solana/constants.ts'
import { reservesAt, solFor, tokensFor, VENUE_FEE } from '../../solana/pool-depth.ts'
import type { QuoteFees } from '../settings.ts'
import type { Quote } from '../strategy.ts'

/** Fees that quotes include if the journal records none, as in older journals. */
const OLD_FEES: QuoteFees = {
  venuePercent: VENUE_FEE * 100,
  servicePercent: 0,
  baseLamports: BASE_FEE,
  buyPriorityLamports: ZERO,
  sellPriorityLamports: ZERO,
  rentLamports: TOKEN_ACCOUNT_RENT,
}

/** Estimates a buy of `sol` at `price` (SOL a token), including its own price impact. The service takes its fee from
 *  the payment, and the venue then takes its fee from the remaining payment. Returns undefined without a price, or if
 *  `sol` is not positive and finite. */
export function quoteBuy(sol: number, price: number | undefined, fees: QuoteFees = OLD_FEES): Quote | undefined {
  if (price === undefined || !isAmount(sol)) return undefined
  const venue = fees.venuePercent / 100
  const serviceFee = sol * (fees.servicePercent / 100)
  const toVenue = sol - serviceFee
  const tokens = tokensFor(toVenue, reservesAt(price), venue)
  const venueFee = toVenue - toVenue / (1 + venue)
  const impactPercent = ((toVenue - venueFee) / tokens / price - 1) * 100
  const network = lamportsToSol(fees.baseLamports + fees.rentLamports + fees.buyPriorityLamports)
  return { sol, tokens, impactPercent, feesSol: venueFee + network + serviceFee, confidence: 'estimate' }
}

/** Estimates a sale of `tokens` whole tokens at `price` (SOL a token). The venue takes its fee from the proceeds, and
 *  the service then takes its fee from the remaining proceeds. Returns undefined without a price, or if `tokens` is not
 *  positive and finite. */
export function quoteSell(tokens: number, price: number | undefined, fees: QuoteFees = OLD_FEES): Quote | undefined {
  if (price === undefined || !isAmount(tokens)) return undefined
  const venue = fees.venuePercent / 100
  const fromVenue = solFor(tokens, reservesAt(price), venue)
  const sol = fromVenue * (1 - fees.servicePercent / 100)
  const gross = fromVenue / (1 - venue)
  const impactPercent = (1 - gross / tokens / price) * 100
  const network = lamportsToSol(fees.baseLamports + fees.sellPriorityLamports)
  return { sol, tokens, impactPercent, feesSol: gross - sol + network, confidence: 'estimate' }
}

function isAmount(value: number): boolean {
  return value > 0 && value < Number.POSITIVE_INFINITY
}
