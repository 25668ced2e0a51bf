import type { ErrorCode } from '../base/errors.ts'
import { LAMPORTS_PER_SOL, type Millis, wholeTokens } from '../base/units.ts'
import { addFailed, addFill, type MoneyTotals, noTotals } from '../engine/accounting/money.ts'
import type { Position } from '../engine/accounting/position.ts'
import type { Fill, OrderState } from '../engine/order.ts'
import type { BotLog } from './bot-log.ts'

/** Costs of a bot, lamports. */
export interface Fees extends Omit<MoneyTotals, 'wallet'> {
  /** Loss from price moves between decision and landing, and from the impact of the orders. It is measured against the
   *  robust price at the decision. */
  readonly slippage: number
}

/** Result of one bot in a run. */
export class BotResult {
  readonly name: string
  orders = 0
  buys = 0
  /** Sum spent on buys, including the fees of the venue and the service. */
  boughtLamports = 0
  sells = 0
  /** Number of times that a live bot would have read a pool. */
  polls = 0
  /** Number of the strategy's requests that were refused, by code. */
  readonly refused = new Map<string, number>()
  /** Number of orders that ended without a fill, by state and code. */
  readonly ended = new Map<string, number>()
  /** Records for the report; undefined if no report will be written. */
  readonly log: BotLog | undefined
  readonly #totals = noTotals()
  #slippage = 0
  readonly #open = new Map<string, Position>()
  #realized = 0
  /** The keys of the counts in `ended`, by state and code. They are cached to avoid building and hashing a string for
   *  each order. */
  readonly #endings = new Map<OrderState, Map<ErrorCode | '', string>>()

  constructor(name: string, log?: BotLog) {
    this.name = name
    this.log = log
  }

  get fees(): Fees {
    const { venue, service, network, failed, rent } = this.#totals
    return { venue, service, slippage: this.#slippage, network, failed, rent }
  }

  /** Change of the wallet by all transactions, lamports. */
  get walletLamports(): number {
    return this.#totals.wallet
  }

  /** Positions that are not closed, by mint. */
  get positions(): ReadonlyMap<string, Position> {
    return this.#open
  }

  /** Realized profit at average cost, before network fees and rent, lamports. */
  get realizedLamports(): number {
    return this.#realized
  }

  /** Network fees and rent, lamports. */
  get feeLamports(): number {
    const { network, failed, rent } = this.#totals
    return network + failed + rent
  }

  /** Adds a fill. `price`: robust price at the decision, SOL per token; null if unknown. */
  filled(fill: Fill, price: number | null): void {
    if (fill.side === 'buy') {
      this.buys++
      this.boughtLamports += fill.tradeLamports
    } else this.sells++
    addFill(this.#totals, fill)
    if (price !== null) this.#slippage += slippageOf(fill, price)
    this.log?.filled(fill)
  }

  /** Subtracts a fill that a fork reversed. */
  reversed(fill: Fill): void {
    if (fill.side === 'buy') this.buys--
    else this.sells--
    addFill(this.#totals, fill, -1)
  }

  /** Adds a transaction that landed and failed, so that it cost only its fee. */
  failed(orderId: string, time: Millis, feeLamports: number): void {
    this.log?.failed(orderId, time, feeLamports)
    addFailed(this.#totals, feeLamports)
  }

  /** Counts an order that ended without a fill. */
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
    this.#realized += position.realizedLamports - (this.#open.get(position.mint)?.realizedLamports ?? 0)
    if (position.state === 'closed') this.#open.delete(position.mint)
    else this.#open.set(position.mint, position)
  }
}

/** Slippage of a fill against `price`, lamports: how much more a buy cost, or how much less a sale yielded. */
function slippageOf({ side, tokens, decimals, costs }: Fill, price: number): number {
  const decided = price * wholeTokens(tokens, decimals) * LAMPORTS_PER_SOL
  return Math.round(side === 'buy' ? costs.tradeLamports - decided : decided - costs.tradeLamports)
}

/** Adds 1 to a named count. */
export function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

/** One kind of cost, with its sum. */
export interface Cost {
  readonly name: keyof Fees
  readonly label: string
  readonly sol: number
  /** The cost in percent of the gross result; null if the gross result is not positive. */
  readonly percentOfGross: number | null
}

const LABELS: Readonly<Record<keyof Fees, string>> = {
  venue: "the venue's fee",
  service: "the service's fee",
  slippage: 'delay and impact',
  network: 'base and priority fees',
  failed: 'failed transactions',
  rent: 'rent not returned',
}

/** Costs of a bot's trades. Gross: the result if every order had filled at the robust price at its decision. Net: the
 *  real result. Gross minus all costs is net. */
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
