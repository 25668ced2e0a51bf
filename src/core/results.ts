import type { Party } from './party.ts'
import type { Position } from './position.ts'
import type { Session } from './session.ts'
import { dayOf, type Lamports, lamports, solToLamports, ZERO } from './units.ts'
import { liquidationSol } from './views.ts'
import { formatInstant } from './words.ts'

/** Beyond any pool's depth: a print that claims more is a broken one. So is a sum of them that claims more. */
const MOST_VALUE_SOL = 1e6

/** What bots and wallets have made: of the UTC day, since ever, and how often in a row they lost. The result of a day: realised, and what
 *  open positions would bring now less what they would have brought when it began. A position without a price cannot be marked, and counts
 *  for the worse: as worth nothing now, as worth its cost when the day began. */
export class Results {
  readonly #session: Session

  constructor(session: Session) {
    this.#session = session
  }

  today(party: Party): number {
    const { dayRealizedLamports, dayStartUnrealizedLamports } = party.sums
    return dayRealizedLamports + this.#unrealized(party, 'now') - dayStartUnrealizedLamports
  }

  /** How far below its highest realised result it stands, what is held marked at what selling it would bring; 0 where it is not. */
  drawdown(party: Party): number {
    const { realizedLamports, peakLamports } = party.sums
    return Math.max(0, peakLamports - realizedLamports - this.#unrealized(party, 'now'))
  }

  /** Begins the day where it is a new one, before anything of it counts. */
  roll(party: Party): void {
    const { sums } = party
    const day = dayOf(this.#session.now)
    if (sums.day === day) return
    const dayStartUnrealizedLamports = this.#unrealized(party, 'dayStart')
    Object.assign(sums, { day, dayRealizedLamports: ZERO, dayStartUnrealizedLamports })
    party.emit()
  }

  book(party: Party, resultLamports: number): void {
    const { sums } = party
    sums.dayRealizedLamports = lamports(sums.dayRealizedLamports + resultLamports)
    sums.realizedLamports = lamports(sums.realizedLamports + resultLamports)
    sums.peakLamports = lamports(Math.max(sums.peakLamports, sums.realizedLamports))
    party.emit()
  }

  /** A position is sold: what it made, its fees and rent off, goes on with a losing streak, or ends it. */
  closed(party: Party, position: Position): void {
    const { sums, limits } = party
    if (position.averagePrice === 0) return // nothing of it was ever bought
    if (position.counted === true) return
    const lost = position.realizedLamports < position.feeLamports
    if (!lost && sums.losses === 0) return
    sums.losses = lost ? sums.losses + 1 : 0
    if (limits.maxLosingStreak !== null && sums.losses >= limits.maxLosingStreak) this.#pause(party)
    party.emit()
  }

  /** A person lets entries go on: no pause any more, and a drawdown is measured from here. */
  forgive(party: Party): void {
    const { sums } = party
    if (sums.pausedUntil === 0 && sums.losses === 0 && sums.peakLamports === ZERO) return
    const held = Math.min(0, this.#unrealized(party, 'now'))
    Object.assign(sums, { pausedUntil: 0, losses: 0, peakLamports: lamports(sums.realizedLamports + held) })
    party.emit()
  }

  #pause({ sums, limits, section, bot }: Party): void {
    const { now } = this.#session
    const { losses } = sums
    Object.assign(sums, { losses: 0, pausedUntil: now + limits.streakPauseMs })
    const until = formatInstant(sums.pausedUntil, now)
    const reason = `${losses} positions in a row were closed at a loss (${section}.maxLosingStreak): nothing is bought until ${until}`
    this.#session.emit({ kind: 'alarm', bot: bot ?? '', code: 'LOSING_STREAK', reason })
  }

  #unrealized({ bot, account }: Party, when: 'now' | 'dayStart'): Lamports {
    let sum = 0
    for (const position of this.#session.book.positions.of(account).values()) {
      if (bot !== null && position.bot !== bot) continue
      const sol = liquidationSol(position, this.#session.price(position.mint))
      if (sol !== undefined) sum += solToLamports(Math.min(sol, MOST_VALUE_SOL)) - position.costLamports
      else if (when === 'now') sum -= position.costLamports
    }
    return lamports(Math.min(sum, solToLamports(MOST_VALUE_SOL)))
  }
}
