import type { ErrorCode } from '../base/errors.ts'
import type { Clock } from '../base/machine.ts'
import { deriveSeed, seededRandom } from '../base/random.ts'
import { LAMPORTS_PER_SOL, type Lamports, lamports, type TokenAmount, wholeTokens, ZERO } from '../base/units.ts'
import type { FillModel } from '../engine/accounting/fill-assumptions.ts'
import { type FillCosts, NO_COSTS, walletChange } from '../engine/accounting/fill-costs.ts'
import type { Position } from '../engine/accounting/position.ts'
import { type Fill, withTag } from '../engine/order.ts'
import type { Attempt } from '../orders/attempt.ts'
import type { Executor, Outcome } from '../orders/ports.ts'
import { SLOT_MS } from '../solana/constants.ts'
import type { Reserves } from '../solana/pool-depth.ts'
import {
  buy,
  drawLatencyMs,
  lossPercent,
  networkFee,
  type PoolRun,
  printsPerSlot,
  type Swap,
  sell,
} from './fill-model.ts'
import type { Measured, MeasuredSwap, Measurements, Moment } from './measurements.ts'
import { DepthUse } from './measurements.ts'
import { OwnImpact } from './own-impact.ts'
import type { PaperMarket } from './paper-market.ts'
import { PaperWallet } from './paper-wallet.ts'
import type { PricePath } from './price-path.ts'

/** Time from the landing of a transaction to its finality: 32 Solana slots. */
export const FINALITY_MS = 32 * SLOT_MS
/** Time after which a transaction that did not land is proved absent: 200 Solana slots, counted from the slot of its
 *  blockhash. */
const ABSENCE_MS = 200 * SLOT_MS
/** The service answers with a signature after this share of the time until the transaction lands. */
const ANSWER_SHARE = 1 / 3

type Done = (outcome: Outcome) => void

/** Result of a landed transaction. */
type Landed =
  | { readonly kind: 'filled'; readonly fill: Fill }
  | { readonly kind: 'reverted'; readonly signature: string; readonly feeLamports: Lamports; readonly code: ErrorCode }

function outcomeOf(landed: Landed, final: boolean): Outcome {
  return landed.kind === 'filled' ? { kind: 'filled', fill: { ...landed.fill, final }, final } : { ...landed, final }
}

/** Executes the attempts of one account on paper, in live time and in a backtest. All delays run on the given clock.
 *  Each attempt has its own random seed for latency and landing, so its results do not depend on other orders. */
export class PaperExecutor implements Executor {
  readonly depth = new DepthUse()
  readonly #clock: Clock
  readonly #market: PaperMarket
  readonly #model: FillModel
  readonly #seed: number
  readonly #seeds = new Map<string, number>()
  readonly #measured: Measurements | undefined
  readonly #impact: OwnImpact
  #holdings = new PaperWallet([])
  /** Fills of an earlier process, by attempt. They may not have been final when that process ended. */
  #landed = new Map<string, Fill>()

  /** `measured` returns the facts about an attempt that were measured in a recorded run; the fill model then does not
   *  choose them at random. */
  constructor(clock: Clock, market: PaperMarket, model: FillModel, seed: number, measured?: Measurements) {
    this.#clock = clock
    this.#market = market
    this.#model = model
    this.#impact = new OwnImpact(model)
    this.#seed = seed
    this.#measured = measured
    market.addKeeper((mint) => this.#holdings.has(mint))
  }

  /** Sets the seed of one of several bots that share the account: the seed that the bot would have if it traded
   *  alone. */
  share(bot: string, seed: number): void {
    this.#seeds.set(bot, seed)
  }

  /** Restores the account's holdings from the journal. `unreported`: fills that had landed when the process ended, but
   *  that are not part of a position yet. */
  restore(positions: readonly Position[], fills: readonly Fill[], unreported: readonly Fill[] = []): void {
    this.#holdings = new PaperWallet(positions)
    for (const fill of unreported) this.#holdings.book(fill)
    this.#landed = new Map([...fills, ...unreported].map((fill) => [fill.attemptId, fill]))
  }

  /** Restores the price impact that a fill of an earlier process has on later orders. `market`: the market at the time
   *  of that fill. */
  recall({ mint, side, tokens, decimals, costs }: Fill, market: PaperMarket): void {
    const sol = costs.tradeLamports / LAMPORTS_PER_SOL
    // The sale of a dead token (one without prints for a long time) brought nothing and moved no pool.
    if (sol === 0 || this.#model.impact === 'none') return
    const pool = market.reserves(mint, 1, this.#model)
    const traded = { sol, tokens: wholeTokens(tokens, decimals) }
    this.#impact.recall(side, mint, market.volume(mint), traded, pool.sol * pool.tokens)
  }

  /** Converts the price impacts that were restored from an earlier process: they must refer to the traded volumes of
   *  this process, which start at 0. Called after the last `recall`. `market`: the market at the end of the earlier
   *  process. */
  recalled(market: PaperMarket): void {
    this.#impact.restartVolumes((mint) => market.volume(mint))
  }

  /** Books a fill of the recorded run, unless it sells tokens that this wallet does not hold. Returns the rent paid; a
   *  negative number is returned rent. */
  hold(fill: Pick<Fill, 'mint' | 'side' | 'tokens'>): Lamports {
    return fill.side === 'sell' && !this.#holdings.has(fill.mint) ? ZERO : this.#book(fill)
  }

  #book(fill: Pick<Fill, 'mint' | 'side' | 'tokens'>): Lamports {
    return lamports(this.#holdings.book(fill) * this.#model.rentLamports)
  }

  execute(attempt: Attempt, done: Done): void {
    const random = seededRandom(deriveSeed(this.#seeds.get(attempt.bot) ?? this.#seed, luckOf(attempt)))
    const known = this.#measured?.(attempt)
    if (known?.landing === 'open') return
    const drawnMs = drawLatencyMs(this.#model.latencyMs, random)
    const { slotMs } = this.#model
    const landedMs = known?.landing === 'absent' ? undefined : known?.toldAfterMs
    const latencyMs = landedMs === undefined ? drawnMs : Math.max(0, landedMs - slotMs)
    const luckPercent = random.next() * 100
    const answerMs = Math.ceil(latencyMs * ANSWER_SHARE)
    const path = this.#canFill(attempt) ? this.#market.follow(attempt.mint, this.#model) : undefined
    const denied = deniedAs(known)
    if (denied !== undefined || (path === undefined && known?.swap === undefined)) {
      if (path !== undefined) this.#market.unfollow(attempt.mint, path)
      const outcome = denied ?? this.#unfillable(attempt)
      this.#at(known?.told, known?.toldAfterMs ?? answerMs, () => done(outcome))
      return
    }
    this.#clock.after(answerMs, () => {
      done({ kind: 'acked', signature: signatureOf(attempt) })
      // The order of the trades within a Solana slot is unknown, so the attempt is filled at the worst price of the
      // slot.
      if (path !== undefined) this.#clock.after(Math.ceil(latencyMs) - answerMs, () => path.enterSlot())
      const landedAt = known?.landing === 'absent' ? undefined : known?.told
      this.#at(landedAt, Math.ceil(latencyMs + slotMs) - answerMs, () => {
        if (path !== undefined) this.#market.unfollow(attempt.mint, path)
        const crowd = printsPerSlot(path?.prints ?? 0, latencyMs, this.#model)
        const isUnlucky = luckPercent < lossPercent(this.#model, attempt.priorityFeeLamports, crowd)
        const isLost = known?.landing === undefined ? isUnlucky : known.landing === 'absent'
        const proofMs = Math.max(0, (known?.toldAfterMs ?? ABSENCE_MS + slotMs) - latencyMs - slotMs)
        if (isLost)
          this.#at(known?.landing === 'absent' ? known.told : undefined, proofMs, () => done({ kind: 'absent' }))
        else {
          const landed = this.#land(attempt, path, known ?? {})
          done(outcomeOf(landed, false))
          this.#finalize(landed, done, known?.final)
        }
      })
    })
  }

  /** Returns the proceeds of a sale of the whole position now, before network fee and rent; 0 if there is no price or
   *  the token is unsellable. `exitPrice`: the price that the exits of the position use. A few wrong prints of routed
   *  trades can lift the market price, so a rise of the market price counts only once `exitPrice` has followed it. A
   *  fall counts immediately. */
  valueOf({ mint, tokens, decimals }: Pick<Position, 'mint' | 'tokens' | 'decimals'>, exitPrice?: number): Lamports {
    const marked = this.#market.markPrice(mint, this.#model)
    if (marked === undefined || this.#isTrap(mint)) return ZERO
    const price = Math.min(marked, exitPrice ?? marked)
    return this.#sale(mint, tokens, decimals, 100, price, price)?.tradeLamports ?? ZERO
  }

  /** Reports the result of an attempt of an earlier process. An attempt that was under way when that process ended is
   *  lost; one that had landed stays landed. */
  resume(attempt: Attempt, done: Done): void {
    const fill = this.#landed.get(attempt.id)
    if (fill !== undefined) this.#finalize({ kind: 'filled', fill }, done)
    else if (attempt.state === 'landed') this.#finalize(this.#reverted(attempt, attempt.code || 'REVERTED'), done)
    else this.#clock.after(0, () => done({ kind: 'absent', code: 'CRASHED' }))
  }

  #finalize(landed: Landed, done: Done, measured?: Moment): void {
    this.#at(measured, FINALITY_MS, () => done(outcomeOf(landed, true)))
  }

  /** Calls `run` at the moment that was measured in the recorded run. If no such moment was measured, or if it has
   *  passed, calls `run` after `ms` instead. */
  #at(measured: Moment | undefined, ms: number, run: () => void): void {
    if (measured?.(run) !== true) this.#clock.after(ms, run)
  }

  #land(attempt: Attempt, path: PricePath | undefined, known: Measured): Landed {
    if (known.landing === 'reverted') return this.#reverted(attempt, known.code ?? 'SLIPPAGE_EXCEEDED', known)
    const sells = attempt.side === 'sell'
    const tokens = sells ? this.#holdings.toSell(attempt) : 0n
    if (sells && tokens === 0n) return this.#reverted(attempt, 'REVERTED', known)
    const swap = this.#swap(attempt, tokens, path, known)
    if (swap === undefined) return this.#reverted(attempt, 'SLIPPAGE_EXCEEDED', known)
    // The buy would give less than one base unit, so the venue rejects it.
    if (swap.tokens === 0n) return this.#reverted(attempt, 'REVERTED', known)
    const isWorthless = sells && this.#isDead(attempt.mint)
    if (path !== undefined && known.swap === undefined && !isWorthless) this.#weigh(attempt, swap, path)
    const fill = this.#fill(attempt, swap, known)
    if (path !== undefined && !isWorthless) this.#remember(fill, path)
    return { kind: 'filled', fill }
  }

  #remember({ mint, side, tokens, decimals, costs }: Fill, path: PricePath): void {
    const traded = { sol: costs.tradeLamports / LAMPORTS_PER_SOL, tokens: wholeTokens(tokens, decimals) }
    const { sol } = this.#market.reserves(mint, side === 'buy' ? path.high : path.low, this.#model)
    this.#impact.add(side, mint, this.#market.volume(mint), traded, sol)
  }

  /** Records how much the result of the fill depends on an estimated pool depth. */
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

  /** Fills a buy. The slippage is measured from the price at the time of sending, because the service computes its
   *  quote then. */
  #buy({ mint, size, slippagePercent }: Attempt, path: PricePath): Swap | undefined {
    if (size.kind !== 'sol') throw new TypeError(`the size of a buy must be in SOL, not in ${size.kind}`)
    return buy(size.lamports, slippagePercent, this.#pool('buy', mint, path.first.high, path.high), this.#model)
  }

  /** Fills a sale. As in `#buy`, the slippage is measured from the price at the time of sending. */
  #sell({ mint, slippagePercent }: Attempt, tokens: TokenAmount, path: PricePath): Swap | undefined {
    return this.#sale(mint, tokens, this.#holdings.decimals(mint), slippagePercent, path.first.low, path.low)
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
    return sell(tokens, decimals, slippagePercent, this.#pool('sell', mint, quoted, worst), this.#model)
  }

  #isDead(mint: string): boolean {
    return this.#clock.now() - this.#market.printedAt(mint) > this.#model.deadAfterMs
  }

  /** Whether the token seems unsellable. A dead token does not count as unsellable: it is worth nothing, and its sale
   *  counts as executed, so that its exit is not repeated forever. */
  #isTrap(mint: string): boolean {
    return !this.#isDead(mint) && this.#market.isTrap(mint, this.#model)
  }

  #pool(side: 'buy' | 'sell', mint: string, quoted: number, worst: number): PoolRun {
    return { quoted: this.#poolAt(side, mint, quoted), worst: this.#poolAt(side, mint, worst) }
  }

  /** Returns the pool at `price`, moved by the account's own earlier orders. */
  #poolAt(side: 'buy' | 'sell', mint: string, price: number): Reserves {
    const pool = this.#market.reserves(mint, price, this.#model)
    return this.#impact.on(side, mint, this.#market.volume(mint), pool)
  }

  /** Whether an order can be filled. A sale can be filled at any depth, unless the token is unsellable. A buy requires
   *  a known depth. */
  #canFill({ side, mint }: Attempt): boolean {
    return side === 'sell' ? !this.#isTrap(mint) : this.#model.impact === 'none' || this.#market.isDeep(mint)
  }

  /** Returns the outcome of an order that cannot be filled. A buy is refused. A sale without a price counts as not
   *  sent, so that the gateway sends it again after a delay. */
  #unfillable({ side, mint }: Attempt): Outcome {
    const refused = (code: ErrorCode, reason: string): Outcome => ({ kind: 'refused', code, reason, retry: 'never' })
    if (this.#market.price(mint) === undefined) {
      const reason = 'the token has no robust price, at which a paper order is filled'
      return side === 'sell' ? { kind: 'unsent', reason } : refused('PRICE_UNKNOWN', reason)
    }
    return side === 'sell'
      ? refused('UNSELLABLE', 'the token counts as unsellable, because it has many buys and almost no sales')
      : refused('DEPTH_UNKNOWN', 'the token has too few prints to estimate the depth of its pool')
  }

  #fill(attempt: Attempt, { tokens, tradeLamports }: Swap, known: Measured): Fill {
    const { orderId, account, bot, mint, side } = attempt
    const decimals = this.#holdings.decimals(mint)
    const booked = this.#book({ mint, side, tokens })
    const rentLamports = known.rentLamports ?? booked
    const feeLamports = known.feeLamports ?? this.#feeOf(attempt)
    const costs = paperCosts(side, tradeLamports, feeLamports, rentLamports, this.#model)
    const now = this.#clock.now()
    const { time, slot } = known.filled ?? { time: now, slot: Math.floor(now / SLOT_MS) }
    const fill: Fill = {
      signature: signatureOf(attempt),
      orderId,
      attemptId: attempt.id,
      account,
      bot,
      mint,
      side,
      slot,
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
    return withTag(fill, attempt.tag)
  }

  /** Returns the result of a transaction that landed and failed. Only its fee was paid. */
  #reverted(attempt: Attempt, code: ErrorCode, known: Measured = {}): Landed {
    const feeLamports = known.feeLamports ?? this.#feeOf(attempt)
    return { kind: 'reverted', signature: signatureOf(attempt), feeLamports, code }
  }

  #feeOf({ priorityFeeLamports }: Attempt): Lamports {
    return networkFee(priorityFeeLamports, this.#model)
  }
}

/** Returns the outcome of an attempt that the recorded run refused or did not send; undefined if the attempt became a
 *  transaction. */
function deniedAs(known: Measured | undefined): Outcome | undefined {
  const reason = 'the attempt had the same outcome in the recorded run'
  if (known?.landing === 'unsent') return { kind: 'unsent', reason }
  if (known?.landing !== 'refused' || known.code === undefined) return undefined
  return { kind: 'refused', code: known.code, reason, retry: 'never' }
}

/** Returns the swap of the recorded run, scaled to the size of this attempt. */
function scaled({ orderedLamports, ...swap }: MeasuredSwap, { size }: Attempt, tokens: TokenAmount): Swap {
  const share =
    size.kind === 'sol' ? size.lamports / (orderedLamports ?? size.lamports) : Number(tokens) / Number(swap.tokens)
  if (share === 1) return swap
  return {
    tokens: size.kind === 'sol' ? (BigInt(Math.floor(Number(swap.tokens) * share)) as TokenAmount) : tokens,
    tradeLamports: lamports(Math.floor(swap.tradeLamports * share)),
  }
}

/** Returns the text from which the seed of an attempt is derived. It consists of the content and time of the attempt,
 *  so that it does not depend on the number of orders of other bots. */
function luckOf({ id, mint, side, armedAt }: Attempt): string {
  return `${mint} ${side} ${armedAt} ${id.slice(id.lastIndexOf('.'))}`
}

/** Returns the signature of a paper trade. Its format differs from that of a signature on the chain, so the two cannot
 *  be confused. */
function signatureOf(attempt: Attempt): string {
  return `paper-${attempt.id}`
}

/** Returns the itemized costs of a paper trade. The traded amount includes the fees: a buyer pays first the service's
 *  fee and then the venue's fee from the amount; a seller's proceeds are reduced by the venue's fee and then by the
 *  service's fee. `networkLamports`: base and priority fee. */
function paperCosts(
  side: 'buy' | 'sell',
  tradeLamports: Lamports,
  networkLamports: Lamports,
  rentLamports: Lamports,
  { venueFeePercent, serviceFeePercent, baseFeeLamports }: FillModel,
): FillCosts {
  const [venue, service] = [venueFeePercent / 100, serviceFeePercent / 100]
  const isBuy = side === 'buy'
  const beforeService = isBuy ? tradeLamports : tradeLamports / (1 - service)
  const toVenue = isBuy ? beforeService * (1 - service) : beforeService
  const venueFee = Math.round((toVenue * venue) / (isBuy ? 1 + venue : 1 - venue))
  const serviceFee = Math.round(beforeService * service)
  const fees = venueFee + serviceFee
  const base = Math.min(baseFeeLamports, networkLamports)
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
