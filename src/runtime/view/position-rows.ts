import { lamportsToSol, type Millis, wholeTokens } from '../../base/units.ts'
import { isUnsellable, type Position, sellingText } from '../../engine/accounting/position.ts'
import { exitLevels, type PositionReading } from '../../engine/exits/exit-levels.ts'
import type { PositionRow } from '../../journal/reader/reader.ts'
import type { Entry } from './position-entries.ts'
import type { ExitStatus, PositionStatus } from './view.ts'

/** Content of a position's row in the view, without the prices. If the content changes, a new object replaces this
 *  one. */
export interface HeldPosition {
  /** Id of the position's row in the view. */
  readonly id: string
  readonly position: Position
  readonly wallet: string | undefined
  readonly entry: Entry | undefined
  /** Prices of the conditional orders that sell the position. */
  readonly sales: readonly number[]
}

const NO_SALES: readonly number[] = []
const known = new WeakMap<Position, HeldPosition>()

/** A position with its prices. */
export interface ReadPosition {
  readonly held: HeldPosition
  readonly reading: PositionReading
}

/** Returns the content of a position's row in the view, without the prices. If nothing has changed, returns the same
 *  object as before. */
export function heldPosition(
  position: Position,
  wallet: string | undefined,
  entry: Entry | undefined,
  sales = NO_SALES,
): HeldPosition {
  const same = known.get(position)
  if (same !== undefined && same.wallet === wallet && same.entry === entry && sameNumbers(same.sales, sales))
    return same
  const held = { id: `${position.account}/${position.mint}`, position, wallet, entry, sales }
  known.set(position, held)
  return held
}

interface Made {
  readonly reading: PositionReading
  readonly row: PositionStatus
}

const rows = new WeakMap<HeldPosition, Made>()

/** Returns the row of a position in the view; the same object as before if nothing has changed. */
export function rowOf({ held, reading }: ReadPosition, now: Millis): PositionStatus {
  const same = rows.get(held)
  const isAged = held.position.exits.takeProfitByAge !== undefined
  if (same !== undefined && !isAged && sameReading(same.reading, reading)) return same.row
  const row = newRow(held, reading, now)
  rows.set(held, { reading, row })
  return row
}

function newRow(held: HeldPosition, reading: PositionReading, now: Millis): PositionStatus {
  const { id, position, wallet, entry } = held
  const { bot, mint, state, tokens, decimals, costLamports, openedAt } = position
  const { lamports, price } = reading
  const costSol = lamportsToSol(costLamports)
  const valueSol = lamports === undefined ? null : lamportsToSol(lamports)
  return {
    ...{ id, bot, ...(wallet !== undefined && { wallet }), mint, symbol: '', state },
    tokens: wholeTokens(tokens, decimals),
    ...{ costSol, valueSol, changePercent: changePercentOf({ costSol, valueSol }), price: price ?? null },
    ...{ openedAt, selling: sellingText(position), unsellable: isUnsellable(position) },
    ...{ entryReason: entry?.reason ?? '', orderId: entry?.orderId ?? '' },
    exits: exitsOf(held, reading, now),
  }
}

/** Change of a position's value from its cost, percent; null if the value or the cost is unknown. */
export function changePercentOf({ costSol, valueSol }: Pick<PositionRow, 'costSol' | 'valueSol'>): number | null {
  return valueSol === null || costSol === 0 ? null : (valueSol / costSol - 1) * 100
}

function exitsOf({ position, sales }: HeldPosition, reading: PositionReading, now: Millis): ExitStatus[] {
  const distance = (price: number): number | null =>
    reading.price === undefined ? null : (price / reading.price - 1) * 100
  const own = exitLevels(position, reading, now).map(({ kind, price, at }) =>
    price === undefined
      ? { kind, price: null, distancePercent: null, at: at ?? null }
      : { kind, price, distancePercent: distance(price), at: null },
  )
  return [...own, ...sales.map((price) => ({ kind: 'conditional', price, distancePercent: distance(price), at: null }))]
}

function sameReading(one: PositionReading, other: PositionReading): boolean {
  return (
    one.lamports === other.lamports &&
    one.price === other.price &&
    one.highPrice === other.highPrice &&
    one.printedAt === other.printedAt &&
    one.pricedAt === other.pricedAt
  )
}

/** Whether two lists of numbers are equal. NaN equals NaN. */
export function sameNumbers(one: ArrayLike<number>, other: ArrayLike<number>): boolean {
  if (one === other) return true
  if (one.length !== other.length) return false
  for (let at = 0; at < one.length; at++) if (!Object.is(one[at], other[at])) return false
  return true
}
