import { TOKEN_SUPPLY } from '../../solana/constants.ts'
import type { Draws } from '../draws.ts'
import type { Listing, MarketFloor } from './listing.ts'
import { drawBuySol, drawCreatorSol, drawSellSol } from './trade-sizes.ts'

/** Kinds of tokens in the proportions measured on pump.fun in June 2026, but with more active tokens, because a bot
 *  must see trades within a second. */
const KINDS = {
  dud: { share: 0.66, tradesPerSecond: 0.12, halfLifeMs: 40_000, episodeMs: Number.POSITIVE_INFINITY, buyShare: 0.55 },
  ordinary: { share: 0.26, tradesPerSecond: 0.7, halfLifeMs: 90_000, episodeMs: 30_000, buyShare: 0.55 },
  hot: { share: 0.07, tradesPerSecond: 1.6, halfLifeMs: 300_000, episodeMs: 20_000, buyShare: 0.56 },
  graduate: { share: 0.01, tradesPerSecond: 2.5, halfLifeMs: 600_000, episodeMs: 25_000, buyShare: 0.62 },
} as const
type Kind = (typeof KINDS)[keyof typeof KINDS]

const SNIPED_SHARE = 0.5
const SNIPER_HOLD_MS = 25_000
const RUG_SHARE = 0.3
/** Probability that a trade causes another one within a second, which makes bursts of trades. */
const ECHO_SHARE = 0.35
/** Trades per second below which a token is dead. */
const DEAD_TRADES_PER_SECOND = 0.01
/** Probability that an episode (a large move of the price) is a fall; otherwise it is a rise. */
const FALL_SHARE = 0.55

/** Calls `run` after `ms` milliseconds of market time. */
export type Later = (ms: number, run: () => void) => void

/** Traders of one token: the creator, snipers, a steady flow of traders, and the traders of the episodes that move its
 *  price. */
export class Crowd {
  readonly #floor: MarketFloor
  readonly #listing: Listing
  readonly #later: Later
  readonly #draws: Draws
  #kind: Kind
  #bornAt: number
  #rugged = false

  constructor(floor: MarketFloor, listing: Listing, later: Later) {
    this.#floor = floor
    this.#listing = listing
    this.#later = later
    this.#draws = floor.draws
    this.#kind = this.#drawKind()
    this.#bornAt = floor.now
  }

  /** Starts the trade of a new token with the creator's own buy, snipers, then the steady flow. */
  launch(): void {
    const sol = drawCreatorSol(this.#draws)
    const bag = sol > 0 ? this.#floor.buy(this.#listing, this.#listing.creator, sol) : 0n
    if (this.#draws.chance(SNIPED_SHARE)) this.#snipe()
    if (bag > 0n && this.#draws.chance(RUG_SHARE))
      this.#later(this.#draws.between(20_000, 240_000), () => this.#rug(bag))
    else this.#listing.crowd += bag
    this.#flow()
    this.#episodes()
  }

  /** Starts the trading of an existing token. Holders own all tokens that the token's curve has sold. The token is
   *  active, because our wallets hold it. */
  join(): void {
    this.#kind = KINDS.hot
    const sold = TOKEN_SUPPLY - this.#listing.curve.reserves.virtualTokens
    this.#listing.crowd = sold > 0n ? sold / 2n : 0n
    this.#flow()
    this.#episodes()
  }

  /** Starts 3 to 15 buyers within the first two Solana slots. Each of them later sells everything in one or two
   *  swaps. */
  #snipe(): void {
    for (let left = 3 + this.#draws.integer(13); left > 0; left--) {
      this.#later(this.#draws.between(50, 800), () => {
        const sniper = this.#floor.stranger()
        const bag = this.#floor.buy(this.#listing, sniper, 0.1 * 15 ** this.#draws.next())
        this.#later(1_000 + this.#draws.exponential(SNIPER_HOLD_MS), () => this.#unload(sniper, bag))
      })
    }
  }

  #unload(trader: string, bag: bigint): void {
    const first = this.#draws.chance(0.6) ? bag : bag / 2n
    this.#floor.sell(this.#listing, trader, first)
    if (first === bag) return
    this.#later(this.#draws.between(400, 3_000), () => this.#floor.sell(this.#listing, trader, bag - first))
  }

  /** The creator sells everything, and trading ends. */
  #rug(bag: bigint): void {
    this.#unload(this.#listing.creator, bag)
    this.#rugged = true
  }

  #flow(): void {
    const rate = this.#tradesPerSecond()
    if (rate < DEAD_TRADES_PER_SECOND) return
    this.#later(this.#draws.exponential(1_000 / rate), () => {
      this.#tradeOnce()
      this.#flow()
    })
  }

  #tradeOnce(): void {
    if (this.#draws.chance(this.#kind.buyShare)) this.#buy(drawBuySol(this.#draws))
    else this.#sell(drawSellSol(this.#draws), 0.15)
    if (this.#draws.chance(ECHO_SHARE)) this.#later(this.#draws.between(30, 900), () => this.#tradeOnce())
  }

  #episodes(): void {
    if (this.#kind.episodeMs === Number.POSITIVE_INFINITY) return
    this.#later(this.#draws.exponential(this.#kind.episodeMs), () => {
      if (this.#tradesPerSecond() < DEAD_TRADES_PER_SECOND) return
      if (this.#draws.chance(FALL_SHARE)) this.#fall()
      else this.#rise(this.#solToRise(this.#draws.between(0.2, 0.6)))
      this.#episodes()
    })
  }

  /** A holder sells until the price is 20 to 40 % lower, and some other holders follow. The price stays low for some
   *  seconds and recovers in three of four cases. */
  #fall(): void {
    const { curve } = this.#listing
    const drop = this.#draws.between(0.2, 0.4)
    const solBefore = Number(curve.reserves.virtualSol)
    const wanted = BigInt(Math.floor(Number(curve.reserves.virtualTokens) * (1 / Math.sqrt(1 - drop) - 1)))
    const bag = wanted < this.#listing.crowd ? wanted : (this.#listing.crowd * 9n) / 10n
    this.#take(bag)
    this.#unload(this.#floor.stranger(), bag)
    for (let left = 6; left > 0; left--) this.#later(this.#draws.between(200, 4_000), () => this.#smallTrade())
    this.#later(this.#draws.between(2_500, 5_000), () => {
      const lost = (solBefore - Number(curve.reserves.virtualSol)) / 1e9
      if (lost > 0 && this.#draws.chance(0.75)) this.#rise(lost * this.#draws.between(0.5, 1.2))
    })
  }

  /** Traders spend `sol` in 6 to 14 buys within some seconds. */
  #rise(sol: number): void {
    const buys = 6 + this.#draws.integer(9)
    const span = this.#draws.between(3_000, 8_000)
    for (let index = 0; index < buys; index++) {
      this.#later((span * (index + this.#draws.next())) / buys, () =>
        this.#buy((sol / buys) * this.#draws.between(0.5, 1.5)),
      )
    }
  }

  #solToRise(share: number): number {
    return (Number(this.#listing.curve.reserves.virtualSol) / 1e9) * (Math.sqrt(1 + share) - 1)
  }

  #smallTrade(): void {
    if (this.#draws.chance(0.5)) this.#buy(this.#draws.between(0.01, 0.1))
    else this.#sell(this.#draws.between(0.01, 0.1), 0.05)
  }

  #buy(sol: number): void {
    this.#listing.crowd += this.#floor.buy(this.#listing, this.#floor.stranger(), sol)
  }

  #sell(sol: number, share: number): void {
    const tokens = this.#listing.tokensWorth(sol, share)
    if (tokens <= 0n) return
    this.#take(tokens)
    this.#floor.sell(this.#listing, this.#floor.stranger(), tokens)
  }

  #take(tokens: bigint): void {
    this.#listing.crowd -= tokens
  }

  #tradesPerSecond(): number {
    if (this.#rugged) return 0
    return this.#kind.tradesPerSecond * 0.5 ** ((this.#floor.now - this.#bornAt) / this.#kind.halfLifeMs)
  }

  #drawKind(): Kind {
    let share = this.#draws.next()
    for (const kind of Object.values(KINDS)) {
      if (share < kind.share) return kind
      share -= kind.share
    }
    return KINDS.dud
  }
}
