import type { ErrorCode } from '../base/errors.ts'
import type { Clock } from '../base/machine.ts'
import { deriveSeed, seededRandom } from '../base/random.ts'
import { type Lamports, lamports, type TokenAmount, ZERO } from '../base/units.ts'
import { type FillCosts, NO_COSTS, walletChange } from '../engine/accounting/fill-costs.ts'
import type { Position } from '../engine/accounting/position.ts'
import type { Fill } from '../engine/order.ts'
import type { Attempt } from '../orders/attempt.ts'
import type { Executor, Outcome } from '../orders/ports.ts'
import { BASE_FEE } from '../solana/constants.ts'
import {
  buy,
  drawLatencyMs,
  type FillModel,
  lossPercent,
  networkFee,
  type PoolRun,
  printsPerSlot,
  SLOT_MS,
  type Swap,
  sell,
} from './fill-model.ts'
import type { Measured, Measurements } from './measurements.ts'
import { DepthUse } from './measurements.ts'
import type { PaperMarket, PricePath } from './paper-market.ts'
import { PaperWallet } from './paper-wallet.ts'

/** A landed transaction is final 32 slots later. */
export const FINALITY_MS = 32 * SLOT_MS
/** That one can not land any more is proved when its blockhash is 200 slots old, and not before. */
const ABSENCE_MS = 200 * SLOT_MS
/** The service answers with a signature after this share of the time to landing. */
const ANSWER_SHARE = 1 / 3

type Done = (outcome: Outcome) => void

/** How a transaction that landed ended. */
type Landed =
  | { readonly kind: 'filled'; readonly fill: Fill }
  | { readonly kind: 'reverted'; readonly signature: string; readonly feeLamports: Lamports; readonly code: ErrorCode }

function outcomeOf(landed: Landed, final: boolean): Outcome {
  return landed.kind === 'filled' ? { kind: 'filled', fill: { ...landed.fill, final }, final } : { ...landed, final }
}

/** Carries attempts out on paper, for one account, in live time and in a backtest alike: everything happens on the
 *  clock. The same attempt has the same luck (latency, landing) whatever else is going on, because each draws from a
 *  seed of its own. */
export class PaperExecutor implements Executor {
  readonly depth = new DepthUse()
  readonly #clock: Clock
  readonly #market: PaperMarket
  readonly #model: FillModel
  readonly #seed: number
  readonly #seeds = new Map<string, number>()
  readonly #measured: Measurements | undefined
  #holdings = new PaperWallet([])
  /** Fills of an earlier process, by attempt: it may not have seen them become final. */
  #landed = new Map<string, Fill>()

  /** `measured`: what another run knows of the same attempts. */
  constructor(clock: Clock, market: PaperMarket, model: FillModel, seed: number, measured?: Measurements) {
    this.#clock = clock
    this.#market = market
    this.#model = model
    this.#seed = seed
    this.#measured = measured
    market.addKeeper((mint) => this.#holdings.has(mint))
  }

  /** A bot that shares the account has the luck that it would have alone. */
  share(bot: string, seed: number): void {
    this.#seeds.set(bot, seed)
  }

  /** Takes over the account's money from the journal: its positions, its last fills, and those that had landed when the
   *  process ended and that no position knows of yet. */
  restore(positions: readonly Position[], fills: readonly Fill[], untold: readonly Fill[] = []): void {
    this.#holdings = new PaperWallet(positions)
    for (const fill of untold) this.#holdings.book(fill)
    this.#landed = new Map([...fills, ...untold].map((fill) => [fill.attemptId, fill]))
  }

  execute(attempt: Attempt, done: Done): void {
    const random = seededRandom(deriveSeed(this.#seeds.get(attempt.bot) ?? this.#seed, luckOf(attempt)))
    const known = this.#measured?.(attempt)
    if (known?.landing === 'open') return
    const drawnMs = drawLatencyMs(this.#model.latencyMs, random)
    const landedMs = known?.landing === 'absent' ? undefined : known?.toldAfterMs
    const latencyMs = landedMs === undefined ? drawnMs : Math.max(0, landedMs - SLOT_MS)
    const luckPercent = random.next() * 100
    const answerMs = Math.ceil(latencyMs * ANSWER_SHARE)
    const path = this.#canFill(attempt) ? this.#market.follow(attempt.mint) : undefined
    const denied = deniedAs(known)
    if (denied !== undefined || (path === undefined && known?.swap === undefined)) {
      if (path !== undefined) this.#market.unfollow(attempt.mint, path)
      this.#clock.after(known?.toldAfterMs ?? answerMs, () => done(denied ?? this.#unfillable(attempt)))
      return
    }
    this.#clock.after(answerMs, () => {
      done({ kind: 'acked', signature: signatureOf(attempt) })
      // The slot that it lands in belongs to the path: nobody knows his place within it.
      this.#clock.after(Math.ceil(latencyMs + SLOT_MS) - answerMs, () => {
        if (path !== undefined) this.#market.unfollow(attempt.mint, path)
        const crowd = printsPerSlot(path?.prints ?? 0, latencyMs)
        const isUnlucky = luckPercent < lossPercent(this.#model, attempt.priorityFeeLamports, crowd)
        const isLost = known?.landing === undefined ? isUnlucky : known.landing === 'absent'
        const proofMs = Math.max(0, (known?.toldAfterMs ?? ABSENCE_MS + SLOT_MS) - latencyMs - SLOT_MS)
        if (isLost) this.#clock.after(proofMs, () => done({ kind: 'absent' }))
        else {
          const landed = this.#land(attempt, path, known ?? {})
          done(outcomeOf(landed, false))
          this.#finalize(landed, done)
        }
      })
    })
  }

  /** What selling all of a position now would bring, network fee and rent aside; 0 where there is no price, or nobody
   *  could sell it. */
  valueOf({ mint, tokens, decimals }: Pick<Position, 'mint' | 'tokens' | 'decimals'>): Lamports {
    const price = this.#market.markPrice(mint)
    if (price === undefined || this.#isTrap(mint)) return ZERO
    return this.#sale(mint, tokens, decimals, 100, price, price)?.tradeLamports ?? ZERO
  }

  /** What was under way when the process ended went down with it; what had landed stays landed. */
  resume(attempt: Attempt, done: Done): void {
    const fill = this.#landed.get(attempt.id)
    if (fill !== undefined) this.#finalize({ kind: 'filled', fill }, done)
    else if (attempt.state === 'landed') this.#finalize(this.#reverted(attempt, attempt.code || 'REVERTED'), done)
    else this.#clock.after(0, () => done({ kind: 'absent', code: 'CRASHED' }))
  }

  #finalize(landed: Landed, done: Done): void {
    this.#clock.after(FINALITY_MS, () => done(outcomeOf(landed, true)))
  }

  #land(attempt: Attempt, path: PricePath | undefined, known: Measured): Landed {
    if (known.landing === 'reverted') return this.#reverted(attempt, 'SLIPPAGE_EXCEEDED', known)
    const sells = attempt.side === 'sell'
    const tokens = sells ? this.#holdings.toSell(attempt) : 0n
    if (sells && tokens === 0n) return this.#reverted(attempt, 'REVERTED', known)
    const swap = this.#swap(attempt, tokens, path, known)
    if (swap === undefined) return this.#reverted(attempt, 'SLIPPAGE_EXCEEDED', known)
    // Less than one base unit: the venue refuses a trade of nothing.
    if (swap.tokens === 0n) return this.#reverted(attempt, 'REVERTED', known)
    if (path !== undefined && known.swap === undefined && !this.#isDead(attempt.mint)) this.#weigh(attempt, swap, path)
    return { kind: 'filled', fill: this.#fill(attempt, swap, known) }
  }

  /** Notes what hangs on the depth of the pool that it was filled in. */
  #weigh({ mint, side }: Attempt, { tokens, tradeLamports }: Swap, path: PricePath): void {
    const deeper = this.#market.deeper(mint, side === 'buy' ? path.high : path.low)
    if (deeper === undefined) {
      this.depth.formula(this.#market.isDeep(mint))
      return
    }
    const pool = { quoted: deeper.reserves, worst: deeper.reserves }
    const there =
      side === 'buy'
        ? buy(tradeLamports, 0, pool, this.#model)
        : sell(tokens, this.#holdings.decimals(mint), 0, pool, this.#model)
    const more =
      there === undefined
        ? 1
        : side === 'buy'
          ? Number(there.tokens) / Number(tokens)
          : there.tradeLamports / tradeLamports
    this.depth.estimated(deeper.spread, Number.isFinite(more) ? Math.round(tradeLamports * (more - 1)) : 0)
  }

  #swap(attempt: Attempt, tokens: TokenAmount, path: PricePath | undefined, known: Measured): Swap | undefined {
    if (known.swap !== undefined) return scaled(known.swap, attempt, tokens)
    if (path === undefined) return undefined
    const bounded = known.landing === 'filled' ? { ...attempt, slippagePercent: Number.POSITIVE_INFINITY } : attempt
    return attempt.side === 'sell' ? this.#sell(bounded, tokens, path) : this.#buy(bounded, path)
  }

  /** Bounded by the price that was decided on, so that a runaway is missed as it would be. */
  #buy({ mint, size, slippagePercent, price }: Attempt, path: PricePath): Swap | undefined {
    if (size.kind !== 'sol') throw new TypeError(`a buy is sized in SOL, not in ${size.kind}`)
    return buy(size.lamports, slippagePercent, this.#pool(mint, price ?? path.first, path.high), this.#model)
  }

  /** Bounded by the price at sending, as the service quotes it: an exit that is tried again must not hang on a price
   *  long gone. */
  #sell({ mint, slippagePercent }: Attempt, tokens: TokenAmount, path: PricePath): Swap | undefined {
    return this.#sale(mint, tokens, this.#holdings.decimals(mint), slippagePercent, path.first, path.low)
  }

  #sale(
    mint: string,
    tokens: TokenAmount,
    decimals: number,
    slippagePercent: number,
    quoted: number,
    worst: number,
  ): Swap | undefined {
    if (this.#isDead(mint)) return { tokens, tradeLamports: ZERO }
    return sell(tokens, decimals, slippagePercent, this.#pool(mint, quoted, worst), this.#model)
  }

  #isDead(mint: string): boolean {
    return this.#clock.now() - this.#market.printedAt(mint) > this.#model.deadAfterMs
  }

  /** One that is dead as well is given away, so that it is not tried for ever. */
  #isTrap(mint: string): boolean {
    return !this.#isDead(mint) && this.#market.isTrap(mint, this.#clock.now())
  }

  #pool(mint: string, quoted: number, worst: number): PoolRun {
    return { quoted: this.#market.reserves(mint, quoted), worst: this.#market.reserves(mint, worst) }
  }

  /** What is held has to be sold into whatever there is, where anybody could sell it; nothing is bought into a pool of
   *  which nothing is known. */
  #canFill({ side, mint }: Attempt): boolean {
    return side === 'sell' ? !this.#isTrap(mint) : this.#market.isDeep(mint)
  }

  /** A buy ends; a sale was not sent and is tried again: the gateway waits between its tries. */
  #unfillable({ side, mint }: Attempt): Outcome {
    const refused = (code: ErrorCode, reason: string): Outcome => ({ kind: 'refused', code, reason, retry: 'never' })
    if (this.#market.price(mint) === undefined) {
      const reason = 'no robust price to fill at'
      return side === 'sell' ? { kind: 'unsent', reason } : refused('PRICE_UNKNOWN', reason)
    }
    return side === 'sell'
      ? refused('UNSELLABLE', 'many have bought it and nobody has sold it')
      : refused('DEPTH_UNKNOWN', 'too few prints tell the depth of its pool')
  }

  #fill(attempt: Attempt, { tokens, tradeLamports }: Swap, known: Measured): Fill {
    const { orderId, account, bot, mint, side } = attempt
    const decimals = this.#holdings.decimals(mint)
    const booked = this.#holdings.book({ mint, side, tokens })
    const rentLamports = known.rentLamports ?? booked
    const feeLamports = known.feeLamports ?? this.#feeOf(attempt)
    const costs = paperCosts(side, tradeLamports, feeLamports, rentLamports, this.#model)
    const time = this.#clock.now()
    return {
      signature: signatureOf(attempt),
      orderId,
      attemptId: attempt.id,
      account,
      bot,
      mint,
      side,
      slot: Math.floor(time / SLOT_MS),
      time,
      tokens,
      decimals,
      tradeLamports,
      feeLamports,
      rentLamports,
      walletLamports: lamports(walletChange(side, costs)),
      costs,
      final: false,
    }
  }

  /** It landed and failed: nothing moved but the fee. */
  #reverted(attempt: Attempt, code: ErrorCode, known: Measured = {}): Landed {
    const feeLamports = known.feeLamports ?? this.#feeOf(attempt)
    return { kind: 'reverted', signature: signatureOf(attempt), feeLamports, code }
  }

  #feeOf({ priorityFeeLamports }: Attempt): Lamports {
    return networkFee(priorityFeeLamports, this.#model)
  }
}

/** In another run it never came to a transaction. */
function deniedAs(known: Measured | undefined): Outcome | undefined {
  const reason = 'as in the run'
  if (known?.landing === 'unsent') return { kind: 'unsent', reason }
  if (known?.landing !== 'refused' || known.code === undefined) return undefined
  return { kind: 'refused', code: known.code, reason, retry: 'never' }
}

/** What another run swapped, for so much as is swapped here. */
function scaled(swap: Swap, { size }: Attempt, tokens: TokenAmount): Swap {
  if (size.kind === 'sol') {
    if (size.lamports === swap.tradeLamports) return swap
    const share = size.lamports / swap.tradeLamports
    return { tokens: BigInt(Math.floor(Number(swap.tokens) * share)) as TokenAmount, tradeLamports: size.lamports }
  }
  if (tokens === swap.tokens) return swap
  const share = Number(tokens) / Number(swap.tokens)
  return { tokens, tradeLamports: lamports(Math.floor(swap.tradeLamports * share)) }
}

/** By what it does and when, and not by how many orders other bots have sent before. */
function luckOf({ id, mint, side, armedAt }: Attempt): string {
  return `${mint} ${side} ${armedAt} ${id.slice(id.lastIndexOf('.'))}`
}

/** Looks like no signature of the chain, so that nobody takes it for one. */
function signatureOf(attempt: Attempt): string {
  return `paper-${attempt.id}`
}

/** What a paper trade cost, each part apart. The fees are inside what changed hands: a buyer's are taken off what he
 *  pays, the service's first; a seller's off what he would get, the venue's first. `networkLamports`: base and priority
 *  fee. */
function paperCosts(
  side: 'buy' | 'sell',
  tradeLamports: Lamports,
  networkLamports: Lamports,
  rentLamports: Lamports,
  { venueFeePercent, serviceFeePercent }: FillModel,
): FillCosts {
  const [venue, service] = [venueFeePercent / 100, serviceFeePercent / 100]
  const isBuy = side === 'buy'
  const beforeService = isBuy ? tradeLamports : tradeLamports / (1 - service)
  const toVenue = isBuy ? beforeService * (1 - service) : beforeService
  const venueFee = Math.round((toVenue * venue) / (isBuy ? 1 + venue : 1 - venue))
  const serviceFee = Math.round(beforeService * service)
  const fees = venueFee + serviceFee
  const base = Math.min(BASE_FEE, networkLamports)
  return {
    ...NO_COSTS,
    tradeLamports: lamports(isBuy ? tradeLamports - fees : tradeLamports + fees),
    venueFeeLamports: lamports(venueFee),
    serviceFeeLamports: lamports(serviceFee),
    baseFeeLamports: lamports(base),
    priorityFeeLamports: lamports(networkLamports - base),
    rentPaidLamports: lamports(Math.max(0, rentLamports)),
    rentReturnedLamports: lamports(Math.max(0, -rentLamports)),
  }
}
