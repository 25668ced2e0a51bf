import { type Lamports, type Millis, type TokenAmount, wholeTokens, ZERO } from '../../base/units.ts'
import type { Fill } from '../order.ts'
import { type Failed, type Holder, holderOf, inOrder, type Movement, type TokenMovement } from './movement.ts'
import { newTrip, type RoundTrip } from './round-trip.ts'
import { type Disposal, type Lot, LotQueue } from './tax-lots.ts'
import { ADOPTED, LOST } from './trip-sums.ts'

/** Results of one bot in one account. */
export interface BotMoney {
  readonly account: string
  readonly bot: string
  /** Sold tokens in the order of the sales. The lot that was bought first is sold first. */
  readonly disposals: Disposal[]
  /** Round trips (positions from the first buy to the last sale) in the order in which they began. */
  readonly trips: RoundTrip[]
  readonly totals: MoneyTotals
  /** Fees of failed transactions that belong to no trip, because no buy of their order was filled. */
  strayFeeLamports: number
  /** Cost and fees of tokens that left the wallet without an order of ours. */
  lostLamports: number
}

/** Lots of a wallet and mint. `bot` is the bot that bought, sold or adopted these tokens last. */
export interface Holding extends Holder {
  readonly lots: readonly Lot[]
}

interface Books {
  holder: Holder
  readonly queue: LotQueue
  /** The trip that began last; undefined before the first. */
  trip: RoundTrip | undefined
}

/** Block times are whole seconds, so a sale may seem to precede its buy by less than this time. */
const BLOCK_TIME_MS: Millis = 1_000

/** Computes lots, disposals, round trips and sums from movements of money. All displays and reports take these figures
 *  from here. The engine's own decisions use the average cost instead (`position.ts`); `money.test.ts` compares the
 *  results of both computations. */
export class MoneyFold {
  readonly #bots = new Map<string, BotMoney>()
  readonly #books = new Map<string, Books>()
  /** Trips of each bot in each mint, in the order in which they began. */
  readonly #tripsOf = new Map<string, RoundTrip[]>()
  /** The trip that a filled buy opened or added to, by the id of the buy's order. */
  readonly #tripOfOrder = new Map<string, RoundTrip>()
  /** Fees of failed attempts of buys that are not filled yet, by the id of the order. */
  readonly #strayOfOrder = new Map<string, number>()

  /** Applies a movement. The movements of one account and mint must come in order, see `inOrder`. */
  apply(movement: Movement): void {
    const holder = holderOf(movement)
    const money = this.bot(holder)
    if (movement.kind === 'failed') {
      this.#failed(money, movement)
      return
    }
    const books = this.#booksOf(holder)
    if (movement.kind === 'fill') addFill(money.totals, movement.fill)
    this.#follow(money, books, movement)
    if (movement.kind === 'lost') money.lostLamports += books.queue.lose(movement.left)
    else if (movement.kind === 'fill' && movement.fill.side === 'sell')
      for (const disposal of books.queue.sell(movement.fill)) money.disposals.push(disposal)
    else books.queue.add(movement as Extract<Movement, { kind: 'fill' | 'adopted' }>)
  }

  /** Returns the results of a bot, and creates empty ones if the bot has moved nothing yet. */
  bot({ account, bot }: Pick<Holder, 'account' | 'bot'>): BotMoney {
    const key = `${account}\n${bot}`
    let money = this.#bots.get(key)
    if (money === undefined) {
      money = {
        ...{ account, bot, disposals: [], trips: [], totals: noTotals() },
        ...{ strayFeeLamports: 0, lostLamports: 0 },
      }
      this.#bots.set(key, money)
    }
    return money
  }

  /** Results of each bot, sorted by account and bot. */
  get bots(): BotMoney[] {
    return [...this.#bots].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, money]) => money)
  }

  /** Holdings with at least one lot. */
  get holdings(): Holding[] {
    return [...this.#books.values()]
      .filter(({ queue }) => queue.lots.length > 0)
      .map(({ holder: { account, bot, mint }, queue }) => ({ account, bot, mint, lots: queue.lots }))
  }

  #booksOf(holder: Holder): Books {
    const key = `${holder.account}|${holder.mint}`
    let books = this.#books.get(key)
    if (books === undefined) {
      books = { holder, queue: new LotQueue(), trip: undefined }
      this.#books.set(key, books)
    }
    books.holder = holder
    return books
  }

  /** Adds a movement to the open round trip, or to a new one if none is open. Must run before the movement changes the
   *  lots. */
  #follow(money: BotMoney, books: Books, movement: TokenMovement): void {
    const { queue, holder } = books
    const { time, tokens, isBuy, reason, tag, lamports, feeLamports } = legOf(movement, queue.tokens)
    if (tokens <= 0n && movement.kind === 'lost') return
    if (queue.tokens === 0n || books.trip === undefined) {
      books.trip = newTrip(holder.mint, time, reason, tag)
      money.trips.push(books.trip)
      const known = this.#tripsOf.get(tripKey(holder))
      if (known === undefined) this.#tripsOf.set(tripKey(holder), [books.trip])
      else known.push(books.trip)
    }
    const { trip } = books
    trip.feeLamports += feeLamports
    if (isBuy && movement.kind === 'fill') this.#ordered(money, movement.fill, trip)
    if (isBuy) {
      trip.buys++
      trip.boughtLamports += lamports
      trip.boughtTokens += wholeTokens(tokens, decimalsOf(movement))
    } else {
      trip.sells++
      trip.soldLamports += lamports
      trip.exitReason = reason
      trip.exitTag = tag
    }
    const left = isBuy ? queue.tokens + tokens : queue.tokens - tokens
    // Block times are whole seconds, and a fill that is not final has the time of our clock. A sale may therefore seem
    // to precede its buy.
    if (left <= 0n) trip.closedAt = Math.max(trip.openedAt, time)
  }

  /** Adds the fees of the failed attempts of a filled buy to its round trip. */
  #ordered(money: BotMoney, { orderId }: Fill, trip: RoundTrip): void {
    this.#tripOfOrder.set(orderId, trip)
    const stray = this.#strayOfOrder.get(orderId)
    if (stray === undefined) return
    this.#strayOfOrder.delete(orderId)
    money.strayFeeLamports -= stray
    trip.feeLamports += stray
  }

  #failed(money: BotMoney, failed: Failed): void {
    const { orderId, side, feeLamports } = failed
    addFailed(money.totals, feeLamports)
    const trip = this.#tripOf(failed)
    if (trip !== undefined) {
      trip.feeLamports += feeLamports
      return
    }
    money.strayFeeLamports += feeLamports
    if (side === 'buy') this.#strayOfOrder.set(orderId, (this.#strayOfOrder.get(orderId) ?? 0) + feeLamports)
  }

  /** Returns the round trip that a failed transaction belongs to. If the order was filled as a buy, this is the trip
   *  that the fill opened or added to. For another buy, it is the trip that was open when the transaction failed. For a
   *  sale, it is the last trip that began before the failure, even if another sale has closed this trip since; if none
   *  began before, it is the first trip. */
  #tripOf({ orderId, side, time, ...holder }: Failed): RoundTrip | undefined {
    const own = this.#tripOfOrder.get(orderId)
    if (own !== undefined) return own
    const trips = this.#tripsOf.get(tripKey(holder)) ?? []
    if (side === 'sell') return trips.findLast(({ openedAt }) => openedAt < time + BLOCK_TIME_MS) ?? trips[0]
    return trips.findLast(({ openedAt, closedAt }) => openedAt <= time && (closedAt ?? Number.POSITIVE_INFINITY) > time)
  }
}

function tripKey({ account, bot, mint }: Holder): string {
  return `${account}\n${bot}\n${mint}`
}

interface Leg {
  readonly time: Millis
  readonly tokens: TokenAmount
  readonly isBuy: boolean
  readonly reason: string
  readonly tag: string
  readonly lamports: number
  readonly feeLamports: number
}

/** Returns a movement of tokens as one buy or sale of a round trip. Adopted tokens count as bought at their value, lost
 *  tokens as sold for nothing. */
function legOf(movement: TokenMovement, held: TokenAmount): Leg {
  if (movement.kind === 'fill') {
    const { time, tokens, side, tradeLamports, feeLamports, rentLamports } = movement.fill
    const about = { isBuy: side === 'buy', reason: movement.reason ?? '', tag: movement.fill.tag ?? '' }
    return { time, tokens, ...about, lamports: tradeLamports, feeLamports: feeLamports + rentLamports }
  }
  const { time } = movement
  if (movement.kind === 'lost')
    return { time, tokens: held - movement.left, isBuy: false, reason: LOST, tag: '', lamports: 0, feeLamports: 0 }
  const { tokens, costLamports } = movement
  return { time, tokens, isBuy: true, reason: ADOPTED, tag: '', lamports: costLamports, feeLamports: 0 }
}

function decimalsOf(movement: Movement): number {
  if (movement.kind === 'fill') return movement.fill.decimals
  return movement.kind === 'adopted' ? movement.decimals : 0
}

/** Computes the money of recorded movements. Any order of `movements` gives the same result, because late fills are
 *  placed where they belong. The caller leaves out fills that a fork removed. */
export function foldMovements(movements: readonly Movement[]): MoneyFold {
  const fold = new MoneyFold()
  const keyOf = (movement: Movement): string => `${holderOf(movement).account}|${holderOf(movement).mint}`
  for (const own of Map.groupBy(movements, keyOf).values()) for (const one of inOrder(own)) fold.apply(one)
  for (const { trips } of fold.bots) trips.sort((one, other) => one.openedAt - other.openedAt)
  return fold
}

/** Tokens that an account holds. */
export interface Held {
  readonly account: string
  readonly mint: string
  readonly tokens: TokenAmount
  readonly decimals: number
}

/** Returns the liquidation value of tokens in lamports; undefined if no price is known. */
export type Worth = (held: Held) => Lamports | undefined

/** Profit of a bot in one account, lamports. */
export interface Profit {
  readonly account: string
  readonly bot: string
  /** Sum of the gains of the bot's sales, after network fees of buy and sale. The lot that was bought first is sold
   *  first. */
  readonly realizedLamports: Lamports
  /** Liquidation value of the positions minus their cost and fees; null if a price is unknown. */
  readonly unrealizedLamports: Lamports | null
  /** Cost of the positions, including the fees of their buys. */
  readonly heldLamports: Lamports
  /** Cost of tokens that left the wallet without an order of ours. */
  readonly lostLamports: Lamports
  readonly disposals: number
  readonly lots: number
}

export function profitsOf(fold: MoneyFold, value: Worth): Profit[] {
  const { holdings } = fold
  return fold.bots.map((money) =>
    profitOf(
      money,
      holdings.filter(({ account, bot }) => account === money.account && bot === money.bot),
      value,
    ),
  )
}

function profitOf({ account, bot, disposals, lostLamports }: BotMoney, holdings: readonly Holding[], value: Worth) {
  const sum = (numbers: readonly number[]): Lamports => numbers.reduce((all, one) => all + one, 0) as Lamports
  const lots = holdings.flatMap((holding) => holding.lots)
  const heldLamports = sum(lots.map(({ costLamports, feeLamports }) => costLamports + feeLamports))
  const worths = holdings.map(({ mint, lots: own }) => {
    const tokens = own.reduce((all, lot) => all + lot.tokens, 0n)
    return value({ account, mint, tokens, decimals: own[0]?.decimals ?? 0 })
  })
  const isKnown = worths.every((worth) => worth !== undefined)
  return {
    ...{ account, bot },
    realizedLamports: sum(disposals.map(({ gainLamports }) => gainLamports)),
    unrealizedLamports: isKnown ? sum([...worths.map((worth) => worth ?? ZERO), -heldLamports]) : null,
    heldLamports,
    lostLamports: lostLamports as Lamports,
    disposals: disposals.length,
    lots: lots.length,
  }
}

/** Sums over fills and failed transactions, lamports. */
export interface MoneyTotals {
  /** Fees of the venue. The prices of the fills include them. */
  venue: number
  /** Fees of the trading service. The prices of the fills include them. */
  service: number
  /** Base fees, priority fees and tips of fills. */
  network: number
  /** Fees of transactions that landed and failed. */
  failed: number
  /** Rent paid minus rent returned. */
  rent: number
  /** Sum of the changes of the wallet's balance. */
  wallet: number
}

export function noTotals(): MoneyTotals {
  return { venue: 0, service: 0, network: 0, failed: 0, rent: 0, wallet: 0 }
}

export function addFill(totals: MoneyTotals, fill: Fill, times: 1 | -1 = 1): void {
  const { feeLamports, rentLamports, walletLamports, costs } = fill
  totals.venue += times * costs.venueFeeLamports
  totals.service += times * costs.serviceFeeLamports
  totals.network += times * feeLamports
  totals.rent += times * rentLamports
  totals.wallet += times * walletLamports
}

export function addFailed(totals: MoneyTotals, feeLamports: number): void {
  totals.failed += feeLamports
  totals.wallet -= feeLamports
}
