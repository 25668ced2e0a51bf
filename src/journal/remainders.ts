import type { Database, Statement } from 'better-sqlite3'
import type { Lamports } from '../core/units.ts'
import type { Write } from './statements.ts'

/** The ledger of a wallet and the chain do not agree, or do so again (0). */
export interface Remainder {
  readonly account: string
  /** Finalized slot of the reading. */
  readonly slot: number
  /** That the wallet holds and no posting explains; negative: that it should hold. */
  readonly lamports: Lamports
}

/** Looks at each audit that was written, once it is durable, and tells when what is left over is another than before. */
export class Remainders {
  readonly #newest: Statement
  readonly #tell: (remainder: Remainder) => void
  readonly #told = new Map<string, number>()

  constructor(db: Database, tell: (remainder: Remainder) => void) {
    this.#newest = db.prepare(
      'SELECT account, slot, remainder AS lamports FROM audit WHERE account = ? ORDER BY first_slot DESC LIMIT 1',
    )
    this.#tell = tell
  }

  committed(writes: readonly Write[]): void {
    for (const [name, account] of writes) {
      const newest = name === 'audit' ? (this.#newest.get(account) as Remainder | undefined) : undefined
      if (newest === undefined || newest.lamports === (this.#told.get(newest.account) ?? 0)) continue
      this.#told.set(newest.account, newest.lamports)
      this.#tell(newest)
    }
  }
}
