import { type Lamports, type Millis, type TokenAmount, ZERO } from '../../base/units.ts'
import type { ExitRules } from '../exits/exit-settings.ts'
import { type StepState, stepTokensDue } from '../exits/take-profit-steps.ts'
import { ByMint, type Owner } from './by-mint.ts'
import type { TripMark, TripSums } from './trip-sums.ts'

/** `opening`: no fill yet. `closing`: a sale is open. */
export type PositionState = 'opening' | 'open' | 'closing' | 'closed'

/** A bot's holding of a mint, valued at average cost. The position exists from the acceptance of its first buy. */
export interface Position {
  readonly account: string
  readonly bot: string
  readonly mint: string
  /** State, computed from the tokens held and the open orders; see `Book.settle`. */
  state: PositionState
  /** Base units held; 0n while opening. */
  tokens: TokenAmount
  decimals: number
  /** Cost of the tokens held, including the fees of venue and service. Network fees and rent are in `feeLamports`. */
  costLamports: Lamports
  /** Average price paid, SOL per whole token. Includes the fees of venue and service, but no network fees and no rent.
   *  0 while opening. */
  averagePrice: number
  openedAt: Millis
  /** Exit rules, fixed when the position opens. A changed configuration therefore affects new positions only. */
  exits: ExitRules
  /** Highest robust price since the position opened; 0 before the first price. */
  highPrice: number
  /** Profit of the sales: proceeds minus average cost. */
  realizedLamports: Lamports
  /** Base fees, priority fees and rent of all transactions, including failed ones. */
  feeLamports: Lamports
  /** Number of exit orders, including the open one, since an exit order last sold tokens. It selects the slippage and
   *  the priority fee with which the next exit order starts (`slippageLadder`, `priorityFeeLadder`). */
  exitTries: number
  /** Base units bought since the position opened. Take-profit steps are shares of this amount. Absent in positions of
   *  older versions. */
  bought?: TokenAmount
  /** State of the take-profit steps; absent before a step is reached. */
  steps?: StepState
  /** Reason of the exit that is due; the exit is retried until the position is sold. '' if none is due. */
  exiting: string
  /** Tag of the exit that is due; absent if it has none. */
  exitTag?: string
  /** Tag of the buy that opened the position; absent if it has none. */
  readonly tag?: string
  /** Present if a fork reopened the position after its result was counted for the number of losses in a row. */
  counted?: true
  /** Creator of the token, from its announcement; absent if the announcement was not seen. */
  creator?: string
  /** Base units sold beyond the known holding, because a fork placed the sale before its buy. The next tokens that
   *  arrive count as sold. Deleted once all fills of the mint are final, because the wallet then got the sold tokens
   *  from elsewhere. Absent means 0. */
  oversold?: TokenAmount
  /** Base units that a sale sold beyond the known holding although all fills were final. A buy in an earlier Solana
   *  slot may be found later; the sale then sold tokens of that buy. */
  soldEarly?: SoldEarly
  /** Sums of the round trip; absent in positions of older versions, and while nothing was filled. */
  trip?: TripSums
  /** The highest and the lowest profit since the position opened, computed at each new price; absent before the first
   *  price. */
  best?: TripMark
  worst?: TripMark
  /** Present if the strategy has already received the round trip, and a fork has reopened the position since. */
  reported?: true
}

export interface SoldEarly {
  /** Number of base units. */
  readonly tokens: TokenAmount
  /** Solana slot of the last sale of the mint. */
  readonly slot: number
}

/** After this many failed sales in a row, a position counts as unsellable and is worth nothing. Sales are still
 *  retried. */
export const UNSELLABLE_AFTER = 3

/** After this many failed sales, a position is written off. Failures that are not related to the token do not count. */
export const WRITTEN_OFF_AFTER = 20

/** Whether a position is written off: it counts as lost, and no limit counts it any more. Sales are still retried. */
export function isWrittenOff({ exitTries }: Position): boolean {
  return exitTries > WRITTEN_OFF_AFTER
}

/** Whether a position counts as worth nothing, because its sales fail. After a successful sale it counts at its value
 *  again. */
export function isUnsellable({ exitTries }: Position): boolean {
  return exitTries > UNSELLABLE_AFTER
}

/** Returns the reason and progress of the sale of a position; '' if the position is not being sold. */
export function sellingText(position: Position): string {
  const { exiting, steps, exitTries } = position
  const why = exiting !== '' || stepTokensDue(position) === 0n ? exiting : (steps?.reason ?? '')
  if (why === '' || exitTries < 2) return why
  return isUnsellable(position)
    ? `cannot be sold, tried ${exitTries} times: ${why}`
    : `${why}; tried ${exitTries} times`
}

export function newPosition(
  { account, bot, mint }: Pick<Position, 'account' | 'bot' | 'mint'>,
  openedAt: Millis,
  exits: ExitRules,
): Position {
  return {
    account,
    bot,
    mint,
    state: 'opening',
    tokens: 0n,
    decimals: 6,
    costLamports: ZERO,
    averagePrice: 0,
    openedAt,
    exits,
    highPrice: 0,
    realizedLamports: ZERO,
    feeLamports: ZERO,
    exitTries: 0,
    exiting: '',
  }
}

/** Reopens a closed position after a fork. The closed position keeps its results, and the reopened one starts with
 *  none, so that their sum is correct. */
export function reopened(position: Position): Position {
  if (position.state !== 'closed') return position
  return { ...position, realizedLamports: ZERO, feeLamports: ZERO, counted: true }
}

/** Fields of a position that are needed to record its highest price and its best and worst profit. */
export type Mark = Pick<Position, 'account' | 'mint' | 'highPrice' | 'best' | 'worst'>

export function markOf({ account, mint, highPrice, best, worst }: Mark): Mark {
  return { account, mint, highPrice, ...(best && { best }), ...(worst && { worst }) }
}

/** Positions that are not closed; at most one for each account and mint. */
export class Positions {
  readonly #byMint = new ByMint<Position>()
  /** Positions by bot and mint, in the order of opening. The key contains the bot in place of the account, because a
   *  bot that changed its account may hold a mint in both accounts. The lists are replaced and never changed. */
  readonly #byBot = new ByMint<readonly Position[]>()
  /** All positions in the order of opening; iterations use this order. */
  readonly #all = new Set<Position>()

  get(owner: Owner): Position | undefined {
    return this.#byMint.get(owner)
  }

  set(position: Position): void {
    const before = this.#byMint.get(position)
    if (before === position) return
    if (before !== undefined) this.delete(before)
    this.#byMint.set(position, position)
    const { bot, mint } = position
    this.#byBot.set({ account: bot, mint }, [...this.ofBot(bot, mint), position])
    this.#all.add(position)
  }

  delete(owner: Owner): void {
    const held = this.#byMint.get(owner)
    if (held === undefined) return
    this.#byMint.delete(owner)
    const { bot, mint } = held
    const left = this.ofBot(bot, mint).filter((other) => other !== held)
    if (left.length === 0) this.#byBot.delete({ account: bot, mint })
    else this.#byBot.set({ account: bot, mint }, left)
    this.#all.delete(held)
  }

  /** Returns the positions of one account, by mint. */
  of(account: string): ReadonlyMap<string, Position> {
    return this.#byMint.of(account)
  }

  /** Returns the positions of one bot in a mint. */
  ofBot(bot: string, mint: string): readonly Position[] {
    return this.#byBot.get({ account: bot, mint }) ?? NONE
  }

  /** Returns the positions of a mint. Walks through all accounts, because it is called rarely. */
  ofMint(mint: string): Position[] {
    const found = this.#byMint.ofMint(mint)
    return found.length < 2 ? found : this.all().filter((position) => position.mint === mint)
  }

  all(): Position[] {
    return [...this.#all]
  }
}

const NONE: readonly never[] = []
