import { type Lamports, lamportsToSol, type Millis } from '../base/units.ts'
import type { Position } from '../engine/accounting/position.ts'
import { PositionSums } from '../engine/accounting/position-sums.ts'
import type { Input, Output } from '../engine/messages.ts'
import type { RecoveredMoney } from '../engine/recovered-money.ts'
import type { PastResults } from '../journal/reader/reader.ts'

/** Result of a bot over a time, in SOL: `netSol = realizedSol - feesSol + unrealizedSol`. */
export interface Result {
  /** Proceeds of the sales minus the average cost of the tokens sold, fees of venue and service included. */
  readonly realizedSol: number
  /** Network fees and rent that was not returned. */
  readonly feesSol: number
  /** Change of the liquidation value of the open positions minus their cost. A position without a price counts as
   *  worth its cost. */
  readonly unrealizedSol: number
  readonly netSol: number
}

/** Lamports of a result; `net` follows from them. */
interface Sums {
  readonly realized: number
  readonly fees: number
  readonly unrealized: number
}

/** Returns the liquidation value of a position in lamports; undefined without a price. */
export type WorthOf = (position: Position) => Lamports | undefined

const NOTHING: Sums = { realized: 0, fees: 0, unrealized: 0 }
export const NO_PAST: PastResults = { since: null, bots: [] }

/** Results of the bots of a process, since its start and since the beginning of the journal. */
export class BotResults {
  readonly #sums = new PositionSums()
  #past: PastResults = NO_PAST
  /** Results of the positions that were open at the start, by bot. They belong to the time before the start. */
  readonly #before = new Map<string, Sums>()
  /** Fees since the start that belong to no position, by bot, lamports. */
  readonly #stray = new Map<string, number>()
  /** Fee of the last input, and the bot that paid it. */
  #late = { fee: 0, bot: '' }

  /** Positions that are not closed. */
  get open(): Map<string, Position> {
    return this.#sums.open
  }

  /** Time of the first start that the journal recorded; null if this is the first one. */
  get since(): Millis | null {
    return this.#past.since
  }

  /** Restores what earlier processes left. `worthOf`: values at the end of the tape before this start. */
  restore(money: Pick<RecoveredMoney, 'positions'>, past: PastResults, worthOf: WorthOf): void {
    this.#sums.restore(money)
    this.#past = past
    for (const bot of new Set([...this.open.values()].map((position) => position.bot)))
      this.#before.set(bot, { ...this.#sums.resultOf(bot), unrealized: this.#unrealized(bot, worthOf) })
  }

  /** Result of a bot since the start of this process. */
  sinceStart(bot: string, worthOf: WorthOf): Result {
    return resultOf(this.#sinceStart(bot, worthOf))
  }

  /** Sees every input before its outputs. A failed attempt may be reported after its position has closed. Its fee then
   *  belongs to no position, so no position is an output of the report. */
  hear(input: Input): void {
    const { fee, bot } = this.#late
    if (fee > 0 && bot !== '') this.#stray.set(bot, (this.#stray.get(bot) ?? 0) + fee)
    this.#late = { fee: input.kind === 'report' ? (input.report.feeLamports ?? 0) : 0, bot: '' }
  }

  take(output: Output): void {
    if (output.kind === 'bot') this.#late.bot = output.money.bot
    if (output.kind !== 'position') return
    this.#late.fee = 0
    this.#sums.note(output.position)
  }

  /** Result of a bot in its account since the first start that the journal recorded. */
  sinceBeginning(bot: string, account: string, worthOf: WorthOf): Result {
    const past = this.#past.bots.find((one) => one.bot === bot && one.account === account)
    const { realized, fees } = this.#sinceStart(bot, worthOf)
    const sums = { realized: realized + (past?.realized ?? 0), fees: fees + (past?.fees ?? 0) }
    return resultOf({ ...sums, unrealized: this.#unrealized(bot, worthOf) })
  }

  #sinceStart(bot: string, worthOf: WorthOf): Sums {
    const { realized, fees } = this.#sums.resultOf(bot)
    const before = this.#before.get(bot) ?? NOTHING
    return {
      realized: realized - before.realized,
      fees: fees + (this.#stray.get(bot) ?? 0) - before.fees,
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

/** Sum of several results, rounded to the lamport. */
export function totalOf(results: readonly Result[]): Result {
  const sumOf = (key: keyof Result): number => Math.round(results.reduce((all, one) => all + one[key] * 1e9, 0))
  return resultOf({ realized: sumOf('realizedSol'), fees: sumOf('feesSol'), unrealized: sumOf('unrealizedSol') })
}
