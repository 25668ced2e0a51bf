import { dayOf, type Lamports, lamportsToSol, type Millis, type Seq } from '../../base/units.ts'
import type { Position } from '../../engine/accounting/position.ts'
import type { Input, Output } from '../../engine/messages.ts'
import type { BotMoney, RecoveredMoney } from '../../engine/recovered-money.ts'
import type { PastResults } from '../../journal/reader/reader.ts'
import type { OpenOrders } from './open-orders.ts'
import { botKey, PositionSums, type SumsOfPositions } from './position-sums.ts'
import type { BotStatus, Result } from './view.ts'

/** Parts of a result, lamports; `net` is computed from them. */
interface Sums extends SumsOfPositions {
  readonly unrealized: number
}

/** Returns the liquidation value of a position in lamports; undefined without a price. */
export type WorthOf = (position: Position) => Lamports | undefined

/** Values of the open positions minus their costs, by `botKey`, lamports. */
export type Unrealized = ReadonlyMap<string, number>

const NOTHING: Sums = { realized: 0, fees: 0, unrealized: 0 }
const NO_TRADES: Trades = { all: 0, won: 0 }
const NO_FEES = { dayFees: 0, dayRent: 0 }
export const NO_PAST: PastResults = { since: null, bots: [] }

type PastBot = PastResults['bots'][number]

/** The present UTC day of a bot. */
interface Day {
  /** Money of the bot, as the engine last emitted it. */
  readonly money: BotMoney
  /** Amount that is subtracted from the fees since the start of the process to get the fees of the day, lamports.
   *  `realizedBefore`: the same for the realized profit. The amounts are negative sums if the day began before the
   *  process started. */
  readonly feesBefore: number
  readonly realizedBefore: number
}

/** Number of closed positions, and of those that earned more than their network fees and rent. */
interface Trades {
  readonly all: number
  readonly won: number
}

/** Results of the bots of a process, since its start and since the beginning of the journal. Each result belongs to one
 *  bot in one account, so after a change of its wallet, a bot begins with results of 0. */
export class BotResults {
  readonly #sums = new PositionSums()
  #past: PastResults = NO_PAST
  /** Results that the open positions already had at the start of this process. They are subtracted from the later
   *  results of these positions. The keys of this map and of the next three maps come from `botKey`. */
  readonly #before = new Map<string, Sums>()
  /** Fees since the start that belong to no position, lamports. */
  readonly #stray = new Map<string, number>()
  readonly #days = new Map<string, Day>()
  readonly #trades = new Map<string, Trades>()
  /** `seq`: that of the last input. `fee`: fee of the failed attempt that this input reported; 0 if there is none,
   *  or if the fee has been counted. `bot`: key of the bot that paid the fee; '' if unknown. */
  #late = { seq: 0, fee: 0, bot: '' }

  /** Positions that are not closed. */
  get open(): Map<string, Position> {
    return this.#sums.open
  }

  /** Values of the open positions minus their costs. A position without a value counts with its cost. */
  unrealized(worthOf: WorthOf): Unrealized {
    const sums = new Map<string, number>()
    let [account, bot, key] = ['', '', '']
    for (const position of this.open.values()) {
      const value = worthOf(position)
      if (value === undefined) continue
      // Most positions have the same account and bot as the previous position, so the key is rarely built.
      if (position.bot !== bot || position.account !== account) {
        ;({ account, bot } = position)
        key = botKey(account, bot)
      }
      sums.set(key, (sums.get(key) ?? 0) + value - position.costLamports)
    }
    return sums
  }

  /** Time of the first start that the journal recorded; null if the present start is the first one. */
  get since(): Millis | null {
    return this.#past.since
  }

  /** Restores the results that earlier processes left. `worthOf` returns the value that a position had when the tape
   *  ended, before this start. */
  restore(money: Pick<RecoveredMoney, 'positions' | 'bots'>, past: PastResults, worthOf: WorthOf): void {
    this.#sums.restore(money)
    this.#past = past
    for (const { account, bot, trades, won } of past.bots) this.#trades.set(botKey(account, bot), { all: trades, won })
    const unrealized = this.unrealized(worthOf)
    for (const { account, bot } of this.open.values()) {
      const key = botKey(account, bot)
      if (!this.#before.has(key))
        this.#before.set(key, { ...this.#sums.of(account, bot), unrealized: unrealized.get(key) ?? 0 })
    }
    for (const one of money.bots) this.#continueDay(one, this.#pastOf(one.account, one.bot) ?? NO_FEES)
  }

  /** Takes over the results of a recorded journal, including those since the last start of the process. */
  endWith(past: PastResults): void {
    const bots = past.bots.map((one) => {
      const { realized, fees } = this.#sinceStart(one.account, one.bot)
      return { ...one, realized: one.realized - realized, fees: one.fees - fees }
    })
    this.#past = { ...past, bots }
    for (const one of past.bots) {
      this.#trades.set(botKey(one.account, one.bot), { all: one.trades, won: one.won })
      const day = this.#days.get(botKey(one.account, one.bot))
      if (day !== undefined) this.#continueDay(day.money, one)
    }
  }

  /** Result of a bot in its account since the start of this process. */
  sinceStart(account: string, bot: string, unrealized: Unrealized): Result {
    const before = this.#before.get(botKey(account, bot)) ?? NOTHING
    const now = unrealized.get(botKey(account, bot)) ?? 0
    return resultOf({ ...this.#sinceStart(account, bot), unrealized: now - before.unrealized })
  }

  /** Receives every input of the engine, before the outputs that the engine makes from this input. A report about a
   *  failed attempt may arrive after the position has closed. The engine then outputs no position that contains the fee
   *  of the attempt, so the fee is counted here. `orders`: the open orders. In a backtest, no output names the bot that
   *  paid the fee, so the bot is taken from the order. */
  hear(seq: Seq, input: Input, orders: Pick<OpenOrders, 'find'>): void {
    this.#settle()
    const late = input.kind === 'report' ? input.report : undefined
    const failed = late?.feeLamports ?? 0
    const order = failed > 0 ? orders.find(late?.orderId ?? '')?.order : undefined
    this.#late = { seq, fee: failed, bot: order === undefined ? '' : botKey(order.account, order.bot) }
  }

  take(seq: Seq, output: Output): void {
    // `hear` is called for inputs only. If the seq of this output is not that of the last input, the output belongs to
    // a later market row.
    if (seq !== this.#late.seq) this.#settle()
    if (output.kind === 'bot') {
      this.#dayOf(output.money)
      this.#late.bot = botKey(output.money.account, output.money.bot)
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
   *  The two differ, because this result values a position without a price at its cost. */
  today(account: string, bot: string, unrealized: Unrealized, now: Millis): Result {
    const day = this.#days.get(botKey(account, bot))
    if (day === undefined || day.money.day !== dayOf(now)) return resultOf(NOTHING)
    const sums = this.#sinceStart(account, bot)
    return resultOf({
      realized: sums.realized - day.realizedBefore,
      fees: sums.fees - day.feesBefore,
      unrealized: (unrealized.get(botKey(account, bot)) ?? 0) - day.money.dayStartUnrealizedLamports,
    })
  }

  /** Number of positions that a bot closed since the beginning of the journal, and the percentage of them that earned
   *  more than their network fees and rent; null if none closed. */
  trades(account: string, bot: string): { readonly trades: number; readonly winPercent: number | null } {
    const { all, won } = this.#trades.get(botKey(account, bot)) ?? NO_TRADES
    return { trades: all, winPercent: all === 0 ? null : (won / all) * 100 }
  }

  #closed({ account, bot, realizedLamports, feeLamports }: Position): void {
    const { all, won } = this.#trades.get(botKey(account, bot)) ?? NO_TRADES
    const isWon = realizedLamports > feeLamports
    this.#trades.set(botKey(account, bot), { all: all + 1, won: won + (isWon ? 1 : 0) })
  }

  #dayOf(money: BotMoney): void {
    const key = botKey(money.account, money.bot)
    const before = this.#days.get(key)
    if (before !== undefined && before.money.day === money.day) {
      this.#days.set(key, { ...before, money })
      return
    }
    const { realized, fees } = this.#sinceStart(money.account, money.bot)
    this.#days.set(key, { money, feesBefore: fees, realizedBefore: realized })
  }

  /** Continues a day that began before this start. `money.dayRealizedLamports` is the profit after fees, but before
   *  rent. */
  #continueDay(money: BotMoney, { dayFees, dayRent }: Pick<PastBot, 'dayFees' | 'dayRent'>): void {
    const { realized, fees } = this.#sinceStart(money.account, money.bot)
    const realizedBefore = realized - (money.dayRealizedLamports + dayFees - dayRent)
    this.#days.set(botKey(money.account, money.bot), { money, feesBefore: fees - dayFees, realizedBefore })
  }

  #sinceStart(account: string, bot: string): SumsOfPositions {
    const key = botKey(account, bot)
    const { realized, fees } = this.#sums.of(account, bot)
    const before = this.#before.get(key) ?? NOTHING
    const late = this.#late.bot === key ? this.#late.fee : 0
    const stray = (this.#stray.get(key) ?? 0) + late
    return { realized: realized - before.realized, fees: fees + stray - before.fees }
  }

  #pastOf(account: string, bot: string): PastBot | undefined {
    return this.#past.bots.find((one) => one.bot === bot && one.account === account)
  }

  /** Result of a bot in its account since the first start that the journal recorded. */
  sinceBeginning(account: string, bot: string, unrealized: Unrealized): Result {
    const past = this.#pastOf(account, bot)
    const { realized, fees } = this.#sinceStart(account, bot)
    const sums = { realized: realized + (past?.realized ?? 0), fees: fees + (past?.fees ?? 0) }
    return resultOf({ ...sums, unrealized: unrealized.get(botKey(account, bot)) ?? 0 })
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

/** Groups the bots by wallet. Bots of a wallet without a name are left out. */
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
