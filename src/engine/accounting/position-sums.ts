import type { RecoveredMoney } from '../recovered-money.ts'
import { keyOf } from './by-mint.ts'
import type { Position } from './position.ts'

/** Sums over the open positions, and the result of each bot, computed with the engine's average cost. */
export class PositionSums {
  /** Positions that are not closed. */
  readonly open = new Map<string, Position>()
  readonly #keyOf: (position: Position) => string
  /** Sums over the closed positions by bot, lamports. */
  readonly #closed = new Map<string, { realized: number; fees: number }>()

  /** `key`: returns a string that is unique among open positions. */
  constructor(key: (position: Position) => string = keyOf) {
    this.#keyOf = key
  }

  restore({ positions }: Pick<RecoveredMoney, 'positions'>): void {
    for (const position of positions) if (position.state !== 'closed') this.open.set(this.#keyOf(position), position)
  }

  note(position: Position): void {
    if (position.state !== 'closed') {
      this.open.set(this.#keyOf(position), position)
      return
    }
    this.open.delete(this.#keyOf(position))
    const { realized, fees } = this.#closed.get(position.bot) ?? { realized: 0, fees: 0 }
    const sum = { realized: realized + position.realizedLamports, fees: fees + position.feeLamports }
    this.#closed.set(position.bot, sum)
  }

  /** Returns a bot's realized profit before network fees and rent, and the sum of these fees and rents, lamports. */
  resultOf(bot: string): { realized: number; fees: number } {
    const sum = { ...(this.#closed.get(bot) ?? { realized: 0, fees: 0 }) }
    for (const position of this.open.values()) {
      if (position.bot !== bot) continue
      sum.realized += position.realizedLamports
      sum.fees += position.feeLamports
    }
    return sum
  }
}
