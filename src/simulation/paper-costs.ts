import { type FillCosts, NO_COSTS } from '../core/fill-costs.ts'
import { BASE_FEE } from '../core/risk.ts'
import { type Lamports, lamports } from '../core/units.ts'
import type { FillModel } from './fill-model.ts'

/** What a paper trade cost, each part apart. The fees are inside what changed hands: a buyer's are taken off what he pays, the service's
 *  first; a seller's off what he would get, the venue's first. `networkLamports`: base and priority fee. */
export function paperCosts(
  side: 'buy' | 'sell',
  tradeLamports: Lamports,
  networkLamports: Lamports,
  rentLamports: Lamports,
  { venueFeePercent, serviceFeePercent }: FillModel,
): FillCosts {
  const [venue, service] = [venueFeePercent / 100, serviceFeePercent / 100]
  const isBuy = side === 'buy'
  const beforeService = isBuy ? tradeLamports : tradeLamports / (1 - service)
  const toVenue = isBuy ? beforeService * (1 - service) : beforeService
  const venueFee = Math.round((toVenue * venue) / (isBuy ? 1 + venue : 1 - venue))
  const serviceFee = Math.round(beforeService * service)
  const fees = venueFee + serviceFee
  const base = Math.min(BASE_FEE, networkLamports)
  return {
    ...NO_COSTS,
    tradeLamports: lamports(isBuy ? tradeLamports - fees : tradeLamports + fees),
    venueFeeLamports: lamports(venueFee),
    serviceFeeLamports: lamports(serviceFee),
    baseFeeLamports: lamports(base),
    priorityFeeLamports: lamports(networkLamports - base),
    rentPaidLamports: lamports(Math.max(0, rentLamports)),
    rentReturnedLamports: lamports(Math.max(0, -rentLamports)),
  }
}
