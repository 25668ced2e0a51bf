import { deriveSeed } from '../../src/base/random.ts'
import type { Millis } from '../../src/base/units.ts'
import { type Draws, draws } from '../../src/sandbox/draws.ts'
import { drawLabel } from '../../src/sandbox/market/labels.ts'
import { Listing, MarketFloor } from '../../src/sandbox/market/listing.ts'
import type { LaunchEvent, MarketEvent, MarketToken } from '../../src/sandbox/market/market.ts'
import { SeededMarket } from '../../src/sandbox/market/seeded-market.ts'
import { drawBuySol, drawSellSol } from '../../src/sandbox/market/trade-sizes.ts'
import { SimulatedClock } from '../../src/simulation/simulated-clock.ts'
import { Curve, type Swap } from '../../src/solana/bonding-curve.ts'
import { CURVE_START, TOKEN_DECIMALS, TOKEN_SUPPLY } from '../../src/solana/constants.ts'
import { type ExactPool, sellInto, withdraw } from './exact-pool.ts'

/** Beginning of each market. It is a whole second, because block times are whole seconds. */
const MARKET_START: Millis = 1_780_000_000_000

export interface ExactMarketOptions {
  readonly seed: number
  readonly minutes: number
}

/** A row of the feed. */
export interface FeedRow {
  readonly time: Millis
  readonly event: MarketEvent
}

/** A seeded market whose pools are known exactly. */
export interface ExactMarket {
  readonly seed: number
  /** Rows that a recorder of the feed would record. */
  readonly rows: readonly FeedRow[]
  /** Interruptions of the feed, in order. Trading continues during an interruption, and its rows are lost. */
  readonly gaps: readonly { readonly from: Millis; readonly to: Millis }[]
  /** By mint. */
  readonly pools: ReadonlyMap<string, ExactPool>
  readonly from: Millis
  readonly to: Millis
}

const LAUNCHES_PER_SECOND = 0.3
/** Number of constant-product pools with which the market begins. `HONEYPOTS_PER_LAUNCH`: number of launches of
 *  honeypots (tokens that only their owner can sell), divided by the number of all other launches. */
const PLAIN_POOLS = 16
const HONEYPOTS_PER_LAUNCH = 0.03
const SMALLEST_WHALE_SOL = 5
const LARGEST_WHALE_SOL = 40
/** A whale buys only a token that traded within this time. */
const ACTIVE_MS = 15_000
/** Mean times between two events of the same kind, ms. */
const EVERY = { whale: 9_000, dump: 15_000, honeypot: 1_000 / LAUNCHES_PER_SECOND / HONEYPOTS_PER_LAUNCH }
/** Share of the constant-product pools whose liquidity is withdrawn during the recording. */
const WITHDRAWN_SHARE = 0.2
const STAYING_PERMILLE = 40n
/** Share of the trades of a constant-product pool that are followed by a pause. */
const PAUSE_SHARE = 0.005
const GAPS_PER_MINUTE = 0.1

/** Plays a market that a seed determines. The sandbox generates launches with their traders, wrong prices of routed
 *  swaps, migrations of sold-out curves, and creators that sell everything. This function adds
 *  constant-product pools of any depth, whales (buyers of 5 to 40 SOL), large sales, withdrawn liquidity, honeypots and
 *  interruptions of the feed. */
export function playMarket({ seed, minutes }: ExactMarketOptions): ExactMarket {
  return new Play(seed, minutes * 60_000).run()
}

class Play {
  readonly #seed: number
  readonly #lengthMs: number
  readonly #clock = new SimulatedClock()
  readonly #draws: Draws
  readonly #market: SeededMarket
  readonly #rows: FeedRow[] = []
  readonly #pools = new Map<string, ExactPool>()
  readonly #tradedAt = new Map<string, number>()
  /** Tokens whose traders are simulated here instead of in the sandbox. */
  readonly #listings = new Map<string, Listing>()
  readonly #plain: Listing[] = []
  readonly #floor: MarketFloor
  #now = 0

  constructor(seed: number, lengthMs: number) {
    this.#seed = seed
    this.#lengthMs = lengthMs
    this.#draws = draws(seed, 'exact pools')
    this.#floor = new MarketFloor(deriveSeed(seed, 'exact pools'), (event) => this.#heard(event))
    this.#market = new SeededMarket({
      ...{ seed, pastMs: 0, launchesPerSecond: LAUNCHES_PER_SECOND },
      emit: (event) => this.#heard(event),
    })
  }

  run(): ExactMarket {
    for (let left = PLAIN_POOLS; left > 0; left--) this.#openPlainPool()
    this.#repeat(EVERY.whale, () => this.#whale())
    this.#repeat(EVERY.dump, () => this.#dump())
    this.#repeat(EVERY.honeypot, () => this.#honeypot())
    for (let at = this.#nextAt(); at <= this.#lengthMs; at = this.#nextAt()) {
      this.#now = at
      this.#floor.now = at
      if (this.#clock.nextAt() <= at) this.#clock.advanceTo(at)
      else this.#market.advance(at)
    }
    const gaps = this.#drawGaps()
    const rows = this.#rows.filter(({ time }) => !gaps.some(({ from, to }) => time > from && time < to))
    const [from, to] = [MARKET_START, MARKET_START + this.#lengthMs]
    return { seed: this.#seed, rows, gaps, pools: this.#pools, from, to }
  }

  #nextAt(): number {
    return Math.min(this.#clock.nextAt(), this.#market.nextAt ?? Number.POSITIVE_INFINITY)
  }

  get #time(): Millis {
    return MARKET_START + Math.floor(this.#now)
  }

  #token(mint: string): MarketToken | undefined {
    return this.#listings.get(mint) ?? this.#market.token(mint)
  }

  /** Records a trade. Its event arrives after the trade has moved the curve, so the trade is computed as the difference
   *  between the states of the curve before and after it. */
  #heard(event: MarketEvent): void {
    this.#rows.push({ time: this.#time, event })
    const token = this.#token(event.mint)
    if (token === undefined) return
    if (event.type === 'newToken') this.#list(token, false)
    if (event.type !== 'trade') return
    this.#tradedAt.set(event.mint, this.#now)
    const pool = this.#pools.get(event.mint) as ExactPool
    const before = pool.events.at(-1)?.after ?? pool.start
    const after = { ...token.curve.reserves }
    const hasMigrated = after.complete && !before.complete
    const amount =
      event.side === 'sell'
        ? after.virtualTokens - before.virtualTokens
        : hasMigrated
          ? new Curve(before).quoteTokens(before.realTokens).sol
          : after.virtualSol - before.virtualSol
    pool.events.push({ kind: event.side, time: this.#time, amount, after })
  }

  #list({ mint, curve }: MarketToken, isHoneypot: boolean): void {
    this.#pools.set(mint, { mint, isHoneypot, start: { ...curve.reserves }, events: [] })
  }

  #repeat(meanMs: number, run: () => void): void {
    this.#clock.after(this.#draws.exponential(meanMs), () => {
      run()
      this.#repeat(meanMs, run)
    })
  }

  #newListing(curve: Curve, isHoneypot: boolean): Listing {
    const [mint, creator] = [this.#draws.publicKey(), this.#draws.publicKey()]
    const listing = new Listing({ mint, creator, curve, ...drawLabel(this.#draws) }, this.#now)
    this.#listings.set(mint, listing)
    this.#list(listing, isHoneypot)
    return listing
  }

  /** Opens a constant-product pool with 15 to 400 SOL and a share of the token's supply. Some of these pools are
   *  shallower and some are deeper than the pool of a freshly migrated token. */
  #openPlainPool(): void {
    const virtualSol = BigInt(Math.floor(15 * (400 / 15) ** this.#draws.next() * 1e9))
    const virtualTokens = (TOKEN_SUPPLY * BigInt(Math.floor(this.#draws.between(20, 500)))) / 1_000n
    const listing = this.#newListing(
      new Curve({ virtualSol, virtualTokens, realTokens: virtualTokens, complete: true }),
      false,
    )
    this.#plain.push(listing)
    this.#trickle(listing, 300 * 50 ** this.#draws.next())
    if (this.#draws.chance(WITHDRAWN_SHARE))
      this.#clock.after(this.#draws.between(this.#lengthMs / 4, this.#lengthMs), () => this.#withdraw(listing))
  }

  /** Starts the traders of a constant-product pool. They buy and sell equally often, in bursts and with pauses, until
   *  the liquidity is withdrawn. */
  #trickle(listing: Listing, meanMs: number): void {
    const pauseMs = this.#draws.chance(PAUSE_SHARE) ? this.#draws.between(20_000, 120_000) : 0
    this.#clock.after(pauseMs + this.#draws.exponential(meanMs), () => {
      if (!this.#plain.includes(listing)) return
      const trader = this.#floor.stranger()
      if (this.#draws.chance(0.5)) this.#floor.buy(listing, trader, drawBuySol(this.#draws))
      else this.#floor.sell(listing, trader, tokensWorth(listing, drawBuySol(this.#draws)))
      this.#trickle(listing, meanMs)
    })
  }

  /** Withdraws the liquidity of a pool. No trade happens, so the feed prints nothing until a few holders sell. */
  #withdraw(listing: Listing): void {
    const { mint, curve } = listing
    withdraw(curve, STAYING_PERMILLE)
    this.#plain.splice(this.#plain.indexOf(listing), 1)
    for (let left = this.#draws.integer(8); left > 0; left--)
      this.#clock.after(this.#draws.exponential(8_000), () => {
        this.#floor.sell(listing, this.#floor.stranger(), tokensWorth(listing, drawSellSol(this.#draws)))
      })
    const { events } = this.#pools.get(mint) as ExactPool
    events.push({ kind: 'withdraw', time: this.#time, amount: STAYING_PERMILLE, after: { ...curve.reserves } })
  }

  /** Buys a token that trades at present, and later sells the tokens in one or two parts. */
  #whale(): void {
    const active = [...this.#tradedAt].filter(([, at]) => this.#now - at < ACTIVE_MS)
    if (active.length === 0) return
    const [mint] = this.#draws.pick(active)
    const token = this.#token(mint)
    if (token === undefined) return
    const trader = this.#draws.publicKey()
    const bag = this.#buy(
      token,
      trader,
      SMALLEST_WHALE_SOL * (LARGEST_WHALE_SOL / SMALLEST_WHALE_SOL) ** this.#draws.next(),
    )
    if (this.#pools.get(mint)?.isHoneypot) return
    const first = this.#draws.chance(0.5) ? bag : bag / 2n
    this.#clock.after(this.#draws.exponential(20_000), () => this.#sell(token, trader, first))
    this.#clock.after(this.#draws.exponential(60_000), () => this.#sell(token, trader, bag - first))
  }

  /** Moves the price of a constant-product pool: a trader sells as many tokens as 3 to 60 % of the pool's tokens, or
   *  buys for 3 to 60 % of the pool's SOL. */
  #dump(): void {
    if (this.#plain.length === 0) return
    const token = this.#draws.pick(this.#plain)
    const { virtualSol, virtualTokens } = token.curve.reserves
    const share = this.#draws.between(0.03, 0.6)
    const trader = this.#draws.publicKey()
    if (this.#draws.chance(0.6))
      this.#sell(token, trader, sellable(token, BigInt(Math.floor(Number(virtualTokens) * share))))
    else this.#buy(token, trader, (Number(virtualSol) / 1e9) * share)
  }

  /** Launches a token that only its owner can sell. The owner of every second honeypot sells a few tokens, as bait. */
  #honeypot(): void {
    const token = this.#newListing(new Curve(), true)
    const { mint, symbol, name, creator, metadata, curve } = token
    const liquiditySol = Number(CURVE_START.virtualSol) / 1e9
    const launch: LaunchEvent = {
      ...{ type: 'newToken', mint, symbol, name, creator, metadata, liquiditySol },
      marketCapSol: curve.marketCapSol,
    }
    this.#rows.push({ time: this.#time, event: launch })
    const bag = this.#buy(token, creator, this.#draws.between(0.5, 3))
    const isBaited = this.#draws.chance(0.5)
    const endsAt = this.#now + this.#draws.between(60_000, 240_000)
    const trade = (): void => {
      if (this.#now > endsAt) return
      if (isBaited && this.#draws.chance(0.05)) this.#sell(token, creator, bag / 50n)
      else this.#floor.buy(token, this.#floor.stranger(), drawBuySol(this.#draws))
      this.#clock.after(this.#draws.exponential(1_500), trade)
    }
    trade()
  }

  /** Buys tokens. Returns the base units bought. */
  #buy(token: MarketToken, trader: string, sol: number): bigint {
    const swap = token.curve.quoteBuy(BigInt(Math.floor(sol * 1e9)))
    if (swap.tokens <= 0n) return 0n
    token.curve.applyBuy(swap)
    this.#print(token, 'buy', trader, swap)
    return swap.tokens
  }

  #sell(token: MarketToken, trader: string, tokens: bigint): void {
    if (tokens <= 0n) return
    const swap = sellInto(token.curve, tokens)
    if (swap.sol > 0n) this.#print(token, 'sell', trader, swap)
  }

  #print(token: MarketToken, side: 'buy' | 'sell', trader: string, { sol, tokens }: Swap): void {
    const trade = {
      ...{ mint: token.mint, signature: this.#draws.signature(), trader, side, sol, tokens },
      ...{ slippagePercent: 15, priorityFeeSol: 0.001 },
    }
    const listing = this.#listings.get(token.mint)
    if (listing === undefined) this.#market.print(trade)
    else this.#floor.printOwn(listing, trade)
  }

  #drawGaps(): ExactMarket['gaps'] {
    const gaps = []
    const every = 60_000 / GAPS_PER_MINUTE
    for (let at = this.#draws.exponential(every); at < this.#lengthMs; at += this.#draws.exponential(every)) {
      const from = MARKET_START + Math.floor(at)
      const to = from + Math.floor(this.#draws.between(1_000, 20_000))
      gaps.push({ from, to })
      at = to - MARKET_START
    }
    return gaps
  }
}

/** Base units that are worth this many SOL at the marginal price, limited to the tokens of holders outside of the
 *  pool. */
function tokensWorth(listing: Listing, sol: number): bigint {
  return sellable(listing, BigInt(Math.floor((sol / listing.curve.price) * 10 ** TOKEN_DECIMALS)))
}

/** Limits an amount, because one holder has at most a third of the tokens that are not in the pool. */
function sellable({ curve }: Listing, wanted: bigint): bigint {
  const most = (TOKEN_SUPPLY - curve.reserves.virtualTokens) / 3n
  return wanted < most ? wanted : most
}
