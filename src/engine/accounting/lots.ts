import { type Lamports, lamports, type Millis, type TokenAmount, ZERO } from '../../base/units.ts'
import type { Fill } from '../order.ts'

/** What changed how much of a mint a wallet holds, and what that cost. */
export type Movement =
  | { readonly kind: 'fill'; readonly fill: Fill }
  /** Tokens that came from elsewhere, at what they were worth then. */
  | (Holder & {
      readonly kind: 'adopted'
      readonly time: Millis
      readonly tokens: TokenAmount
      readonly decimals: number
      readonly costLamports: Lamports
    })
  /** Somebody else moved tokens: so many are left. */
  | (Holder & { readonly kind: 'lost'; readonly time: Millis; readonly left: TokenAmount })

/** A (wallet, mint) belongs to one bot at a time, so its lots are those of both. */
export interface Holder {
  readonly account: string
  readonly bot: string
  readonly mint: string
}

/** Tokens that came at once and are still held, with what was paid for these. */
export interface Lot {
  /** null: nothing is known of how they came. */
  readonly acquiredAt: Millis | null
  /** Of the buy; '' for what was adopted. */
  readonly signature: string
  readonly tokens: TokenAmount
  readonly decimals: number
  /** For the tokens, the fees of venue and service inside. */
  readonly costLamports: Lamports
  /** To get the buy landed: base and priority fee, tip. */
  readonly feeLamports: Lamports
}

/** Tokens of one lot that were sold at once: a line of a tax form. */
export interface Disposal extends Holder {
  readonly acquiredAt: Millis | null
  readonly soldAt: Millis
  readonly tokens: TokenAmount
  readonly decimals: number
  /** What they were sold for, the fees of venue and service taken off. */
  readonly proceedsLamports: Lamports
  /** What they were bought for; 0 where that is not known. */
  readonly costLamports: Lamports
  /** Network fees of the sale and of the buy, the share of these tokens. */
  readonly feeLamports: Lamports
  /** Proceeds less cost and fees. */
  readonly gainLamports: Lamports
  readonly boughtBy: string
  readonly soldBy: string
}

/** What a holder made of a mint, and still holds. */
export interface Holding extends Holder {
  readonly lots: readonly Lot[]
  readonly disposals: readonly Disposal[]
  /** Cost and fees of tokens that somebody else took. */
  readonly lostLamports: Lamports
}

/** First in, first out, for each wallet and mint, from all that moved it: nothing is kept between two readings, so that
 *  what a fork took back never happened, and a late fill stands where it belongs. Any order of `movements` gives the
 *  same lots. */
export function holdingsOf(movements: readonly Movement[]): Holding[] {
  const holders = new Map<string, Movement[]>()
  for (const movement of movements) {
    const { account, mint } = movement.kind === 'fill' ? movement.fill : movement
    const key = `${account}|${mint}`
    const own = holders.get(key)
    if (own === undefined) holders.set(key, [movement])
    else own.push(movement)
  }
  return [...holders.values()].map(holdingOf)
}

interface Books {
  readonly lots: Lot[]
  readonly disposals: Disposal[]
  lost: number
}

function holdingOf(movements: readonly Movement[]): Holding {
  const books: Books = { lots: [], disposals: [], lost: 0 }
  const ordered = inOrder(movements)
  for (const movement of ordered) {
    if (movement.kind === 'fill' && movement.fill.side === 'sell') sell(books, movement.fill)
    else if (movement.kind === 'lost') lose(books, movement.left)
    else books.lots.push(lotOf(movement))
  }
  const last = ordered.at(-1) as Movement
  const { account, bot, mint } = last.kind === 'fill' ? last.fill : last
  return { account, bot, mint, lots: books.lots, disposals: books.disposals, lostLamports: lamports(books.lost) }
}

/** As the chain has it: by slot, and within one a buy before what could sell it. What has no slot comes between by its
 *  time. */
export function inOrder(movements: readonly Movement[]): Movement[] {
  const fills = movements.flatMap((one) => (one.kind === 'fill' ? [one] : []))
  fills.sort((a, b) => a.fill.slot - b.fill.slot || sideOf(a.fill) - sideOf(b.fill) || compare(a.fill, b.fill))
  const others = movements.flatMap((one) => (one.kind === 'fill' ? [] : [one])).sort((a, b) => a.time - b.time)
  const ordered: Movement[] = []
  for (const one of fills) {
    while (others[0] !== undefined && others[0].time < one.fill.time) ordered.push(others.shift() as Movement)
    ordered.push(one)
  }
  return [...ordered, ...others]
}

function sideOf({ side }: Fill): number {
  return side === 'buy' ? 0 : 1
}

function compare(a: Fill, b: Fill): number {
  return a.time - b.time || (a.signature < b.signature ? -1 : 1)
}

function lotOf(movement: Exclude<Movement, { kind: 'lost' }>): Lot {
  if (movement.kind === 'adopted') {
    const { time: acquiredAt, tokens, decimals, costLamports } = movement
    return { acquiredAt, signature: '', tokens, decimals, costLamports, feeLamports: ZERO }
  }
  const { time: acquiredAt, signature, tokens, decimals, tradeLamports, feeLamports } = movement.fill
  return { acquiredAt, signature, tokens, decimals, costLamports: tradeLamports, feeLamports }
}

function sell({ lots, disposals }: Books, sale: Fill): void {
  const parts: Lot[] = []
  let left = sale.tokens
  while (left > 0n && lots.length > 0) {
    const part = takeFirst(lots, left)
    left -= part.tokens
    parts.push(part)
  }
  // More than is known to have come: from elsewhere, for nothing as far as anybody knows.
  if (left > 0n || parts.length === 0) parts.push(unknownLot(sale, left))
  let unsold = { tokens: sale.tokens, trade: sale.tradeLamports, fee: sale.feeLamports }
  for (const part of parts) {
    const trade = shareOf(unsold.trade, part.tokens, unsold.tokens)
    const fee = shareOf(unsold.fee, part.tokens, unsold.tokens)
    unsold = {
      tokens: unsold.tokens - part.tokens,
      trade: lamports(unsold.trade - trade),
      fee: lamports(unsold.fee - fee),
    }
    disposals.push(disposalOf(sale, part, trade, fee))
  }
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

/** Of the oldest first. */
function lose(books: Books, left: TokenAmount): void {
  let gone = books.lots.reduce((sum, { tokens }) => sum + tokens, 0n) - left
  while (gone > 0n) {
    const part = takeFirst(books.lots, gone)
    gone -= part.tokens
    books.lost += part.costLamports + part.feeLamports
  }
}

/** At most so many tokens of the first lot; what is left of it stays the first. No lamport is lost between the two. */
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

/** Rounded down; all of it where `part` is the whole. */
function shareOf(amount: Lamports, part: TokenAmount, whole: TokenAmount): Lamports {
  return whole === 0n || part === whole ? amount : lamports(Number((BigInt(amount) * part) / whole))
}

/** Lamports; undefined where nobody knows. */
export type Worth = (mint: string, tokens: TokenAmount, decimals: number) => Lamports | undefined

/** What a bot has made of an account's money, lamports. */
export interface Profit {
  readonly account: string
  readonly bot: string
  /** Of what was sold, first in, first out: proceeds less cost, network fees of buy and sale in. */
  readonly realizedLamports: Lamports
  /** Of what is held: what selling it now would bring less cost and fees; null where a price is not known. */
  readonly unrealizedLamports: Lamports | null
  /** Cost of what is held, the fees of its buys in. */
  readonly heldLamports: Lamports
  /** Cost of tokens that somebody else took out of the wallet. */
  readonly lostLamports: Lamports
  readonly disposals: number
  readonly lots: number
}

export function profitsOf(holdings: readonly Holding[], value: Worth): Profit[] {
  const bots = new Map<string, Holding[]>()
  for (const holding of holdings) {
    const key = `${holding.account}\n${holding.bot}`
    bots.set(key, [...(bots.get(key) ?? []), holding])
  }
  return [...bots]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, own]) => {
      const [account = '', bot = ''] = key.split('\n')
      return { account, bot, ...profitOf(own, value) }
    })
}

function profitOf(holdings: readonly Holding[], value: Worth): Omit<Profit, 'account' | 'bot'> {
  const sum = (numbers: readonly number[]): Lamports => numbers.reduce((all, one) => all + one, 0) as Lamports
  const lots = holdings.flatMap((holding) => holding.lots)
  const disposals = holdings.flatMap((holding) => holding.disposals)
  const heldLamports = sum(lots.map(({ costLamports, feeLamports }) => costLamports + feeLamports))
  const worths = holdings
    .filter((holding) => holding.lots.length > 0)
    .map(({ mint, lots: own }) => {
      const tokens = own.reduce((all, lot) => all + lot.tokens, 0n)
      return value(mint, tokens, own[0]?.decimals ?? 0)
    })
  const isKnown = worths.every((worth) => worth !== undefined)
  return {
    realizedLamports: sum(disposals.map(({ gainLamports }) => gainLamports)),
    unrealizedLamports: isKnown ? sum([...worths.map((worth) => worth ?? 0), -heldLamports]) : null,
    heldLamports,
    lostLamports: sum(holdings.map((holding) => holding.lostLamports)),
    disposals: disposals.length,
    lots: lots.length,
  }
}
