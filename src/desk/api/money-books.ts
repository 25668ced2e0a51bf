import { markHeld } from '../../backtest/report/bot-trades.ts'
import { type ListedRoundTrip, listedTrips } from '../../backtest/report/round-trips.ts'
import { type BotMoney, foldMovements, type Worth } from '../../engine/accounting/money.ts'
import { holderOf, type Movement } from '../../engine/accounting/movement.ts'
import { netOf, type RoundTrip } from '../../engine/accounting/round-trip.ts'
import type { BotLines, MovementCursor } from '../../journal/reader/ledger.ts'
import type { JournalReader } from '../../journal/reader/reader.ts'

const BEGINNING: MovementCursor = { posting: 0, seq: 0 }

/** The fills, fees and other postings of one token in one account, and the results computed from them. */
interface TokenBook {
  readonly movements: Map<string, Movement>
  money: readonly BotMoney[]
}

/** Results of one bot in one account, lamports. */
export interface BotBook {
  readonly account: string
  readonly bot: string
  /** Round trips in the order in which they began. */
  readonly trips: RoundTrip[]
  /** Sum of each line of the ledger over the bot's fills and failed transactions, lamports. */
  readonly lines: Readonly<Record<string, number>>
  /** Fees of failed transactions that belong to no round trip, lamports. */
  strayLamports: number
  /**
   * Value of the tokens that `sluice adopt` assigned to the bot, at the time of the assignment, lamports. It counts as
   * a cost, although no SOL was paid.
   */
  adoptedLamports: number
}

/**
 * Computes results from the fills, fees and other postings of a journal in the same way as `sluice report`. Each
 * refresh computes again only the tokens with new postings.
 */
export class MoneyBooks {
  readonly #reader: JournalReader
  readonly #books = new Map<string, TokenBook>()
  readonly #lines = new Map<string, Readonly<Record<string, number>>>()
  #upTo = BEGINNING
  #bots: readonly BotBook[] = []
  #closed: readonly ListedRoundTrip[] | undefined
  readonly #marks: ReturnType<JournalReader['closedMarks']> = []

  constructor(reader: JournalReader) {
    this.#reader = reader
  }

  /** One entry for each bot and each account (wallet) in which it traded. */
  get bots(): readonly BotBook[] {
    return this.#bots
  }

  /** Closed trips in the order of their last sales. */
  closedTrips(): readonly ListedRoundTrip[] {
    for (const marks of this.#reader.closedMarks(this.#marks.at(-1)?.row)) this.#marks.push(marks)
    this.#closed ??= listedTrips(this.#bots, this.#marks)
    return this.#closed
  }

  /** Reads the new postings of the journal, at most `most` of them. Returns whether it has read all. */
  refresh(most = Number.POSITIVE_INFINITY): boolean {
    const before = this.#upTo.posting
    const { changed, gone, upTo } = this.#reader.movementsSince(this.#upTo, most)
    const isComplete = upTo.posting - before < most
    for (const one of this.#reader.botLines(this.#upTo.posting, upTo.posting)) this.#addLines(one)
    this.#upTo = upTo
    if (changed.length === 0 && gone.length === 0) return isComplete
    const touched = new Set<TokenBook>()
    const removed = new Set(gone)
    if (removed.size > 0)
      for (const book of this.#books.values())
        for (const key of removed) if (book.movements.delete(key)) touched.add(book)
    for (const { key, movement } of changed) {
      const book = this.#bookOf(movement)
      book.movements.set(key, movement)
      touched.add(book)
    }
    for (const book of touched) book.money = foldMovements([...book.movements.values()]).bots
    this.#bots = this.#sums()
    this.#closed = undefined
    return isComplete
  }

  #addLines({ account, bot, lines }: BotLines): void {
    const key = `${account}\n${bot}`
    const known = this.#lines.get(key) ?? {}
    const sums = Object.entries(lines).map(([line, lamports]) => [line, (known[line] ?? 0) + lamports])
    this.#lines.set(key, Object.fromEntries(sums))
  }

  #bookOf(movement: Movement): TokenBook {
    const { account, mint } = holderOf(movement)
    const key = `${account}|${mint}`
    const known = this.#books.get(key)
    if (known !== undefined) return known
    const book: TokenBook = { movements: new Map(), money: [] }
    this.#books.set(key, book)
    return book
  }

  #sums(): readonly BotBook[] {
    const bots = new Map<string, BotBook>()
    const botOf = ({ account, bot }: { readonly account: string; readonly bot: string }): BotBook => {
      const key = `${account}\n${bot}`
      const known = bots.get(key)
      if (known !== undefined) return known
      const book = { account, bot, trips: [], strayLamports: 0, adoptedLamports: 0, lines: this.#lines.get(key) ?? {} }
      bots.set(key, book)
      return book
    }
    for (const { money, movements } of this.#books.values()) {
      for (const one of money) {
        const book = botOf(one)
        for (const trip of one.trips) book.trips.push(trip)
        book.strayLamports += one.strayFeeLamports
      }
      for (const one of movements.values()) if (one.kind === 'adopted') botOf(one).adoptedLamports += one.costLamports
    }
    for (const { trips } of bots.values()) trips.sort((one, other) => one.openedAt - other.openedAt)
    return [...bots.values()].sort((one, other) => (one.account + one.bot < other.account + other.bot ? -1 : 1))
  }
}

/** Sets the values of the open round trips of these bots, as if their positions were sold now. */
export function markOpenTrips(bots: readonly BotBook[], reader: JournalReader, worth: Worth): void {
  const held = reader.heldPositions().filter(({ tokens }) => tokens > 0n)
  for (const { account, bot, trips } of bots)
    markHeld(
      trips,
      held.filter((one) => one.account === account && one.bot === bot),
      worth,
    )
}

/** Net result of a bot, lamports, as in `sluice report`. `markOpenTrips` must have valued the open round trips
 *  before. */
export function netOfBot({ trips, strayLamports }: BotBook): number {
  return trips.reduce((sum, trip) => sum + netOf(trip), -strayLamports)
}
