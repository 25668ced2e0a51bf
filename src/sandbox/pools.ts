import { Curve, type Reserves } from './curve.ts'
import type { Market, MarketToken, TokenLabel } from './market.ts'
import type { Records } from './records.ts'

/** A token that our wallets have traded, as it outlives the process. */
interface PoolRecord extends TokenLabel {
  creator: string
  reserves: Reserves
}

export function savePool(records: Records, { mint, creator, symbol, name, metadata, curve }: MarketToken): void {
  const pool: PoolRecord = { creator, symbol, name, metadata, reserves: curve.reserves }
  records.write([{ kind: 'pool', key: mint, body: pool }])
}

/** After a restart the market goes on with those tokens, so that what is held can be sold. */
export function restorePools(records: Records, market: Market): void {
  for (const [mint, { reserves, ...label }] of records.read<PoolRecord>('pool')) {
    market.adopt({ mint, ...label, curve: new Curve(reserves) })
  }
}
