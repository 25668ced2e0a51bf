import { lamports } from '../../base/units.ts'
import type { WalletCursor, WalletTransaction } from '../../orders/wallet-audit.ts'

/** What is known of a wallet's past: a reading that everything before it led to, and each transaction since, or since
 *  the oldest attempt that is still being proved. */
export class WalletBook {
  /** undefined before the first reading. */
  cursor: WalletCursor | undefined
  readonly #rows = new Map<string, WalletTransaction>()

  constructor(cursor?: WalletCursor, transactions: readonly WalletTransaction[] = []) {
    this.cursor = cursor
    for (const row of transactions) this.#rows.set(row.signature, row)
  }

  has(signature: string): boolean {
    return this.#rows.has(signature)
  }

  add(row: WalletTransaction): void {
    this.#rows.set(row.signature, row)
  }

  /** What the wallet holds at a slot by all that is known: not what it does hold, where something is not known. */
  expected(slot: number): number {
    if (this.cursor === undefined) return 0
    let sum: number = this.cursor.lamports
    for (const row of this.#rows.values()) {
      if (row.slot > this.cursor.slot && row.slot <= slot) sum += row.lamports
      if (row.slot <= this.cursor.slot && row.slot > slot) sum -= row.lamports
    }
    return sum
  }

  /** The first thing between two slots of which nobody knows what it was, and which may have been an execution. */
  opaqueBetween(after: number, upTo: number): WalletTransaction | undefined {
    for (const row of this.#rows.values())
      if (row.class === 'opaque' && !row.failed && row.lamports !== 0 && row.slot > after && row.after < upTo)
        return row
    return undefined
  }

  /** A transaction that is listed at last: what was missing for it is explained. The row that changes, if one does. */
  explain({ slot, lamports: change }: WalletTransaction): WalletTransaction | undefined {
    for (const row of this.#rows.values()) {
      if (row.class !== 'opaque' || row.slot < slot || row.after >= slot || !row.signature.startsWith('?')) continue
      const explained = { ...row, lamports: lamports(row.lamports - change) }
      this.#rows.set(row.signature, explained)
      return explained
    }
    return undefined
  }

  /** Nobody asks any more for what is older. */
  forget(upTo: number): void {
    for (const row of this.#rows.values()) if (row.slot <= upTo) this.#rows.delete(row.signature)
  }
}
