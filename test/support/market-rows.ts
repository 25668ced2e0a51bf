import { type Block, RowKind, type TokenDetails } from '../../src/market/block.ts'
import { LiveBlock } from '../../src/market/live-block.ts'
import { Mints } from '../../src/market/mints.ts'

/** A market row in the notation of tests. */
export type MarketRow = TradeRow | NewTokenRow

export interface TradeRow {
  kind?: 'buy' | 'sell'
  time: number
  stamp?: number
  mint: string
  price: number
  sol?: number
  trader?: string
  signature?: string
}

interface NewTokenRow {
  kind: 'newToken'
  time: number
  stamp?: number
  mint: string
  liquidity?: number
  creator?: string
  details?: Partial<TokenDetails>
}

/** Returns a block with these rows. A trade has 1 SOL unless it names another size. Prices are SOL per token. */
export function blockOf(rows: readonly MarketRow[], mints = new Mints()): Block {
  const block = new LiveBlock(mints.list, Math.max(1, rows.length))
  for (const row of rows) {
    const fits = row.kind === 'newToken' ? appendNewToken(block, mints, row) : appendTrade(block, mints, row)
    if (!fits) throw new Error('the row does not fit into the block')
  }
  return block
}

function appendTrade(block: LiveBlock, mints: Mints, row: Exclude<MarketRow, NewTokenRow>): boolean {
  const { time, stamp = time, price, sol = 1, signature = `signature-${block.length}` } = row
  const numbers = { price, amount: sol, size: sol / price, marketCap: price * 1e9, extra: 10, extra2: 0.0001 }
  const kind = row.kind === 'sell' ? RowKind.sell : RowKind.buy
  return block.append(time, stamp, kind, mints.intern(row.mint), numbers, signature, row.trader ?? '')
}

function appendNewToken(block: LiveBlock, mints: Mints, row: NewTokenRow): boolean {
  const { time, stamp = time, liquidity = 31, creator = 'creator' } = row
  const numbers = { price: NaN, amount: liquidity, size: NaN, marketCap: 28, extra: NaN, extra2: NaN }
  const details = {
    symbol: 'T',
    name: 'Token',
    ...row.details,
    metadata: { description: '', image: '', website: '', twitter: '' },
  }
  return block.append(time, stamp, RowKind.newToken, mints.intern(row.mint), numbers, '', creator, details)
}
