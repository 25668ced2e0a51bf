import {
  type Lamports,
  lamports,
  type Millis,
  solToLamports,
  type TokenAmount,
  wholeTokens,
  ZERO,
} from '../../base/units.ts'
import type { ExitRules } from '../exits/exit-rules.ts'
import type { Fill } from '../order.ts'
import { ByMint, type Owner } from './by-mint.ts'

export type PositionState = 'opening' | 'open' | 'closing' | 'closed'

/** What a bot holds of a mint. It exists from the moment its first buy is accepted. Average cost. */
export interface Position {
  readonly account: string
  readonly bot: string
  readonly mint: string
  /** Follows from what is held and which orders are open; see `Book.settle`. */
  state: PositionState
  /** Base units held; 0n while opening. */
  tokens: TokenAmount
  decimals: number
  /** Paid for the tokens held, the venue's fee inside; network fee and rent are in `feeLamports`. */
  costLamports: Lamports
  /** What was paid, SOL a whole token: the fees of venue and service are inside, network fees and rent are not; 0 while
   *  opening. */
  averagePrice: number
  openedAt: Millis
  /** Fixed when the position opens; an edited configuration changes new positions only. */
  exits: ExitRules
  /** Highest robust price since it opened; 0 before the first. */
  highPrice: number
  /** Profit of what was sold: proceeds less average cost. */
  realizedLamports: Lamports
  /** Base fee, priority fee and rent of its transactions, failed ones included. */
  feeLamports: Lamports
  /** Sales by its exits since the last one that sold, with the one that is out: how far up the ladder the next one
   *  starts. */
  exitTries: number
  /** Bought since it opened, base units: what the shares of its take-profit steps are of. Absent where it opened before
   *  there were any. */
  bought?: TokenAmount
  /** What its take-profit steps have asked for; absent before the first. */
  steps?: StepState
  /** Why it is being sold, once an exit is due; it is then tried until it is done. Empty before. */
  exiting: string
  /** It was closed once, and counted as won or lost, and a fork gave it back. */
  counted?: true
  /** Who made the token, as its announcement said; absent: nobody saw it. */
  creator?: string
  /** Sold beyond what was known to be held, by a sale that a fork put before what it had followed: whatever comes in
   *  next was sold already. Forgotten once nothing of the mint can be taken back any more, because then it had come
   *  from elsewhere. Absent: nothing. */
  oversold?: TokenAmount
  /** Sold beyond the books when nothing could be taken back any more. A buy that landed by then and is found late was
   *  sold with the rest. */
  soldEarly?: SoldEarly
}

export interface SoldEarly {
  /** Base units. */
  readonly tokens: TokenAmount
  /** The last sale's. */
  readonly slot: number
}

export interface StepState {
  /** Steps that were reached. */
  readonly taken: number
  /** Base units that they sell together. */
  readonly tokens: TokenAmount
  /** Of the last one. */
  readonly reason: string
}

/** So many sales in a row that failed: it is taken for one that cannot be sold. Tries go on all the same. */
export const UNSELLABLE_AFTER = 3

/** And so many, without those that say nothing about the token: it is written off. */
export const WRITTEN_OFF_AFTER = 20

/** Whether selling it has failed for so long that it takes nobody's place any more, though it is tried on: in any limit
 *  it is lost. */
export function isWrittenOff({ exitTries }: Position): boolean {
  return exitTries > WRITTEN_OFF_AFTER
}

/** Whether selling it has failed so often that it is worth nothing until a sale goes through. */
export function isUnsellable({ exitTries }: Position): boolean {
  return exitTries > UNSELLABLE_AFTER
}

/** Why all or a part of it is being sold, and how well that goes; '' where nothing is. */
export function sellingText(position: Position): string {
  const { exiting, steps, exitTries } = position
  const why = exiting !== '' || stepTokensDue(position) === 0n ? exiting : (steps?.reason ?? '')
  if (why === '' || exitTries < 2) return why
  return isUnsellable(position)
    ? `cannot be sold, tried ${exitTries} times: ${why}`
    : `${why}; tried ${exitTries} times`
}

/** Of what is bought: a step that leaves no more than this is done, for a share goes out with two decimals of a
 *  percent. So no part may be as small: it would count as sold before it is. */
export const LEAST_PART_PERCENT = 0.1
const STEP_REMAINDER = 1_000n

/** What the steps of a take-profit have asked for and nothing has sold yet, base units. Whatever sold counts, so that
 *  nothing is sold twice and nothing is forgotten, whichever sale failed, came late or was taken back. */
export function stepTokensDue({ tokens, steps, bought = 0n, exiting }: Position): TokenAmount {
  if (steps === undefined || exiting !== '') return 0n
  const sold = bought > tokens ? bought - tokens : 0n
  const due = steps.tokens - sold
  if (due * STEP_REMAINDER <= bought) return 0n
  return due > tokens ? tokens : due
}

/** The present exits from now on: their shares are of what is held. What is due by those before stays due. */
export function restartSteps(position: Position): void {
  const due = stepTokensDue(position)
  const { steps } = position
  position.bought = position.tokens
  delete position.steps
  if (steps !== undefined && due > 0n) position.steps = { taken: 0, tokens: due, reason: steps.reason }
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

/** The position that a fork gives something back to. What a closed one it had earned and paid stays with the closed
 *  one, so that the sum of both is right. */
export function reopened(position: Position): Position {
  if (position.state !== 'closed') return position
  return { ...position, realizedLamports: ZERO, feeLamports: ZERO, counted: true }
}

/** Tokens came in; the profit, which is none. */
export function addTokens(position: Position, fill: Fill): Lamports {
  const opens = position.tokens === 0n
  const { bought = position.tokens, oversold = 0n } = position
  // All of it was sold while this was on its way in. What a fork only puts into another order is none of that.
  const isAnew = opens && bought > 0n && oversold === 0n
  if (isAnew) delete position.steps
  position.bought = isAnew ? fill.tokens : bought + fill.tokens
  const share = putIn(position, fill.tokens)
  position.decimals = fill.decimals
  setCost(position, position.costLamports + Math.round(fill.tradeLamports * share))
  if (position.tokens > 0n)
    position.averagePrice = position.costLamports / 1e9 / wholeTokens(position.tokens, position.decimals)
  if (opens) Object.assign(position, { openedAt: fill.time, highPrice: position.averagePrice })
  return ZERO
}

/** Tokens went out; the profit. More than was held is an execution all the same: its proceeds count, the cost cannot go
 *  below nothing. */
export function removeTokens(position: Position, fill: Fill): Lamports {
  const share = position.tokens === 0n ? 1 : Math.min(1, Number(fill.tokens) / Number(position.tokens))
  const cost = Math.round(position.costLamports * share)
  takeOut(position, fill.tokens)
  setCost(position, position.tokens === 0n ? 0 : position.costLamports - cost)
  return earn(position, fill.tradeLamports - cost)
}

/** A fork took a buy back; the profit, which is none. */
export function undoBuy(position: Position, fill: Fill): Lamports {
  const { bought = position.tokens } = position
  position.bought = bought > fill.tokens ? bought - fill.tokens : 0n
  takeOut(position, fill.tokens)
  setCost(position, position.tokens === 0n ? 0 : position.costLamports - fill.tradeLamports)
  return ZERO
}

/** A fork took a sale back; the profit that goes with it, negated. What was sold comes back at its average price, and
 *  where that is not known any more at what it was sold for. */
export function undoSale(position: Position, fill: Fill): Lamports {
  const average = solToLamports(position.averagePrice * wholeTokens(fill.tokens, fill.decimals))
  const cost = position.averagePrice > 0 ? average : fill.tradeLamports
  const share = putIn(position, fill.tokens)
  position.decimals = fill.decimals
  setCost(position, position.costLamports + Math.round(cost * share))
  if (position.averagePrice === 0 && position.tokens > 0n)
    position.averagePrice = position.costLamports / 1e9 / wholeTokens(position.tokens, position.decimals)
  position.highPrice = Math.max(position.highPrice, position.averagePrice)
  return earn(position, cost - fill.tradeLamports)
}

/** Which share of it stays: the rest was sold already. */
function putIn(position: Position, tokens: TokenAmount): number {
  const { oversold = 0n } = position
  const owed = oversold < tokens ? oversold : tokens
  if (owed > 0n) position.oversold = oversold - owed
  position.tokens += tokens - owed
  return owed === 0n ? 1 : Number(tokens - owed) / Number(tokens)
}

function takeOut(position: Position, tokens: TokenAmount): void {
  const left = position.tokens - tokens
  position.tokens = left < 0n ? 0n : left
  if (left < 0n) position.oversold = (position.oversold ?? 0n) - left
}

function setCost(position: Position, cost: number): void {
  position.costLamports = lamports(Math.max(0, cost))
}

function earn(position: Position, profit: number): Lamports {
  position.realizedLamports = lamports(position.realizedLamports + profit)
  return lamports(profit)
}

/** The part of a position that a mark is of. */
export type Mark = Pick<Position, 'account' | 'mint' | 'highPrice'>

/** Positions that are not closed, at most one of an account in a mint. */
export class Positions {
  readonly #byMint = new ByMint<Position>()
  /** In the order in which they were opened, whoever's they are: what goes through all of them does it in this
   *  order. */
  readonly #all = new Set<Position>()

  get(owner: Owner): Position | undefined {
    return this.#byMint.get(owner)
  }

  set(position: Position): void {
    const before = this.#byMint.get(position)
    if (before === position) return
    if (before !== undefined) this.delete(before)
    this.#byMint.set(position, position)
    this.#all.add(position)
  }

  delete(owner: Owner): void {
    const held = this.#byMint.get(owner)
    if (held === undefined) return
    this.#byMint.delete(owner)
    this.#all.delete(held)
  }

  /** What one account holds, by mint. */
  of(account: string): ReadonlyMap<string, Position> {
    return this.#byMint.of(account)
  }

  ofMint(mint: string): Position[] {
    const found = this.#byMint.ofMint(mint)
    return found.length < 2 ? found : this.all().filter((position) => position.mint === mint)
  }

  all(): Position[] {
    return [...this.#all]
  }
}
