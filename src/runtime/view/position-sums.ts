import { keyOf } from '../../engine/accounting/by-mint.ts'
import type { Position } from '../../engine/accounting/position.ts'
import type { RecoveredMoney } from '../../engine/recovered-money.ts'

/** Sums over positions, lamports. */
export interface SumsOfPositions {
  /** Profit of the sales before network fees and rent. */
  readonly realized: number
  /** Network fees and rents. */
  readonly fees: number
}

const NOTHING: SumsOfPositions = { realized: 0, fees: 0 }

/** Sums over the open and closed positions of each bot in each account, computed with the engine's average cost. */
export class PositionSums {
  /** Positions that are not closed, by account and mint (`keyOf`). */
  readonly open = new Map<string, Position>()
  readonly #sums = new Map<string, SumsOfPositions>()

  restore({ positions }: Pick<RecoveredMoney, 'positions'>): void {
    for (const position of positions) if (position.state !== 'closed') this.note(position)
  }

  /** Receives a position that has changed. The object must not change any more. */
  note(position: Position): void {
    const key = keyOf(position)
    const before = this.open.get(key)
    if (before !== undefined) this.#add(before, -1)
    this.#add(position, 1)
    if (position.state === 'closed') this.open.delete(key)
    else this.open.set(key, position)
  }

  of(account: string, bot: string): SumsOfPositions {
    return this.#sums.get(botKey(account, bot)) ?? NOTHING
  }

  #add({ account, bot, realizedLamports, feeLamports }: Position, sign: 1 | -1): void {
    const key = botKey(account, bot)
    const { realized, fees } = this.#sums.get(key) ?? NOTHING
    this.#sums.set(key, { realized: realized + sign * realizedLamports, fees: fees + sign * feeLamports })
  }
}

/** Key of a bot in an account. */
export function botKey(account: string, bot: string): string {
  return `${account}|${bot}`
}
