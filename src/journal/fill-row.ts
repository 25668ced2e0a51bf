import type { FillCosts } from '../core/fill-costs.ts'
import type { Fill, TradeSide } from '../core/order.ts'
import { lamportsToSol, wholeTokens } from '../core/units.ts'

/** A fill as `sluice fills --json` prints it: amounts in SOL and whole tokens. */
export interface FillRow {
  readonly orderId: string
  readonly bot: string
  readonly mint: string
  readonly side: TradeSide
  /** That changed hands for the tokens, the fees of venue and service inside. */
  readonly sol: number
  readonly tokens: number
  /** Base and priority fee, and tips. */
  readonly feeSol: number
  readonly rentSol: number
  /** Change of the wallet: -(sol + feeSol + rentSol) for a buy, sol - feeSol - rentSol for a sale, less what was wrapped. */
  readonly walletSol: number
  /** The same, each apart. */
  readonly costs: CostsRow
  readonly signature: string
  readonly final: boolean
}

type SolNames = { [K in keyof FillCosts as K extends `${infer Name}Lamports` ? `${Name}Sol` : never]: number }

/** `FillCosts` in SOL; tokens as a text of base units. */
export interface CostsRow extends SolNames, Pick<FillCosts, 'unknown'> {
  readonly withheldTokens: string
}

export function fillRow(fill: Fill): FillRow {
  const { orderId, bot, mint, side, tokens, decimals, signature, final } = fill
  return {
    ...{ orderId, bot, mint, side, sol: lamportsToSol(fill.tradeLamports), tokens: wholeTokens(tokens, decimals) },
    ...{ feeSol: lamportsToSol(fill.feeLamports), rentSol: lamportsToSol(fill.rentLamports) },
    ...{ walletSol: lamportsToSol(fill.walletLamports), costs: costsRow(fill.costs), signature, final },
  }
}

function costsRow(costs: FillCosts): CostsRow {
  return {
    tradeSol: lamportsToSol(costs.tradeLamports),
    venueFeeSol: lamportsToSol(costs.venueFeeLamports),
    serviceFeeSol: lamportsToSol(costs.serviceFeeLamports),
    baseFeeSol: lamportsToSol(costs.baseFeeLamports),
    priorityFeeSol: lamportsToSol(costs.priorityFeeLamports),
    tipSol: lamportsToSol(costs.tipLamports),
    rentPaidSol: lamportsToSol(costs.rentPaidLamports),
    rentReturnedSol: lamportsToSol(costs.rentReturnedLamports),
    wrappedSol: lamportsToSol(costs.wrappedLamports),
    remainderSol: lamportsToSol(costs.remainderLamports),
    withheldTokens: String(costs.withheldTokens),
    unknown: costs.unknown,
  }
}
