import type { ErrorCode } from '../base/errors.ts'
import { LAMPORTS_PER_SOL, wholeTokens } from '../base/units.ts'
import type { Position } from '../engine/accounting/position.ts'
import type { Fill, OrderState } from '../engine/order.ts'
import type { BotLog } from './bot-log.ts'

/** What a bot paid, lamports. */
export interface Fees {
  /** The venue's share, inside the prices of the fills. */
  venue: number
  /** The trading service's share, inside them too. */
  service: number
  /** What the market moved between decision and landing, and the impact of the orders themselves: against the robust
   *  price of the decision. */
  slippage: number
  /** Base and priority fees of what was filled, ... */
  network: number
  /** ... and of transactions that landed and failed. */
  failed: number
  /** Put into token accounts and not got back. */
  rent: number
}

/** What became of one bot. */
export class BotResult {
  readonly name: string
  orders = 0
  buys = 0
  sells = 0
  /** How often a pool would have been read. */
  polls = 0
  /** Requests that became no orders, by code. */
  readonly refused = new Map<string, number>()
  /** Orders that ended without a fill, by state and code. */
  readonly ended = new Map<string, number>()
  readonly fees: Fees = { venue: 0, service: 0, slippage: 0, network: 0, failed: 0, rent: 0 }
  /** Change of the wallet by all transactions, lamports. */
  walletLamports = 0
  /** Those that are not closed, by mint. */
  readonly positions = new Map<string, Position>()
  /** What its report needs; undefined where nobody wants one. */
  readonly log: BotLog | undefined
  /** Names of `ended` by state and code: one that is made for each order has to be hashed for each. */
  readonly #endings = new Map<OrderState, Map<ErrorCode | '', string>>()
  #closedLamports = 0

  constructor(name: string, log?: BotLog) {
    this.name = name
    this.log = log
  }

  /** Profit of what was sold, network fees and rent aside, lamports. */
  get realizedLamports(): number {
    let sum = this.#closedLamports
    for (const { realizedLamports } of this.positions.values()) sum += realizedLamports
    return sum
  }

  /** Base and priority fees and rent, lamports. */
  get feeLamports(): number {
    return this.fees.network + this.fees.failed + this.fees.rent
  }

  /** `price`: the robust one that it was decided on, SOL a token; null where there was none. */
  filled(fill: Fill, price: number | null): void {
    const { side, feeLamports, rentLamports, walletLamports, costs } = fill
    if (side === 'buy') this.buys++
    else this.sells++
    this.fees.venue += costs.venueFeeLamports
    this.fees.service += costs.serviceFeeLamports
    this.fees.network += feeLamports
    this.fees.rent += rentLamports
    this.walletLamports += walletLamports
    if (price !== null) this.fees.slippage += slippageOf(fill, price)
    this.log?.filled(fill)
  }

  /** A transaction that landed and moved nothing but its fee. */
  failed(orderId: string, feeLamports: number): void {
    this.log?.failed(orderId, feeLamports)
    this.fees.failed += feeLamports
    this.walletLamports -= feeLamports
  }

  /** An order ended without a fill. */
  end(state: OrderState, code: ErrorCode | ''): void {
    let names = this.#endings.get(state)
    if (names === undefined) {
      names = new Map()
      this.#endings.set(state, names)
    }
    const name = names.get(code) ?? `${state} ${code}`
    names.set(code, name)
    count(this.ended, name)
  }

  position(position: Position): void {
    this.log?.exits.set(position.mint, position.exits)
    if (position.state !== 'closed') {
      this.positions.set(position.mint, position)
      return
    }
    this.positions.delete(position.mint)
    this.#closedLamports += position.realizedLamports
  }
}

/** What the tokens cost more, or brought less, than at this price. */
function slippageOf({ side, tokens, decimals, costs }: Fill, price: number): number {
  const decided = price * wholeTokens(tokens, decimals) * LAMPORTS_PER_SOL
  return Math.round(side === 'buy' ? costs.tradeLamports - decided : decided - costs.tradeLamports)
}

/** Counts one more under a name. */
export function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

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
