import { type Lamports, lamports, type Millis, type TokenAmount, ZERO } from '../../base/units.ts'
import type { Fill } from '../order.ts'
import type { Holder, Movement } from './movement.ts'

/** Tokens that were acquired at the same time and are still held, with their cost. */
export interface Lot {
  /** Time of the acquisition; null if it is unknown. */
  readonly acquiredAt: Millis | null
  /** Signature of the buy; '' for tokens without a known buy, such as adopted ones. */
  readonly signature: string
  readonly tokens: TokenAmount
  readonly decimals: number
  /** Price of the tokens, including the fees of venue and service. */
  readonly costLamports: Lamports
  /** Network fees of the buy: base fee, priority fee and tip. */
  readonly feeLamports: Lamports
}

/** Tokens of one lot that one sale sold: one line of a tax form. */
export interface Disposal extends Holder {
  readonly acquiredAt: Millis | null
  readonly soldAt: Millis
  readonly tokens: TokenAmount
  readonly decimals: number
  /** Proceeds of these tokens, after the fees of venue and service. */
  readonly proceedsLamports: Lamports
  /** Price paid for these tokens; 0 if unknown. */
  readonly costLamports: Lamports
  /** The part of the network fees of the buy and of the sale that falls on these tokens. */
  readonly feeLamports: Lamports
  /** Proceeds minus cost and fees. */
  readonly gainLamports: Lamports
  readonly boughtBy: string
  readonly soldBy: string
}

/** Lots of one wallet and mint. The lot that was bought first is sold first. */
export class LotQueue {
  readonly lots: Lot[] = []
  /** Base units in all lots. */
  tokens: TokenAmount = 0n

  add(movement: Extract<Movement, { kind: 'fill' | 'adopted' }>): void {
    const lot = lotOf(movement)
    this.lots.push(lot)
    this.tokens += lot.tokens
  }

  sell(sale: Fill): Disposal[] {
    const parts = this.#take(sale.tokens)
    const known = parts.reduce((sum, { tokens }) => sum + tokens, 0n)
    // More tokens were sold than are known to have been bought. The cost of the tokens beyond that number is unknown.
    if (known < sale.tokens || parts.length === 0) parts.push(unknownLot(sale, sale.tokens - known))
    let unsold = { tokens: sale.tokens, trade: sale.tradeLamports, fee: sale.feeLamports }
    return parts.map((part) => {
      const trade = shareOf(unsold.trade, part.tokens, unsold.tokens)
      const fee = shareOf(unsold.fee, part.tokens, unsold.tokens)
      unsold = {
        tokens: unsold.tokens - part.tokens,
        trade: lamports(unsold.trade - trade),
        fee: lamports(unsold.fee - fee),
      }
      return disposalOf(sale, part, trade, fee)
    })
  }

  /** Removes the oldest tokens until `left` remain. Returns the cost and fees of the removed tokens, lamports. */
  lose(left: TokenAmount): number {
    return this.#take(this.tokens - left).reduce((sum, part) => sum + part.costLamports + part.feeLamports, 0)
  }

  #take(wanted: TokenAmount): Lot[] {
    const parts: Lot[] = []
    let missing = wanted
    while (missing > 0n && this.lots.length > 0) {
      const part = takeFirst(this.lots, missing)
      missing -= part.tokens
      this.tokens -= part.tokens
      parts.push(part)
    }
    return parts
  }
}

function lotOf(movement: Extract<Movement, { kind: 'fill' | 'adopted' }>): Lot {
  if (movement.kind === 'adopted') {
    const { time: acquiredAt, tokens, decimals, costLamports } = movement
    return { acquiredAt, signature: '', tokens, decimals, costLamports, feeLamports: ZERO }
  }
  const { time: acquiredAt, signature, tokens, decimals, tradeLamports, feeLamports } = movement.fill
  return { acquiredAt, signature, tokens, decimals, costLamports: tradeLamports, feeLamports }
}

function unknownLot({ decimals }: Fill, tokens: TokenAmount): Lot {
  return { acquiredAt: null, signature: '', tokens, decimals, costLamports: ZERO, feeLamports: ZERO }
}

function disposalOf(sale: Fill, part: Lot, proceedsLamports: Lamports, saleFee: Lamports): Disposal {
  const { account, bot, mint, time: soldAt, decimals, signature: soldBy } = sale
  const { acquiredAt, tokens, costLamports, signature: boughtBy } = part
  const feeLamports = lamports(saleFee + part.feeLamports)
  return {
    ...{ account, bot, mint, acquiredAt, soldAt, tokens, decimals, proceedsLamports, costLamports, feeLamports },
    ...{ boughtBy, soldBy },
    gainLamports: lamports(proceedsLamports - costLamports - feeLamports),
  }
}

/** Takes at most `most` tokens from the first lot; the rest of that lot stays in the list. The costs of the two parts
 *  equal the cost of the lot exactly. */
function takeFirst(lots: Lot[], most: TokenAmount): Lot {
  const lot = lots[0] as Lot
  if (lot.tokens <= most) {
    lots.shift()
    return lot
  }
  const costLamports = shareOf(lot.costLamports, most, lot.tokens)
  const feeLamports = shareOf(lot.feeLamports, most, lot.tokens)
  lots[0] = {
    ...lot,
    tokens: lot.tokens - most,
    costLamports: lamports(lot.costLamports - costLamports),
    feeLamports: lamports(lot.feeLamports - feeLamports),
  }
  return { ...lot, tokens: most, costLamports, feeLamports }
}

/** Splits `amount` in proportion to tokens: returns amount * part / whole, rounded down; all of `amount` if `part`
 *  equals `whole`. */
function shareOf(amount: Lamports, part: TokenAmount, whole: TokenAmount): Lamports {
  return whole === 0n || part === whole ? amount : lamports(Number((BigInt(amount) * part) / whole))
}
