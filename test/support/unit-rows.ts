import { RowKind } from '../../src/market/block.ts'
import { LiveBlock } from '../../src/market/live-block.ts'
import { Mints } from '../../src/market/mints.ts'
import type { MarketEvent } from '../../src/sandbox/market/market.ts'
import { SeededMarket } from '../../src/sandbox/market/seeded-market.ts'

const T0 = 1_780_000_000_000
const SOL_USD = 150

/** The type, the mint, the time and the amounts of a market message. */
export interface Row {
  readonly type: 'trade' | 'newToken'
  readonly time: number
  readonly mint: string
  readonly amount: number
  readonly tokens: number
  readonly price: number
  readonly marketCap: number
}

export function sandboxRows(): Row[] {
  const rows: Row[] = []
  const take = (event: MarketEvent): void => {
    const { mint } = event
    const time = T0 + rows.length * 20
    if (event.type === 'trade') {
      const { sol: amount, tokens, price, marketCapSol: marketCap } = event
      rows.push({ type: 'trade', time, mint, amount, tokens, price, marketCap })
    } else if (event.type === 'newToken') {
      const { liquiditySol: amount, marketCapSol: marketCap } = event
      rows.push({ type: 'newToken', time, mint, amount, tokens: Number.NaN, price: Number.NaN, marketCap })
    }
  }
  new SeededMarket({ seed: 3, emit: take }).advance(120_000)
  return rows
}

export function blockOf(rows: readonly Row[]): LiveBlock {
  const mints = new Mints()
  const block = new LiveBlock(mints.list, rows.length)
  for (const { type, time, mint, amount, tokens, price, marketCap } of rows) {
    const numbers = { price, amount, size: tokens, marketCap, extra: Number.NaN, extra2: Number.NaN }
    const kind = type === 'trade' ? RowKind.buy : RowKind.newToken
    block.append(time, time, kind, mints.intern(mint), numbers, '', '')
  }
  return block
}

export type Change = (row: Row) => Row
export const trades =
  (amount: number, tokens: number, price: number, marketCap = 1): Change =>
  (row) =>
    row.type === 'newToken'
      ? row
      : {
          ...row,
          amount: row.amount * amount,
          tokens: row.tokens * tokens,
          price: row.price * price,
          marketCap: row.marketCap * marketCap,
        }
const launches =
  (amount: number, marketCap = amount): Change =>
  (row) =>
    row.type === 'trade' ? row : { ...row, amount: row.amount * amount, marketCap: row.marketCap * marketCap }
const all: Change = (row) => launches(SOL_USD)(trades(SOL_USD, 1, SOL_USD, SOL_USD)(row))
const bare: Change = (row) => ({ ...row, marketCap: Number.NaN })

/** Changes of rows to wrong units: description, change, and the word by which the report must name the unit. */
export const WRONG: [string, Change, RegExp][] = [
  ['amounts and prices in dollars', trades(SOL_USD, 1, SOL_USD), /dollars/],
  ['amounts, prices and market caps of trades in dollars', trades(SOL_USD, 1, SOL_USD, SOL_USD), /dollars/],
  ['all values of all rows in dollars', all, /dollars/],
  ['amounts in milli-SOL', trades(1_000, 1, 1), /thousandths/],
  ['amounts and prices in milli-SOL', trades(1_000, 1, 1_000), /thousandths/],
  ['all values of trades in milli-SOL', trades(1_000, 1, 1_000, 1_000), /thousandths/],
  ['amounts in lamports', trades(1e9, 1, 1), /lamports/],
  ['tokens in base units', trades(1, 1e6, 1), /base units/],
  ['tokens in base units, with matching prices', trades(1, 1e6, 1e-6), /base units/],
  ['tokens in base units, with matching prices and market caps', trades(1, 1e6, 1e-6, 1e-6), /base units/],
]
/** Rows that must be accepted: the amounts of trades are in SOL. Prices and market caps may be in dollars. */
export const RIGHT: [string, Change][] = [
  ['all values in SOL', (row) => row],
  ['prices and market caps of trades in dollars', trades(1, 1, SOL_USD, SOL_USD)],
  ['the values of launches in dollars', launches(SOL_USD)],
  ['no market caps', bare],
]
