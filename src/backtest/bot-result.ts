import { keyOf } from '../core/book.ts'
import type { Fill } from '../core/order.ts'
import type { Position } from '../core/position.ts'

/** What a bot paid, lamports. */
export interface Fees {
  /** The venue's share, inside the prices of the fills. */
  venue: number
  /** The trading service's share, inside them too. */
  service: number
  /** Base and priority fees of what was filled, ... */
  network: number
  /** ... and of transactions that landed and failed. */
  failed: number
  /** Put into token accounts and not got back. */
  rent: number
}

/** What is taken of a trade, each way, percent. */
export interface TradeFees {
  readonly venueFeePercent: number
  readonly serviceFeePercent: number
}

/** What became of one bot. */
export class BotResult {
  readonly name: string
  orders = 0
  buys = 0
  sells = 0
  /** Requests that became no orders, by code. */
  readonly refused = new Map<string, number>()
  /** Orders that ended without a fill, by state and code. */
  readonly ended = new Map<string, number>()
  readonly fees: Fees = { venue: 0, service: 0, network: 0, failed: 0, rent: 0 }
  /** Change of the wallet by all transactions, lamports. */
  walletLamports = 0
  /** Those that are not closed. */
  readonly positions = new Map<string, Position>()
  readonly #tradeFees: TradeFees
  #closedLamports = 0

  constructor(name: string, tradeFees: TradeFees) {
    this.name = name
    this.#tradeFees = tradeFees
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

  filled({ side, tradeLamports, feeLamports, rentLamports, walletLamports }: Fill): void {
    if (side === 'buy') this.buys++
    else this.sells++
    const { venue, service } = tradeFeesIn(side, tradeLamports, this.#tradeFees)
    this.fees.venue += venue
    this.fees.service += service
    this.fees.network += feeLamports
    this.fees.rent += rentLamports
    this.walletLamports += walletLamports
  }

  /** A transaction that landed and moved nothing but its fee. */
  failed(feeLamports: number): void {
    this.fees.failed += feeLamports
    this.walletLamports -= feeLamports
  }

  position(position: Position): void {
    if (position.state !== 'closed') {
      this.positions.set(keyOf(position), position)
      return
    }
    this.positions.delete(keyOf(position))
    this.#closedLamports += position.realizedLamports
  }
}

/** The fees inside what changed hands, lamports. A buyer's are taken off what he pays, the service's first; a seller's off what he would get,
 *  the venue's first. */
function tradeFeesIn(
  side: Fill['side'],
  tradeLamports: number,
  { venueFeePercent, serviceFeePercent }: TradeFees,
): { readonly venue: number; readonly service: number } {
  const [venue, service] = [venueFeePercent / 100, serviceFeePercent / 100]
  const beforeService = side === 'buy' ? tradeLamports : tradeLamports / (1 - service)
  const toVenue = side === 'buy' ? beforeService * (1 - service) : beforeService
  return {
    venue: Math.round(side === 'buy' ? (toVenue * venue) / (1 + venue) : (toVenue * venue) / (1 - venue)),
    service: Math.round(beforeService * service),
  }
}

/** Counts one more under a name. */
export function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}
