import { type Block, RowKind } from '../core/block.ts'
import type { Millis } from '../core/units.ts'

/** Two recorders hear the same event seconds apart at most, unless one was behind by a reconnect. */
const REMEMBERED_MS = 60_000

/** Events that some journal has told in the last minute or two, by what makes them themselves: a trade with a signature is the same event
 *  whenever it is said to have happened; one transaction may hold several trades, so the amounts count too. */
export class EventsSeen {
  #newer = new Map<string, number>()
  #older = new Map<string, number>()
  #until: Millis = 0

  /** True where another journal told it before. A journal's own twins are none: it has dropped those that were. */
  check(block: Block, row: number, journal: number): boolean {
    const time = block.time[row] as number
    if (time >= this.#until) {
      this.#older = time >= this.#until + REMEMBERED_MS ? new Map() : this.#newer
      this.#newer = new Map()
      this.#until = time + REMEMBERED_MS
    }
    const event = identityOf(block, row)
    const teller = this.#newer.get(event) ?? this.#older.get(event)
    if (teller === undefined) this.#newer.set(event, journal)
    return teller !== undefined && teller !== journal
  }
}

function identityOf(block: Block, row: number): string {
  const { kind, token, texts, amount, size, stamp, price, marketCap, extra, extra2 } = block
  const signature = texts.signature(row)
  const what = `${kind[row]} ${token[row]} ${signature} ${texts.trader(row)} ${amount[row]} ${size[row]}`
  if ((kind[row] as number) < RowKind.newToken && signature !== '') return what
  return `${what} ${stamp[row]} ${price[row]} ${marketCap[row]} ${extra[row]} ${extra2[row]}`
}
