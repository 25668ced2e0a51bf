// Columns of the lists that `orders`, `fills`, `positions` and `round-trips` print, in the order in which they are
// printed.

import type { ListedRoundTrip } from '../../backtest/report/round-trips.ts'
import type { Millis } from '../../base/units.ts'
import type { ListedPosition, OrderRow } from '../../journal/reader/reader.ts'
import type { FillRow } from '../../journal/schema/fills.ts'
import { durationOf, isoOf, localDateOf } from '../../runtime/time-text.ts'
import { changePercentOf } from '../../runtime/view/position-rows.ts'
import type { Column } from './listing.ts'

/** A row with the symbol of its token; '' if the tape does not contain the token's launch. */
export type Named<Row> = Row & { readonly symbol: string }

const MINT_SHOWN = 8
const SIGNATURE_SHOWN = 12
const SYMBOL_SHOWN = 12

/** Columns of `sluice orders`. `now`: present time, for the times that need no date. */
export function orderColumns(now: Millis): readonly Column<Named<OrderRow>>[] {
  return [
    { name: 'id', of: ({ id }) => id, rank: 1 },
    timeColumn('time', ({ time }) => time, now, 2),
    { name: 'bot', of: ({ bot }) => bot, rank: 7 },
    symbolColumn(0),
    mintColumn(9),
    { name: 'side', of: ({ side }) => side, rank: 3 },
    { name: 'state', of: ({ state }) => state, rank: 4 },
    { name: 'code', of: ({ code }) => code, rank: 6 },
    priceColumn(({ price }) => price, 8),
    { name: 'tag', of: ({ tag }) => tag, rank: 10, isOptional: true },
    { name: 'reason', of: ({ reason }) => reason, rank: 5, isElastic: true },
  ]
}

/**
 * Columns of `sluice fills`. A fee is printed as `?` if the chain does not separate it from the other amounts. In this
 * case, the amount in another column, further left in the table, includes the fee.
 */
export function fillColumns(now: Millis): readonly Column<Named<FillRow>>[] {
  return [
    { name: 'orderId', of: ({ orderId }) => orderId, rank: 5 },
    timeColumn('time', ({ time }) => time, now, 1),
    { name: 'bot', of: ({ bot }) => bot, rank: 6 },
    symbolColumn(0),
    mintColumn(9),
    { name: 'side', of: ({ side }) => side, rank: 2 },
    solColumn('sol', ({ sol }) => sol, 3),
    { name: 'tokens', of: ({ tokens }) => tokens, short: ({ tokens }) => `${Number(tokens.toPrecision(6))}`, rank: 8 },
    priceColumn(({ price }) => price, 4),
    solColumn('venueFee', ({ costs }) => (costs.unknown.includes('venueFee') ? '?' : costs.venueFeeSol), 12),
    solColumn('serviceFee', ({ costs }) => (costs.unknown.includes('serviceFee') ? '?' : costs.serviceFeeSol), 13),
    solColumn('network', ({ feeSol }) => feeSol, 11),
    solColumn('rent', ({ rentSol }) => rentSol, 14),
    solColumn('other', ({ costs }) => costs.remainderSol + costs.wrappedSol, 15),
    solColumn('wallet', ({ walletSol }) => walletSol, 7),
    { name: 'final', of: ({ final }) => final, rank: 10 },
    { name: 'tag', of: ({ tag }) => tag, rank: 10, isOptional: true },
    {
      name: 'signature',
      of: ({ signature }) => signature,
      short: ({ signature }) => signature.slice(0, SIGNATURE_SHOWN),
      rank: 16,
    },
  ]
}

export function positionColumns(now: Millis): readonly Column<Named<ListedPosition>>[] {
  return [
    timeColumn('time', ({ time }) => time, now, 4),
    { name: 'bot', of: ({ bot }) => bot, rank: 5 },
    symbolColumn(0),
    mintColumn(10),
    { name: 'state', of: ({ state }) => state, rank: 8 },
    { name: 'tokens', of: ({ tokens }) => tokens, short: ({ tokens }) => `${Number(tokens.toPrecision(6))}`, rank: 9 },
    priceColumn(({ price }) => price || null, 7),
    solColumn('costSol', ({ costSol }) => costSol, 1),
    solColumn('valueSol', ({ valueSol }) => valueSol, 2),
    percentColumn('changePercent', changePercentOf, 3),
    { name: 'selling', of: ({ selling }) => selling, rank: 6, isElastic: true },
  ]
}

export function roundTripColumns(now: Millis): readonly Column<Named<ListedRoundTrip>>[] {
  return [
    timeColumn('openedAt', ({ openedAt }) => openedAt, now, 5),
    timeColumn('closedAt', ({ closedAt }) => closedAt, now, 9),
    {
      name: 'held',
      of: ({ heldSeconds }) => heldSeconds,
      text: ({ heldSeconds }) => durationOf(heldSeconds * 1000),
      rank: 3,
    },
    { name: 'bot', of: ({ bot }) => bot, rank: 6 },
    symbolColumn(0),
    mintColumn(13),
    { name: 'buys', of: ({ buys }) => buys, rank: 10 },
    { name: 'sells', of: ({ sells }) => sells, rank: 11 },
    solColumn('costSol', ({ costSol }) => costSol, 7),
    solColumn('proceedsSol', ({ proceedsSol }) => proceedsSol, 8),
    solColumn('feesSol', ({ feesSol }) => feesSol, 12),
    {
      name: 'netSol',
      of: ({ netSol }) => netSol,
      text: ({ netSol }) => signed(netSol, 9),
      short: ({ netSol }) => signed(netSol, 4),
      rank: 1,
    },
    percentColumn('netPercent', ({ netPercent }) => netPercent, 2),
    percentColumn('bestPercent', ({ bestPercent }) => bestPercent, 9),
    percentColumn('worstPercent', ({ worstPercent }) => worstPercent, 9),
    solColumn('bestSol', ({ bestSol }) => bestSol, 15),
    solColumn('worstSol', ({ worstSol }) => worstSol, 15),
    { name: 'entryTag', of: ({ entryTag }) => entryTag, rank: 12, isOptional: true },
    { name: 'exitTag', of: ({ exitTag }) => exitTag, rank: 13, isOptional: true },
    { name: 'entryReason', of: ({ entryReason }) => entryReason, rank: 14, isElastic: true },
    { name: 'exitReason', of: ({ exitReason }) => exitReason, rank: 4, isElastic: true },
  ]
}

/** A column with times. The table has local times, and omits the date of today if it is narrow. The CSV has UTC. */
function timeColumn<Row>(name: string, of: (row: Row) => Millis, now: Millis, rank: number): Column<Row> {
  const text = (row: Row): string => isoOf(of(row)).replace('T', ' ')
  return {
    ...{ name, of, rank, text },
    short: (row) => (localDateOf(of(row)) === localDateOf(now) ? text(row).slice(11) : text(row).slice(5)),
    csv: (row) => new Date(of(row)).toISOString(),
  }
}

/** The symbol. If it is unknown, the table shows the beginning of the mint. */
function symbolColumn<Row extends { symbol: string; mint: string }>(rank: number): Column<Row> {
  const text = ({ symbol, mint }: Row): string => (symbol === '' ? mint.slice(0, MINT_SHOWN) : symbol)
  return { name: 'symbol', of: ({ symbol }) => symbol, text, short: (row) => text(row).slice(0, SYMBOL_SHOWN), rank }
}

function mintColumn<Row extends { mint: string }>(rank: number): Column<Row> {
  return { name: 'mint', of: ({ mint }) => mint, short: ({ mint }) => mint.slice(0, MINT_SHOWN), rank }
}

function priceColumn<Row>(of: (row: Row) => number | null, rank: number): Column<Row> {
  return {
    name: 'price',
    of,
    text: (row) => of(row)?.toPrecision(9) ?? '',
    short: (row) => of(row)?.toPrecision(4) ?? '',
    rank,
  }
}

/** An amount in SOL. It is shown to the lamport; in a narrow table, with four decimals. */
function solColumn<Row>(name: string, of: (row: Row) => number | string | null, rank: number): Column<Row> {
  const text = (row: Row, decimals: number): string => {
    const sol = of(row)
    return typeof sol === 'number' ? fixed(sol, decimals) : (sol ?? '')
  }
  return { name, of, text: (row) => text(row, 9), short: (row) => text(row, 4), rank }
}

function percentColumn<Row>(name: string, of: (row: Row) => number | null, rank: number): Column<Row> {
  return { name, of, text: (row) => signed(of(row), 1), rank }
}

/** A number with the same number of decimals in every row, so that the digits are aligned. */
function fixed(value: number, decimals: number): string {
  return value === 0 ? '0' : value.toFixed(decimals)
}

function signed(value: number | null, decimals: number): string {
  return value === null ? '' : `${value > 0 ? '+' : ''}${fixed(value, decimals)}`
}
