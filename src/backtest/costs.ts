import type { Fees } from './bot-result.ts'

/** One kind of cost. */
export interface Cost {
  readonly name: keyof Fees
  readonly label: string
  readonly sol: number
  /** Of what the decisions would have made without any cost; null where they would have made nothing. */
  readonly percentOfGross: number | null
}

const LABELS: Readonly<Record<keyof Fees, string>> = {
  venue: "the venue's fee",
  service: "the service's fee",
  slippage: 'delay and impact',
  network: 'base and priority fees',
  failed: 'failed transactions',
  rent: 'rent not got back',
}

/** What stood between the prices that were decided on and the result. Gross less all costs is net. */
export interface CostTable {
  readonly grossSol: number
  readonly netSol: number
  readonly costs: readonly Cost[]
}

export function costsOf(netLamports: number, fees: Fees): CostTable {
  const names = Object.keys(LABELS) as (keyof Fees)[]
  const gross = netLamports + names.reduce((sum, name) => sum + fees[name], 0)
  return {
    grossSol: gross / 1e9,
    netSol: netLamports / 1e9,
    costs: names.map((name) => ({
      name,
      label: LABELS[name],
      sol: fees[name] / 1e9,
      percentOfGross: gross > 0 ? (fees[name] / gross) * 100 : null,
    })),
  }
}
