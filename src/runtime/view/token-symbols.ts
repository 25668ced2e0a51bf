import type { JournalReader } from '../../journal/reader/reader.ts'
import type { View } from './view.ts'

/** For at most this number of mints, a separate search for each mint is faster than one pass over all announcements of
 *  tokens. */
const FEW = 8

/** Returns the symbols of mints that the tape of a journal contains. */
export function symbolsIn(reader: JournalReader, mints: ReadonlySet<string>): ReadonlyMap<string, string> {
  return reader.look((_history, tape) =>
    mints.size > FEW ? tape.symbolsOf(mints) : new Map([...mints].map((mint) => [mint, tape.nameOf(mint).symbol])),
  )
}

/** Returns the mints of the view's positions and open orders, whose rows show the symbol of the token. */
export function mintsOf({ positions, openOrders }: Pick<View, 'positions' | 'openOrders'>): Set<string> {
  return new Set([...positions, ...openOrders].map(({ mint }) => mint))
}

/** Returns a view with these symbols in its rows. Other rows stay unchanged. */
export function withSymbols(view: View, symbols: ReadonlyMap<string, string>): View {
  const named = <Row extends { readonly mint: string; readonly symbol: string }>(row: Row): Row => ({
    ...row,
    symbol: symbols.get(row.mint) ?? row.symbol,
  })
  return { ...view, positions: view.positions.map(named), openOrders: view.openOrders.map(named) }
}
