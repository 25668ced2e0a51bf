import { type Lamports, type Millis, ZERO } from '../base/units.ts'
import { keyOf } from '../engine/accounting/by-mint.ts'
import { DEFAULT_FILL_MODEL } from '../engine/accounting/fill-assumptions.ts'
import type { Worth } from '../engine/accounting/money.ts'
import { isUnsellable, type Position } from '../engine/accounting/position.ts'
import type { PositionReading } from '../engine/exits/exit-levels.ts'
import { ExitPrice } from '../engine/exits/exit-price.ts'
import { DEFAULT_EXIT_WINDOW, type ExitRules, type ExitWindow } from '../engine/exits/exit-settings.ts'
import type { JournalReader } from '../journal/reader/reader.ts'
import { type Block, RowKind } from '../market/block.ts'
import { Mints } from '../market/mints.ts'
import { isSized } from '../market/price.ts'
import type { UnitSettings } from '../market/unit-proof.ts'
import type { Learned } from '../orders/service-facts.ts'
import { PaperExecutor } from '../simulation/paper-executor.ts'
import { PaperMarket } from '../simulation/paper-market.ts'
import { SimulatedClock } from '../simulation/simulated-clock.ts'

/** Name of the journal's record with the liquidation values of positions. */
const WORTH = 'worth'

/** Returns a function that gives the prices and the liquidation value of a position at the end of a journal's tape, as
 *  the engine would compute them; see `liquidationOf`. */
export function readingsOf(reader: JournalReader): (position: Position) => PositionReading | undefined {
  const highs = new Map(reader.heldPositions().map((position) => [keyOf(position), position.highPrice]))
  const end = TapeEnd.of(reader)
  const worth = recordedWorth(reader) ?? end?.worth() ?? (() => undefined)
  return (position) => {
    const { mint, openedAt } = position
    const highPrice = highs.get(keyOf(position)) ?? position.highPrice
    const lamports = isUnsellable(position) ? ZERO : worth(position)
    const seen = end?.exits.get(mint)
    const printedAt = Math.max(openedAt, seen?.printedAt ?? 0)
    return { lamports, price: seen?.price, highPrice, printedAt, pricedAt: Math.max(openedAt, seen?.pricedAt ?? 0) }
  }
}

/** Returns a function that values positions at the end of a journal's tape, before network fee and rent. It uses the
 *  lower of the robust price and the price of the exits. The value is 0 for dead and unsellable tokens, and undefined
 *  without a tape or while the unit of the price is unverified. Only the last part of the tape is read; a token without
 *  prints in it counts as dead. The journal of a backtest contains no tape, but the values themselves; see
 *  `worthFact`. */
export function liquidationOf(reader: JournalReader): Worth {
  return recordedWorth(reader) ?? TapeEnd.of(reader)?.worth() ?? (() => undefined)
}

/** Returns the record of the values that an account's positions have at the end of a run whose journal has no tape. */
export function worthFact(account: string, time: Millis, values: ReadonlyMap<string, Lamports>): Learned {
  return { about: account, name: WORTH, time, value: Object.fromEntries(values) }
}

/** The values that a backtest recorded at its end; undefined if the journal has none. */
function recordedWorth(reader: JournalReader): Worth | undefined {
  const facts = reader.learned(WORTH)
  if (facts.length === 0) return undefined
  const worths = new Map(facts.map(({ about, value }) => [about, value as Record<string, Lamports>]))
  return ({ account, mint }) => worths.get(account)?.[mint]
}

/** The prices at the end of a tape. */
class TapeEnd {
  readonly mints = new Mints()
  readonly #market: PaperMarket
  readonly exits: ReadonlyMap<string, ExitPriceAtEnd>
  #now: Millis = 0

  /** Reads the end of a tape. Returns undefined for a journal without a segment. */
  static of(reader: JournalReader): TapeEnd | undefined {
    const start = reader.lastStart()
    if (start === undefined) return undefined
    const end = new TapeEnd(reader.heldPositions(), start.units)
    for (const block of reader.blocks(end.mints, reader.warmupRange(DEFAULT_FILL_MODEL.deadAfterMs / 1000)))
      end.take(block)
    return end
  }

  private constructor(positions: readonly Position[], units: UnitSettings) {
    this.#market = new PaperMarket(this.mints, units)
    this.exits = new Map(positions.map(({ mint, exits }) => [mint, new ExitPriceAtEnd(exits)]))
  }

  take(block: Block): void {
    const { length, token, time, mints } = block
    let from = 0
    for (let row = 0; row < length; row++) {
      const ofExits = this.exits.get(mints[token[row] as number] as string)
      if (ofExits === undefined) continue
      this.#market.observe(block, from, row + 1)
      from = row + 1
      ofExits.take(block, row, this.#market.price(mints[token[row] as number] as string))
    }
    if (from < length) this.#market.observe(block, from, length)
    this.#now = time[length - 1] ?? this.#now
  }

  /** Returns a function that values tokens; the values are undefined if no token has a price. */
  worth(): Worth {
    if (!this.mints.list.some((mint) => this.#market.price(mint) !== undefined)) return () => undefined
    const executor = new PaperExecutor(new SimulatedClock(this.#now), this.#market, DEFAULT_FILL_MODEL, 0)
    return (held) => executor.valueOf(held, this.exits.get(held.mint)?.price)
  }
}

/** The price that the exits of a position have at the end of a tape. */
class ExitPriceAtEnd {
  readonly #prints = new ExitPrice()
  readonly #window: ExitWindow
  price: number | undefined
  /** Time of the last print of at least the minimum size. `pricedAt`: time of the last such print that updated the
   *  price. Both are 0 before the first such print. */
  printedAt: Millis = 0
  pricedAt: Millis = 0

  constructor({ windowPrints = DEFAULT_EXIT_WINDOW }: ExitRules) {
    this.#window = windowPrints
  }

  take({ kind, amount, size, time }: Block, row: number, robust: number | undefined): void {
    const print = (amount[row] as number) / (size[row] as number)
    const isPrint = (kind[row] as number) <= RowKind.sell && isSized(amount[row] as number, print)
    if (!isPrint) return
    this.printedAt = time[row] as number
    if (robust === undefined) return
    this.pricedAt = this.printedAt
    this.#prints.fold(print, robust, time[row] as number)
    this.price = this.#prints.of(this.#window, robust, time[row] as number)
  }
}
