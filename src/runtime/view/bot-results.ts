import { dayOf, type Lamports, lamportsToSol, type Millis, type Seq } from '../../base/units.ts'
import type { Position } from '../../engine/accounting/position.ts'
import { PositionSums } from '../../engine/accounting/position-sums.ts'
import type { Input, Output } from '../../engine/messages.ts'
import type { BotMoney, RecoveredMoney } from '../../engine/recovered-money.ts'
import type { PastResults } from '../../journal/reader/reader.ts'
import type { OpenOrders } from './open-orders.ts'
import type { BotStatus, Result } from './view.ts'

/** Parts of a result, lamports; `net` is computed from them. */
interface Sums {
  readonly realized: number
  readonly fees: number
  readonly unrealized: number
}

/** Returns the liquidation value of a position in lamports; undefined without a price. */
export type WorthOf = (position: Position) => Lamports | undefined

const NOTHING: Sums = { realized: 0, fees: 0, unrealized: 0 }
const NO_TRADES: Trades = { all: 0, won: 0 }
const NO_FEES = { dayFees: 0, dayRent: 0 }
export const NO_PAST: PastResults = { since: null, bots: [] }

type PastBot = PastResults['bots'][number]

/** The present UTC day of a bot. */
interface Day {
  /** Money of the bot, as the engine last emitted it. */
  readonly money: BotMoney
  /** Fees and realized profit from this start until the beginning of the day, lamports. Negative if the day began
   *  before this start. */
  readonly feesBefore: number
  readonly realizedBefore: number
}

/** Number of closed positions, and of those that earned more than their network fees and rent. */
interface Trades {
  readonly all: number
  readonly won: number
}

/** Results of the bots of a process, since its start and since the beginning of the journal. */
export class BotResults {
  readonly #sums = new PositionSums()
  #past: PastResults = NO_PAST
  /** Results that the open positions already had at the start of this process, by bot. They are subtracted from the
   *  later results of these positions. */
  readonly #before = new Map<string, Sums>()
  /** Fees since the start that belong to no position, by bot, lamports. */
  readonly #stray = new Map<string, number>()
  readonly #days = new Map<string, Day>()
  readonly #trades = new Map<string, Trades>()
  /** Seq of the last input, its fee, and the bot that paid it. */
  #late = { seq: 0, fee: 0, bot: '' }

  /** Positions that are not closed. */
  get open(): Map<string, Position> {
    return this.#sums.open
  }

  /** Positions of a bot that are not closed. */
  heldBy(bot: string): Position[] {
    return [...this.open.values()].filter((position) => position.bot === bot)
  }

  /** Time of the first start that the journal recorded; null if this is the first one. */
  get since(): Millis | null {
    return this.#past.since
  }

  /** Restores the results that earlier processes left. `worthOf` returns the value that a position had when the tape
   *  ended, before this start. */
  restore(money: Pick<RecoveredMoney, 'positions' | 'bots'>, past: PastResults, worthOf: WorthOf): void {
    this.#sums.restore(money)
    this.#past = past
    for (const { account, bot, trades, won } of past.bots) this.#trades.set(keyOf(account, bot), { all: trades, won })
    for (const bot of new Set([...this.open.values()].map((position) => position.bot)))
      this.#before.set(bot, { ...this.#sums.resultOf(bot), unrealized: this.#unrealized(bot, worthOf) })
    for (const one of money.bots) this.#continueDay(one, this.#pastOf(one.account, one.bot) ?? NO_FEES)
  }

  /** Takes over the results of a recorded journal, also those since the start of the journal's last segment. */
  endWith(past: PastResults): void {
    const bots = past.bots.map((one) => {
      const { realized, fees } = this.#sinceStart(one.bot, () => undefined)
      return { ...one, realized: one.realized - realized, fees: one.fees - fees }
    })
    this.#past = { ...past, bots }
    for (const one of past.bots) {
      this.#trades.set(keyOf(one.account, one.bot), { all: one.trades, won: one.won })
      const day = this.#days.get(keyOf(one.account, one.bot))
      if (day !== undefined) this.#continueDay(day.money, one)
    }
  }

  /** Result of a bot since the start of this process. */
  sinceStart(bot: string, worthOf: WorthOf): Result {
    return resultOf(this.#sinceStart(bot, worthOf))
  }

  /** Receives every input of the engine before the engine's outputs for it. A failed attempt may be reported after its
   *  position has closed. The engine then outputs no position with the fee of this attempt, so the fee is counted here.
   *  `orders`: a backtest does not output the bot that paid, so the bot is taken from the order. */
  hear(seq: Seq, input: Input, orders: Pick<OpenOrders, 'find'>): void {
    this.#settle()
    const late = input.kind === 'report' ? input.report : undefined
    const failed = late?.feeLamports ?? 0
    this.#late = { seq, fee: failed, bot: (failed > 0 && orders.find(late?.orderId ?? '')?.order.bot) || '' }
  }

  take(seq: Seq, output: Output): void {
    // `hear` is not called for rows, so an output with another seq belongs to a market row after the last input.
    if (seq !== this.#late.seq) this.#settle()
    if (output.kind === 'bot') {
      this.#dayOf(output.money)
      this.#late.bot = output.money.bot
    }
    if (output.kind !== 'position') return
    this.#late.fee = 0
    this.#sums.note(output.position)
    if (output.position.state === 'closed' && output.position.averagePrice > 0) this.#closed(output.position)
  }

  #settle(): void {
    const { fee, bot } = this.#late
    if (fee > 0 && bot !== '') this.#stray.set(bot, (this.#stray.get(bot) ?? 0) + fee)
    this.#late.fee = 0
  }

  /** Result of a bot since the present UTC day began. The engine computes its own daily result, for the loss limits.
   *  The two differ, because here a position without a price is worth its cost. */
  today(bot: string, account: string, worthOf: WorthOf, now: Millis): Result {
    const day = this.#days.get(keyOf(account, bot))
    if (day === undefined || day.money.day !== dayOf(now)) return resultOf(NOTHING)
    const unrealized = this.#unrealized(bot, worthOf) - day.money.dayStartUnrealizedLamports
    const realized = this.#realizedOf(bot) - day.realizedBefore
    return resultOf({ realized, fees: this.#feesOf(bot) - day.feesBefore, unrealized })
  }

  /** Number of positions that a bot closed since the beginning of the journal, and the percentage of them that earned
   *  more than their network fees and rent; null if none closed. */
  trades(bot: string, account: string): { readonly trades: number; readonly winPercent: number | null } {
    const { all, won } = this.#trades.get(keyOf(account, bot)) ?? NO_TRADES
    return { trades: all, winPercent: all === 0 ? null : (won / all) * 100 }
  }

  #closed({ account, bot, realizedLamports, feeLamports }: Position): void {
    const { all, won } = this.#trades.get(keyOf(account, bot)) ?? NO_TRADES
    const isWon = realizedLamports > feeLamports
    this.#trades.set(keyOf(account, bot), { all: all + 1, won: won + (isWon ? 1 : 0) })
  }

  #dayOf(money: BotMoney): void {
    const key = keyOf(money.account, money.bot)
    const before = this.#days.get(key)
    const isSame = before !== undefined && before.money.day === money.day
    const since = isSame ? before : { feesBefore: this.#feesOf(money.bot), realizedBefore: this.#realizedOf(money.bot) }
    this.#days.set(key, { ...since, money })
  }

  /** Continues a day that began before this start. `money.dayRealizedLamports` is the profit after fees, but before
   *  rent. */
  #continueDay(money: BotMoney, { dayFees, dayRent }: Pick<PastBot, 'dayFees' | 'dayRent'>): void {
    const realizedBefore = this.#realizedOf(money.bot) - (money.dayRealizedLamports + dayFees - dayRent)
    const feesBefore = this.#feesOf(money.bot) - dayFees
    this.#days.set(keyOf(money.account, money.bot), { money, feesBefore, realizedBefore })
  }

  /** Realized profit of a bot since this start, lamports. */
  #realizedOf(bot: string): number {
    return this.#sums.resultOf(bot).realized - (this.#before.get(bot) ?? NOTHING).realized
  }

  /** Fees of a bot since this start, lamports. */
  #feesOf(bot: string): number {
    const late = this.#late.bot === bot ? this.#late.fee : 0
    const stray = (this.#stray.get(bot) ?? 0) + late
    return this.#sums.resultOf(bot).fees + stray - (this.#before.get(bot) ?? NOTHING).fees
  }

  #pastOf(account: string, bot: string): PastBot | undefined {
    return this.#past.bots.find((one) => one.bot === bot && one.account === account)
  }

  /** Result of a bot in its account since the first start that the journal recorded. */
  sinceBeginning(bot: string, account: string, worthOf: WorthOf): Result {
    const past = this.#pastOf(account, bot)
    const { realized, fees } = this.#sinceStart(bot, worthOf)
    const sums = { realized: realized + (past?.realized ?? 0), fees: fees + (past?.fees ?? 0) }
    return resultOf({ ...sums, unrealized: this.#unrealized(bot, worthOf) })
  }

  #sinceStart(bot: string, worthOf: WorthOf): Sums {
    const before = this.#before.get(bot) ?? NOTHING
    return {
      realized: this.#realizedOf(bot),
      fees: this.#feesOf(bot),
      unrealized: this.#unrealized(bot, worthOf) - before.unrealized,
    }
  }

  #unrealized(bot: string, worthOf: WorthOf): number {
    let sum = 0
    for (const position of this.open.values()) {
      const value = position.bot === bot ? worthOf(position) : undefined
      if (value !== undefined) sum += value - position.costLamports
    }
    return sum
  }
}

function resultOf({ realized, fees, unrealized }: Sums): Result {
  return {
    realizedSol: lamportsToSol(realized),
    feesSol: lamportsToSol(fees),
    unrealizedSol: lamportsToSol(unrealized),
    netSol: lamportsToSol(realized - fees + unrealized),
  }
}

/** Bots whose results may be added up. */
export interface SummedBots {
  /** `all bots`, or `all live` and `all paper`. */
  readonly label: string
  readonly bots: readonly BotStatus[]
}

/** Groups the bots by mode, for modes with more than one bot. Paper money and real money are never added up. */
export function summedBots(bots: readonly BotStatus[]): SummedBots[] {
  const modes = [...new Set(bots.map(({ mode }) => mode))]
  return modes
    .map((mode) => ({ label: modes.length === 1 ? 'all bots' : `all ${mode}`, bots: botsOf(bots, mode) }))
    .filter((one) => one.bots.length > 1)
}

/** The bots of each wallet with a name. */
export function botsByWallet(bots: readonly BotStatus[]): SummedBots[] {
  const named = Map.groupBy(bots, ({ wallet }) => wallet)
  return [...named].flatMap(([name, own]) => (name === undefined ? [] : [{ label: `wallet ${name}`, bots: own }]))
}

function botsOf(bots: readonly BotStatus[], mode: string): BotStatus[] {
  return bots.filter((bot) => bot.mode === mode)
}

/** Net result since this start as text: one amount for each mode. */
export function netText(bots: readonly BotStatus[], textOf: (sol: number) => string): string {
  const modes = [...new Set(bots.map(({ mode }) => mode))]
  const nets = modes.map((mode) => textOf(totalOf(botsOf(bots, mode).map(({ sinceStart }) => sinceStart)).netSol))
  return modes.length === 1 ? `${nets[0]} SOL` : modes.map((mode, index) => `${nets[index]} SOL ${mode}`).join(', ')
}

/** Sum of several results, rounded to the lamport. */
export function totalOf(results: readonly Result[]): Result {
  const sumOf = (key: keyof Result): number => Math.round(results.reduce((all, one) => all + one[key] * 1e9, 0))
  return resultOf({ realized: sumOf('realizedSol'), fees: sumOf('feesSol'), unrealized: sumOf('unrealizedSol') })
}

function keyOf(account: string, bot: string): string {
  return `${account}|${bot}`
}
