import type { BotMoney } from './money.ts'
import type { Session } from './session.ts'
import { type Lamports, lamports, type Millis, solToLamports, ZERO } from './units.ts'
import { liquidationSol } from './views.ts'

const DAY_MS = 86_400_000
/** Beyond any pool's depth: a print that claims more is a broken one. */
const MOST_VALUE_SOL = 1e6

/** The first time after `time` that is of another UTC day. */
export function endOfDay(time: Millis): Millis {
  return (dayOf(time) + 1) * DAY_MS
}

function dayOf(time: Millis): number {
  return Math.floor(time / DAY_MS)
}

/** The result of a bot's UTC day: realised, and what its open positions would bring now less what they would have brought when it began.
 *  A position without a price cannot be marked, and counts for the worse: as worth nothing now, as worth its cost when the day began. */
export class DayResults {
  readonly #session: Session

  constructor(session: Session) {
    this.#session = session
  }

  of(money: BotMoney): number {
    return money.dayRealizedLamports + this.#unrealized(money, 'now') - money.dayStartUnrealizedLamports
  }

  /** Begins the day where it is a new one, before anything of it counts. */
  roll(money: BotMoney): void {
    const day = dayOf(this.#session.now)
    if (money.day === day) return
    const dayStartUnrealizedLamports = this.#unrealized(money, 'dayStart')
    Object.assign(money, { day, dayRealizedLamports: ZERO, dayStartUnrealizedLamports })
    this.#session.emitBot(money)
  }

  book(money: BotMoney, resultLamports: number): void {
    money.dayRealizedLamports = lamports(money.dayRealizedLamports + resultLamports)
    this.#session.emitBot(money)
  }

  #unrealized({ bot, account }: BotMoney, when: 'now' | 'dayStart'): Lamports {
    let sum = 0
    for (const position of this.#session.book.positions.of(account).values()) {
      if (position.bot !== bot) continue
      const sol = liquidationSol(position, this.#session.price(position.mint))
      if (sol !== undefined) sum += solToLamports(Math.min(sol, MOST_VALUE_SOL)) - position.costLamports
      else if (when === 'now') sum -= position.costLamports
    }
    return lamports(sum)
  }
}
