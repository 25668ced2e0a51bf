import { lamports } from '../../base/units.ts'
import type { WalletCursor, WalletTransaction } from '../../orders/audit-records.ts'

/** The known history of a wallet: the last reading of the wallet, and its transactions since that reading. If the
 *  outcome of an older attempt is not proved yet, the transactions since that attempt are kept too. */
export class WalletBook {
  /** The last reading of the wallet; undefined before the first one. */
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

  /** Returns the balance in lamports at a Solana slot, as computed from the known transactions. The real balance
   *  differs if a transaction is unknown. */
  expected(slot: number): number {
    if (this.cursor === undefined) return 0
    let sum: number = this.cursor.lamports
    for (const row of this.#rows.values()) {
      if (row.slot > this.cursor.slot && row.slot <= slot) sum += row.lamports
      if (row.slot <= this.cursor.slot && row.slot > slot) sum -= row.lamports
    }
    return sum
  }

  /** Returns a transaction of the class `opaque` that may have landed between two Solana slots, and that may be the
   *  execution of an attempt; undefined if there is no such transaction. */
  opaqueBetween(after: number, upTo: number): WalletTransaction | undefined {
    for (const row of this.#rows.values())
      if (row.class === 'opaque' && !row.failed && row.lamports !== 0 && row.slot > after && row.after < upTo)
        return row
    return undefined
  }

  /** Handles a transaction that the node listed late. An audit may already have booked its amount as a part of an
   *  unexplained change of the balance, a row of the class `opaque`. The amount is then subtracted from that row.
   *  Returns the changed row; undefined if no row contains the amount. */
  explain({ slot, lamports: change }: WalletTransaction): WalletTransaction | undefined {
    for (const row of this.#rows.values()) {
      if (row.class !== 'opaque' || row.slot < slot || row.after >= slot || !row.signature.startsWith('?')) continue
      const explained = { ...row, lamports: lamports(row.lamports - change) }
      this.#rows.set(row.signature, explained)
      return explained
    }
    return undefined
  }

  /** Drops the transactions up to this Solana slot, which are no longer needed. */
  forget(upTo: number): void {
    for (const row of this.#rows.values()) if (row.slot <= upTo) this.#rows.delete(row.signature)
  }
}
