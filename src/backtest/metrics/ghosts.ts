import type { Millis } from '../../base/units.ts'
import { dueExit } from '../../engine/exits/due-exit.ts'
import { ExitPrice } from '../../engine/exits/exit-price.ts'
import { DEFAULT_EXIT_WINDOW, type ExitRules, quietLimits } from '../../engine/exits/exit-settings.ts'
import { stepsReached } from '../../engine/exits/take-profit-steps.ts'
import type { TokenId } from '../../market/block.ts'
import type { Mints } from '../../market/mints.ts'
import { reservesAt, solFor, tokensFor } from '../../solana/pool-depth.ts'

/** An entry that was decided but not filled. */
export interface MissedEntry {
  readonly bot: string
  readonly mint: string
  /** Time at which the entry would have landed. */
  readonly time: Millis
  readonly lamports: number
  readonly exits: ExitRules
}

/** Costs of a trade; each applies both to the buy and to the sale. */
export interface GhostCosts {
  readonly venueFeePercent: number
  readonly serviceFeePercent: number
  readonly networkFeeLamports: number
  /** Time in ms after which a token without a print is worth nothing. */
  readonly deadAfterMs: number
}

interface Ghost {
  readonly entry: MissedEntry
  /** Tokens that are still held; 0 before the buy, which happens at the first price at or after the entry's time. */
  tokens: number
  bought: number
  stepsTaken: number
  averagePrice: number
  highPrice: number
  openedAt: Millis
  lastPrice: number
  lastTime: Millis
  readonly exitPrice: ExitPrice
  /** Time without a price after which everything is sold, ms. */
  readonly quietMs: Millis
}

const NONE: Ghost[] = []

/** Simulates missed entries, and computes the results that they would have had. The tokens of a missed entry are bought
 *  at the token's first robust price after the entry would have landed. They are sold at the robust price at which the
 *  exit rules fire, without delay and without a slippage limit. Real fills are less favourable, so the real result
 *  would have been lower. */
export class Ghosts {
  readonly #mints: Mints
  readonly #costs: ReadonlyMap<string, GhostCosts>
  readonly #waiting = new Map<string, Ghost[]>()
  /** The missed entries of each token that are still simulated, by token number; undefined before the token's first
   *  price. */
  readonly #byToken: (Ghost[] | undefined)[] = []
  readonly #net = new Map<string, number>()

  /** `costs`: the costs of each bot. */
  constructor(mints: Mints, entries: readonly MissedEntry[], costs: ReadonlyMap<string, GhostCosts>) {
    this.#mints = mints
    this.#costs = costs
    for (const entry of entries) {
      const ghost = {
        entry,
        tokens: 0,
        bought: 0,
        stepsTaken: 0,
        averagePrice: 0,
        highPrice: 0,
        openedAt: 0,
        lastPrice: 0,
        lastTime: 0,
        exitPrice: new ExitPrice(),
        quietMs: Math.min(...quietLimits(entry.exits)) * 1000,
      }
      const known = this.#waiting.get(entry.mint)
      if (known === undefined) this.#waiting.set(entry.mint, [ghost])
      else known.push(ghost)
      this.#net.set(entry.bot, 0)
    }
  }

  /** Whether a missed entry of this token is still simulated: its tokens are not bought yet, or not all of them are
   *  sold. Otherwise the caller need not add prices of the token. */
  follows(token: TokenId): boolean {
    return this.#waiting.size > 0 && this.#ghostsOf(token).length > 0
  }

  /** Adds the robust price of a token after a print, SOL per token. */
  price(token: TokenId, time: Millis, price: number, print: number): void {
    const ghosts = this.#ghostsOf(token)
    let kept = 0
    for (const ghost of ghosts) if (!this.#follow(ghost, time, price, print)) ghosts[kept++] = ghost
    ghosts.length = kept
  }

  /** Sells the remaining tokens at their last prices (a dead token yields nothing), and returns the results, lamports
   *  by bot. An entry whose token never had a price counts as 0. */
  end(to: Millis): ReadonlyMap<string, number> {
    for (const ghosts of this.#byToken)
      for (const ghost of ghosts ?? []) {
        const isDead = to - ghost.lastTime > this.#costsOf(ghost).deadAfterMs
        if (ghost.tokens > 0) this.#close(ghost, isDead ? 0 : ghost.lastPrice)
      }
    return this.#net
  }

  #ghostsOf(token: TokenId): Ghost[] {
    const known = this.#byToken[token]
    if (known !== undefined) return known
    const ghosts = this.#waiting.get(this.#mints.list[token] as string) ?? NONE
    this.#byToken[token] = ghosts
    return ghosts
  }

  /** Applies a price to a missed entry: buys at the first price, and sells when an exit is due. Returns true once
   *  everything is sold. */
  #follow(ghost: Ghost, time: Millis, robust: number, print: number): boolean {
    const { entry } = ghost
    if (time < entry.time) return false
    if (ghost.tokens === 0) this.#open(ghost, time, robust)
    ghost.exitPrice.fold(print, robust, time)
    const price = ghost.exitPrice.of(entry.exits.windowPrints ?? DEFAULT_EXIT_WINDOW, robust, time)
    if (time - ghost.lastTime >= ghost.quietMs) {
      this.#close(ghost, ghost.lastPrice)
      return true
    }
    ghost.lastPrice = robust
    ghost.lastTime = time
    ghost.highPrice = Math.max(ghost.highPrice, price)
    const { maxHoldSeconds } = entry.exits
    const ageMs = time - ghost.openedAt
    const isOld = maxHoldSeconds !== undefined && ageMs >= maxHoldSeconds * 1000
    if (!isOld && dueExit(entry.exits, ghost.averagePrice, ghost.highPrice, price, ageMs) === undefined)
      return this.#takeSteps(ghost, price, robust)
    this.#close(ghost, robust)
    return true
  }

  /** Sells the shares of the take-profit steps that the price has reached. Returns true once everything is sold. */
  #takeSteps(ghost: Ghost, price: number, robust: number): boolean {
    const { exits } = ghost.entry
    const reached = stepsReached(exits, ghost.stepsTaken, ghost.averagePrice, price)
    for (const { sellPercent } of (exits.takeProfitSteps ?? []).slice(ghost.stepsTaken, reached))
      this.#sell(ghost, (ghost.bought * sellPercent) / 100, robust)
    ghost.stepsTaken = reached
    return ghost.tokens <= ghost.bought * 1e-9
  }

  #open(ghost: Ghost, time: Millis, price: number): void {
    const { serviceFeePercent, venueFeePercent } = this.#costsOf(ghost)
    const sol = (ghost.entry.lamports / 1e9) * (1 - serviceFeePercent / 100)
    ghost.tokens = tokensFor(sol, reservesAt(price), venueFeePercent / 100)
    ghost.bought = ghost.tokens
    ghost.averagePrice = ghost.entry.lamports / 1e9 / ghost.tokens
    ghost.highPrice = ghost.averagePrice
    ghost.openedAt = time
    ghost.lastPrice = price
    ghost.lastTime = time
    this.#add(ghost.entry.bot, -ghost.entry.lamports - this.#costsOf(ghost).networkFeeLamports)
  }

  #close(ghost: Ghost, price: number): void {
    this.#sell(ghost, ghost.tokens, price)
  }

  #sell(ghost: Ghost, tokens: number, price: number): void {
    const { serviceFeePercent, venueFeePercent, networkFeeLamports } = this.#costsOf(ghost)
    const sol = price > 0 ? solFor(tokens, reservesAt(price), venueFeePercent / 100) * (1 - serviceFeePercent / 100) : 0
    ghost.tokens -= tokens
    this.#add(ghost.entry.bot, Math.round(sol * 1e9) - networkFeeLamports)
  }

  #add(bot: string, lamports: number): void {
    this.#net.set(bot, (this.#net.get(bot) ?? 0) + lamports)
  }

  #costsOf({ entry }: Ghost): GhostCosts {
    const costs = this.#costs.get(entry.bot)
    if (costs === undefined) throw new Error(`no costs for bot ${entry.bot}`)
    return costs
  }
}
