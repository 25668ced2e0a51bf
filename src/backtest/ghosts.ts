import type { TokenId } from '../core/block.ts'
import { reservesAt, solFor, tokensFor } from '../core/curve.ts'
import { dueExit, type ExitRules } from '../core/exits.ts'
import type { Mints } from '../core/mints.ts'
import type { Millis } from '../core/units.ts'

/** An entry that was decided and not filled. */
export interface MissedEntry {
  readonly bot: string
  readonly mint: string
  /** When it would have landed. */
  readonly time: Millis
  readonly lamports: number
  readonly exits: ExitRules
}

/** What a trade costs, each way. */
export interface GhostCosts {
  readonly venueFeePercent: number
  readonly serviceFeePercent: number
  readonly networkFeeLamports: number
  /** A token without a print for so long is worth nothing, ms. */
  readonly deadAfterMs: number
}

interface Ghost {
  readonly entry: MissedEntry
  /** 0 until there is a price at or after its time. */
  tokens: number
  averagePrice: number
  highPrice: number
  openedAt: Millis
  lastPrice: number
  lastTime: Millis
}

/** What entries that were missed would have made: bought at the robust price when they would have landed, and sold at the one that an exit
 *  asked for, at once and without a bound. Kinder than a fill, so that nobody calls them losses who does not know. */
export class Ghosts {
  readonly #mints: Mints
  readonly #costs: ReadonlyMap<string, GhostCosts>
  readonly #waiting = new Map<string, Ghost[]>()
  readonly #byToken = new Map<TokenId, Ghost[]>()
  readonly #net = new Map<string, number>()

  /** `costs` by bot. */
  constructor(mints: Mints, entries: readonly MissedEntry[], costs: ReadonlyMap<string, GhostCosts>) {
    this.#mints = mints
    this.#costs = costs
    for (const entry of entries) {
      const ghost = { entry, tokens: 0, averagePrice: 0, highPrice: 0, openedAt: 0, lastPrice: 0, lastTime: 0 }
      this.#waiting.set(entry.mint, [...(this.#waiting.get(entry.mint) ?? []), ghost])
      this.#net.set(entry.bot, 0)
    }
  }

  /** A token has a robust price, SOL a token. */
  price(token: TokenId, time: Millis, price: number): void {
    if (this.#waiting.size === 0) return
    let ghosts = this.#byToken.get(token)
    if (ghosts === undefined) {
      ghosts = this.#waiting.get(this.#mints.list[token] as string) ?? []
      this.#byToken.set(token, ghosts)
    }
    if (ghosts.length === 0) return
    this.#byToken.set(
      token,
      ghosts.filter((ghost) => !this.#follow(ghost, time, price)),
    )
  }

  /** At the end of the tape: lamports by bot. Those that found no price made nothing. */
  end(to: Millis): ReadonlyMap<string, number> {
    for (const ghosts of this.#byToken.values())
      for (const ghost of ghosts) {
        const isDead = to - ghost.lastTime > this.#costsOf(ghost).deadAfterMs
        if (ghost.tokens > 0) this.#close(ghost, isDead ? 0 : ghost.lastPrice)
      }
    return this.#net
  }

  /** Whether it is over. */
  #follow(ghost: Ghost, time: Millis, price: number): boolean {
    const { entry } = ghost
    if (time < entry.time) return false
    if (ghost.tokens === 0) this.#open(ghost, time, price)
    Object.assign(ghost, { lastPrice: price, lastTime: time, highPrice: Math.max(ghost.highPrice, price) })
    const { maxHoldSeconds } = entry.exits
    const isOld = maxHoldSeconds !== undefined && time >= ghost.openedAt + maxHoldSeconds * 1000
    if (!isOld && dueExit(entry.exits, ghost.averagePrice, ghost.highPrice, price) === undefined) return false
    this.#close(ghost, price)
    return true
  }

  #open(ghost: Ghost, time: Millis, price: number): void {
    const { serviceFeePercent, venueFeePercent } = this.#costsOf(ghost)
    const sol = (ghost.entry.lamports / 1e9) * (1 - serviceFeePercent / 100)
    ghost.tokens = tokensFor(sol, reservesAt(price), venueFeePercent / 100)
    ghost.averagePrice = ghost.entry.lamports / 1e9 / ghost.tokens
    ghost.highPrice = ghost.averagePrice
    ghost.openedAt = time
  }

  #close({ entry, tokens }: Ghost, price: number): void {
    const { serviceFeePercent, venueFeePercent, networkFeeLamports } = this.#costsOf({ entry })
    const sol = price > 0 ? solFor(tokens, reservesAt(price), venueFeePercent / 100) * (1 - serviceFeePercent / 100) : 0
    const net = Math.round(sol * 1e9) - entry.lamports - 2 * networkFeeLamports
    this.#net.set(entry.bot, (this.#net.get(entry.bot) ?? 0) + net)
  }

  #costsOf({ entry }: Pick<Ghost, 'entry'>): GhostCosts {
    const costs = this.#costs.get(entry.bot)
    if (costs === undefined) throw new Error(`no costs of ${entry.bot}`)
    return costs
  }
}
